"""Every command keeps to the table of exit statuses in the reference, with what it says and leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from scrapy_simhash.cli.commands import COMMANDS, GROUPS
from scrapy_simhash.cli.main import main
from tests.cli.conftest import Cli
from tests.cli.example_files import READING
from tests.cli.test_main import started
from tests.docs.reader import ROOT
from tests.store.sqlite.stores import connected

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a thing of POSIX")


def names(folder: Path) -> list[str]:
    """Return the files of *folder*, without those that SQLite has beside a store that is open, or was."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal")))


# --- 0: nothing was found, and that is no error.

NOTHING = {
    "compare": ["empty.jsonl", "empty.jsonl"],
    "report": ["empty.jsonl"],
    "find-all": ["--input", "queries.txt"],
    "find-clusters": ["--input", "queries.txt"],
    "find": ["--stored", "empty.jsonl", "--input", "queries.txt"],
    "info": ["empty.sqlite"],
    "profile": ["empty.sqlite"],
    "export": ["empty.sqlite"],
    "import": ["empty.sqlite", "--input", "empty.jsonl"],
    "merge": ["news.sqlite", "empty.sqlite"],
}


@pytest.mark.parametrize("name", NOTHING)
def test_it_is_0_if_there_is_nothing_to_find(name: str, folder: Path, cli: Cli) -> None:
    (folder / "empty.jsonl").touch()
    assert main(["export", "news.sqlite", "--output", "all.jsonl"]) == 0
    # A store is made by its first page.
    assert main(["import", "empty.sqlite", "--input", "all.jsonl"]) == 0
    with connected(folder / "empty.sqlite") as connection:
        for table in ("pages", "contents", "sketches", "sites"):
            connection.execute(f"DELETE FROM {table}")
    status, _, complaint = cli.ended(name, *NOTHING[name])
    assert (status, complaint) == (0, "")


# --- 1: something is not there, or is damaged.

MISSING = [
    (name, file)
    for name, words in READING.items()
    for file in words
    if file.endswith((".txt", ".jsonl", ".html", ".sqlite"))
    and file not in ("new.sqlite", "both.sqlite", "unique.jsonl")
]


@pytest.mark.parametrize(("name", "file"), MISSING)
def test_it_is_1_if_a_file_is_missing(name: str, file: str, folder: Path, cli: Cli) -> None:
    words = ["missing" if word == file else word for word in READING[name]]
    before = names(folder)
    status, said, complaint = cli.ended(*words)
    assert (status, said) == (1, "")
    assert complaint in (
        "scrapy-simhash: cannot read missing: No such file or directory\n",
        "scrapy-simhash: no such store: missing\n",
    )
    assert names(folder) == before


@pytest.mark.parametrize("name", GROUPS["stores"])
def test_it_is_1_for_a_store_that_is_none(name: str, folder: Path, cli: Cli) -> None:
    words = list(READING[name])
    words[-1 if name == "merge" else 1] = "hashes.txt"
    status, said, complaint = cli.ended(*words)
    assert (status, said) == (1, "")
    assert complaint == "scrapy-simhash: hashes.txt is not a store: it is not an SQLite file\n"


# --- 2: wrong usage, wrong input.


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_2_for_an_unknown_option(name: str, cli: Cli) -> None:
    words = READING.get(name, [name, "bash"])
    status, said, complaint = cli.ended(*words, "--fast")
    assert (status, said) == (2, "")
    assert complaint.startswith(f"usage: scrapy-simhash {name} ")
    assert complaint.endswith("unrecognized arguments: --fast\n")


def test_it_is_2_without_a_command_and_the_help_is_shown(cli: Cli) -> None:
    _, shown, _ = cli.ended("--help")
    assert cli.ended() == (2, "", shown)


WRONG = [(name, file) for name, file in MISSING if file.endswith((".txt", ".jsonl"))]


