"""The example at the end of each command's help: it works, gives what it shows, and the reference has it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_simhash.cli.commands import COMMANDS, EXAMPLES
from scrapy_simhash.cli.main import main
from tests.cli.example_files import write_example_files
from tests.docs.reader import ROOT

#: A page shows it in full, where a terminal has 80 columns.
WIDEST = 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    write_example_files(folder)
    (folder / ".local/share/bash-completion/completions").mkdir(parents=True)
    program = folder / "bin" / "scrapy-simhash"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m scrapy_simhash "$@"\n', "utf-8")
    program.chmod(0o755)
    return folder


def shown_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert not caught.value.code
    return capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="its shell is another one")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_at_the_end_of_a_help_gives_what_it_shows(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "completion":
        pytest.importorskip("shtab")
    help_text = shown_by(capsys, name, "--help")
    example = help_text.partition("\nexample:\n")[2]
    lines = [line.removeprefix("  ") for line in example.splitlines()]
    assert lines == EXAMPLES[name].splitlines()
    assert max(map(len, lines)) <= WIDEST
    command, *expected = lines
    assert command.startswith(f"$ scrapy-simhash {name} ")
    done = subprocess.run(
        ["sh", "-c", command.removeprefix("$ ")],
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(folder),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.stderr == ""
    shape = re.escape("\n".join(expected)).replace(r"\.\.\.", ".*" if expected else "")
    assert re.fullmatch(shape, done.stdout.rstrip("\n"), re.DOTALL), done.stdout
