"""The pages about the command say what it does: every option has its entry, every example gives what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from scrapy_simhash.cli import COMMANDS, command_of
from tests.docs.reader import DOCS, blocks, sections

REFERENCE = DOCS / "reference" / "command-line.rst"
HOW_TO = DOCS / "how-to" / "hashes.rst"


def options_of(command: str) -> set[str]:
    """Return the options, long and short, that *command* has beside ``--help``."""
    parser = ArgumentParser(add_help=False)
    command_of(command).add_arguments(parser)
    return {option for action in parser._actions for option in action.option_strings}


def documented_options(text: str) -> set[str]:
    entries = re.findall(r"^(``-.*)\n    \S", text, flags=re.MULTILINE)
    return set(re.findall(r"``(--?[\w-]+)", " ".join(entries)))


def test_the_reference_has_every_command_with_its_options_and_no_other() -> None:
    parts = sections(REFERENCE)
    common = documented_options(parts["What the searches have in common"])
    assert common
    for command in COMMANDS:
        own = documented_options(parts[command])
        searches = set() if command == "plan" else common
        assert own.isdisjoint(searches)
        assert own | searches == options_of(command)
    named = set(parts) & {name for name in parts if re.fullmatch(r"[a-z-]+", name)}
    assert named == set(COMMANDS)


@pytest.mark.skipif(sys.platform == "win32", reason="its shell is another one")
def test_what_the_how_to_types_gives_what_it_shows(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "scrapy-simhash"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m scrapy_simhash "$@"\n', "utf-8")
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    for block in blocks(HOW_TO, "text"):
        (folder / block.caption).write_text(block.text, "utf-8")
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    shown = "".join(block.text for block in blocks(HOW_TO, "console"))
    commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", shown, flags=re.MULTILINE)
    assert len(commands) > 5
    for command, expected in commands:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=True,
            encoding="utf-8",
            timeout=60,
        )
        assert (command, done.stdout, done.stderr) == (command, expected, "")