@pytest.mark.parametrize(("name", "file"), WRONG)
def test_it_is_2_for_a_wrong_line(name: str, file: str, folder: Path, cli: Cli) -> None:
    (folder / file).write_text("no such thing\n", "utf-8")
    status, said, complaint = cli.ended(*READING[name])
    assert (status, said) == (2, "")
    # What reads pages takes any kind of file, and has no lines before it knows the kind.
    takes_any = name in ("import", "dedup", "cluster", "against", "fingerprint")
    where = f"{file}: unknown kind of file" if takes_any else f"{file}:1: "
    assert complaint.startswith(f"scrapy-simhash: {where}")


# --- Whatever a name or a page says.

#: What it would do to a terminal: change its title, and ring.
CONTROLS = "\x1b]0;x\x07\x9b2J"


@posix_only
@pytest.mark.parametrize(("name", "file"), MISSING)
@pytest.mark.parametrize("is_there", [False, True])
def test_the_name_of_a_file_moves_no_cursor(
    name: str, file: str, is_there: bool, folder: Path, cli: Cli
) -> None:
    called = CONTROLS + file
    if is_there:
        (folder / file).rename(called)
    words = [called if word == file else word for word in READING[name]]
    _, said, complaint = cli.ended(*words)
    assert all(sign.isprintable() or sign == "\n" for sign in said + complaint)
    assert "?]0;x??2J" in complaint or is_there


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("word", [f"--{CONTROLS}", f"--js{CONTROLS}=1", CONTROLS])
def test_what_was_typed_moves_no_cursor(
    name: str, word: str, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO()))
    for words in ([name, word], [*READING.get(name, [name, "bash"]), word], [word]):
        _, said, complaint = cli.ended(*words)
        assert all(sign.isprintable() or sign == "\n" for sign in said + complaint)


# --- What is read is never written over.

OVER = {
    "dedup": ["pages.jsonl", "-o", "{}"],
    "dedup --clusters": ["pages.jsonl", "--clusters", "{}"],
    "dedup --broken": ["pages.jsonl", "--broken", "{}"],
    "cluster": ["pages.jsonl", "-o", "{}"],
    "fingerprint": ["pages.jsonl", "-o", "{}"],
    "against": ["news.sqlite", "pages.jsonl", "-o", "{}"],
    "compare": ["page.html", "other.html", "--html", "{}"],
    "compare --store": ["http://a.example/", "http://b.example/", "--store", "news.sqlite", "--html", "{}"],
    "report": ["report.jsonl", "--html", "{}"],
    "report of a store": ["news.sqlite", "--html", "{}"],
    "export": ["news.sqlite", "-o", "{}"],
}


@posix_only
@pytest.mark.parametrize(
    ("name", "file"),
    [(name, word) for name, words in OVER.items() for word in words if Path(word).suffix and "/" not in word],
)
def test_an_output_that_is_an_input_is_refused_by_whatever_name(
    name: str, file: str, folder: Path, cli: Cli
) -> None:
    before = (folder / file).read_bytes()
    (folder / "link").symlink_to(file)
    for called in (file, f"./{file}", str(folder / file), "link"):
        status, said, complaint = cli.ended(name.split()[0], *(word.format(called) for word in OVER[name]))
        assert (status, said) == (2, "")
        assert complaint.endswith(f"{called} is an input, and would replace it: give another name\n")
        assert (folder / file).read_bytes() == before


# --- 130 and 141: signals.

#: Sends itself an interrupt when it opens the first file in its folder.
INTERRUPTED = """
import os, signal, sys
from scrapy_simhash.cli.commands import command_of
from scrapy_simhash.cli.main import main
command_of(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(event, arguments):
    if event in ("open", "sqlite3.connect") and os.getcwd() in os.path.abspath(str(arguments[0])):
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(interrupt)
sys.exit(main())
"""


@posix_only
@pytest.mark.parametrize("name", READING)
def test_it_is_130_and_quiet_after_an_interrupt(name: str, folder: Path) -> None:
    before = names(folder)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *READING[name]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert names(folder) == before


@posix_only
@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_141_and_quiet_if_nobody_reads_on(name: str, folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = started(*READING.get(name, [name, "bash"]), stdout=writing)
    os.close(writing)
    _, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (141, b"")
