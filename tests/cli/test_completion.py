"""Completions in real shells: what follows a Tab."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from select import select

import pytest

from scrapy_simhash.cli.main import main
from scrapy_simhash.cli.verbs import SHELLS, VERBS

if sys.platform == "win32":
    pytest.skip("bash, zsh and fish are shells of POSIX", allow_module_level=True)

import pty

#: What is typed before the Tab, and what it is completed to. The folder has hashes.txt and news.sqlite.
CASES: Mapping[str, Sequence[str]] = {
    "": list(VERBS),
    "dedup --keep p": ["preferred"],
    "fi": ["find", "fingerprint"],
    "report --": ["--help", "--html", "--json", "--url"],
    "export --output=ne": ["--output=news.sqlite"],
    "--completion ": ["bash", "fish", "zsh"],
    "info ": ["hashes.txt", "news.sqlite"],
    "compare hashes.txt ha": ["hashes.txt"],
    "import news.sqlite ne": ["news.sqlite"],
    "find --in ha": ["hashes.txt"],
    # Nobody knows how many.
    "find --distance ": [],
}
PROMPT = "ready> "
#: Reads the completions, and says where the arguments go that a line has after a Tab.
BASH = """\
source ../completions
bind '"\\t": insert-completions' 'set completion-ignore-case off'
scrapy-simhash() { echo "$@" >> ../lines; }
"""
ZSH = """\
mkdir ../functions && cp ../completions ../functions/_scrapy-simhash && fpath=($PWD/../functions $fpath)
autoload -U compinit && compinit -u -d ../dump
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
scrapy-simhash() { echo "$@" >> ../lines; }
"""


def in_terminal(setup: str, *command: str) -> Callable[[Path], list[str]]:
    """Return a function that types lines and a Tab, which inserts all there is, into a shell on a terminal."""

    def completed(folder: Path) -> list[str]:
        (folder.parent / "setup").write_text(setup, "utf-8")
        keyboard, terminal = pty.openpty()
        with subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=folder,
            env={**os.environ, "TERM": "dumb", "PS1": PROMPT, "HOME": str(folder.parent), "HISTFILE": ""},
            start_new_session=True,
        ) as shell:
            os.close(terminal)
            for keys in ("source ../setup\n", *(f"scrapy-simhash {line}\t\n" for line in CASES), "exit\n"):
                # Not before it asks: what comes earlier is not read as keys.
                said = b""
                while PROMPT.encode() not in said:
                    assert select([keyboard], [], [], 60)[0], said
                    said += os.read(keyboard, 1024)
                os.write(keyboard, keys.encode())
            shell.wait(timeout=60)
        os.close(keyboard)
        return (folder.parent / "lines").read_text("utf-8").splitlines()

    return completed


def in_fish(folder: Path) -> list[str]:
    """Return the lines with what fish offers, which it tells without a terminal."""
    offers = (f"echo; complete -C 'scrapy-simhash {line}'" for line in CASES)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source ../completions; {'; '.join(offers)}; echo"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder.parent)},
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.stderr == ""
    offered = re.sub("\t.*", "", done.stdout).split("\n\n")
    return [" ".join([*before(line), *words.split()]) for line, words in zip(CASES, offered, strict=True)]


def before(line: str) -> list[str]:
    """Return the words of *line* before the one that is to be completed."""
    return f"{line}x".split()[:-1]


COMPLETED: Mapping[str, Callable[[Path], list[str]]] = {
    "bash": in_terminal(BASH, "bash", "--norc", "--noprofile", "-i"),
    "zsh": in_terminal(ZSH, "zsh", "-f", "-i"),
    "fish": in_fish,
}


def test_without_shtab_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(COMPLETED) == set(SHELLS)
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit, match="1"):
        main(["--completion", "bash"])
    said = capsys.readouterr()
    assert (said.out, said.err) == (
        "",
        "scrapy-simhash: --completion needs shtab: pip install 'scrapy-simhash[completion]'\n",
    )


@pytest.mark.parametrize("shell", COMPLETED)
def test_a_tab_completes_commands_options_choices_and_files(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    with pytest.raises(SystemExit, match="0"):
        main(["--completion", shell])
    folder = tmp_path / "folder"
    folder.mkdir()
    files = {"completions": capsys.readouterr().out, "folder/hashes.txt": "", "folder/news.sqlite": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    found = COMPLETED[shell](folder)
    # The order is the shell's.
    assert [sorted(line.split()) for line in found] == [
        sorted([*before(line), *words]) for line, words in CASES.items()
    ]
