"""The pages about the command: every subcommand has a section, and every example has the shown output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_simhash.cli.main import VERBS
from tests.cli.test_main import posix_only
from tests.crawls.harness import make_project
from tests.docs.reader import DOCS, ROOT, blocks, sections

REFERENCE = DOCS / "reference" / "command-line.rst"
HOW_TO = DOCS / "how-to"
#: A spider whose store the commands read.
SPIDER = 'import scrapy\nclass News(scrapy.Spider):\n    name = "news"\n'


def test_the_reference_has_exactly_the_existing_verbs() -> None:
    assert re.findall(r"^\.\. verb:: (.*)$", REFERENCE.read_text("utf-8"), flags=re.MULTILINE) == list(VERBS)
    assert set(sections(REFERENCE)) >= set(VERBS)


def typed(command: str, folder: Path, home: Path) -> str:
    """Return the output of *command* in a shell in *folder*, with the program on the path."""
    program = home / "bin" / "scrapy-simhash"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m scrapy_simhash "$@"\n', "utf-8")
    program.chmod(0o755)
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    return done.stdout


@posix_only
@pytest.mark.parametrize(("page", "label"), [("python.rst", ""), ("stored-pages.rst", ".. _moving-data:")])
def test_commands_of_a_how_to_have_the_shown_output(page: str, label: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    make_project(folder, SPIDER_MODULES=["spiders"], SIMHASH_STORE="./simhash")
    before = (HOW_TO / page).read_text("utf-8").partition(label)[0] if label else ""
    later = [block for block in blocks(HOW_TO / page) if block.line > before.count("\n")]
    files = {block.caption: block.text for block in later if block.language == "text" and block.caption}
    for path, text in {"spiders.py": SPIDER, **files}.items():
        (folder / path).write_text(text, "utf-8")
    shown = "".join(block.text for block in later if block.language == "console")
    commands = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", shown, flags=re.MULTILINE)
    assert len(commands) > 2
    for command, expected in commands:
        assert (command, shape(typed(command, folder, tmp_path))) == (command, shape(expected))


def shape(shown: str) -> str:
    """Return *shown* without parts that depend on the time or folder."""
    shown = re.sub(r"(20\d\d-\d\d-\d\dT[\d:]+Z) to (20[\dT:-]+Z): import", "then to then: import", shown)
    return re.sub(r"^/\S*(/simhash/\S+) \(sqlite, [\d,]+ bytes\)", r"\1", shown, flags=re.MULTILINE)
