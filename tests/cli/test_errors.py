"""Exit statuses: what cannot be done is told in one sentence, with the status of its kind, and changes nothing.

A missing file, an unknown option and a wrong line are told as ``make frozen`` compares them for each command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from scrapy_simhash.cli import find
from scrapy_simhash.cli.main import main
from scrapy_simhash.cli.verbs import VERBS
from tests.cli.conftest import Cli
from tests.cli.example_files import READING
from tests.cli.test_main import linux_only, posix_only, started
from tests.docs.reader import ROOT
from tests.store.sqlite.stores import connected

#: By what is typed in a folder with the files of the examples, and a few that are damaged: status, and the complaint
#: or a part of it.
ERRORS = {
    "compare - -": (2, "only one of the pages can be standard input"),
    "compare page.html page.html --host a.example": (
        2,
        "--host needs the store that knows the host: --store STORE",
    ),
    "compare page.html page.html --store news.sqlite --host b.example": (
        1,
        "news.sqlite has learned nothing about b.example; learned lists all hosts",
    ),
    "text - -": (2, "standard input can be read once only"),
    "text none.html": (1, "cannot read none.html: No such file or directory"),
    "text http://a.example/ --store news.sqlite": (1, "news.sqlite has no page 'http://a.example/'"),
    "report report.jsonl --url http://b.example/": (1, "report.jsonl has no page 'http://b.example/'"),
    "report items.jsonl": (
        2,
        "items.jsonl:2: not a report written with SIMHASH_REPORT, and not written with dedup --mark: no line can be"
        " read",
    ),
    "report r.jsonl --url a --html b": (
        2,
        "--url and --html are two results: use one of the two",
    ),
    "report news.sqlite --url https://example.com/": (
        2,
        "news.sqlite is a store, which has no verdicts: --url needs a report",
    ),
    "report news.sqlite --html missing/out.html": (1, "cannot write missing/out.html: "),
    "report later.sqlite --html out.html": (1, "later.sqlite"),
    "report items.jsonl --html out.html": (2, "items.jsonl:2: not a report written with SIMHASH_REPORT"),
    "report other.sqlite": (1, "other.sqlite"),
    "report cut.sqlite": (1, "cut.sqlite"),
    "tune report.jsonl --judge": (2, "--judge needs a file for the answers: --labels labels.csv"),
    "tune - --judge --labels labels.csv": (2, "--judge reads your answers from standard input"),
    "tune report.jsonl --labels none.csv": (1, "cannot read none.csv: "),
    "tune report.jsonl --labels columns.csv": (2, "columns.csv:1: the columns must be url, other, answer"),
    "tune report.jsonl --labels maybe.csv": (
        2,
        "maybe.csv:2: answer must be same, different or skip, got maybe",
    ),
    "tune new.jsonl": (1, "new.jsonl has no pair with a threshold: no two pages were compared"),
    "tune pages.jsonl --html-field body": (2, "no record has the fields"),
    "tune pages.jsonl -s SIMHASH_RULE=classic": (1, 'with SIMHASH_RULE = "classic"'),
    "tune missing.sqlite": (1, "cannot read missing.sqlite: No such file or directory"),
    "tune other.sqlite": (1, "other.sqlite"),
    "find - --in -": (2, "standard input can be read once only"),
    "find --blocks 3 missing.txt": (
        2,
        "--blocks must be auto, or a number above --distance (3) up to 64, got '3'",
    ),
    "find .": (1, "cannot read .: Is a directory"),
    "info": (2, "no store given: give a file, or a URL like redis://host:6379/0?prefix=news"),
    "info unix://none.sock?prefix=a": (1, "none.sock"),
    "info .": (1, ". is a folder: give the file of a spider in it, such as cut.sqlite"),
    "info export.jsonl": (
        2,
        "export.jsonl is an export or a feed, not a store: import it into a store first",
    ),
    "import export.jsonl export.jsonl": (2, "export.jsonl is an export or a feed, not a store"),
    "import pages.jsonl": (2, "pages.jsonl is an export or a feed, not a store"),
    "import news.sqlite ./news.sqlite": (2, "news.sqlite cannot be imported into itself"),
    "import new.sqlite headless.jsonl": (
        2,
        "and one of html, text, body and content; headless.jsonl:1 has 'key', 'url', ",
    ),
    "import . export.jsonl": (1, ". is a folder: give the file of a spider in it, such as cut.sqlite"),
    "import page.html export.jsonl": (1, "page.html is not a store: it is not an SQLite file"),
    "import new.sqlite pages.jsonl --html-field body": (
        2,
        "and 'body'; pages.jsonl:1 has 'url', 'html'; nothing was stored",
    ),
    "import new.sqlite pages.jsonl -s SIMHASH_SCOP=host": (
        2,
        "SIMHASH_SCOP (host) is not a setting of scrapy-simhash; did you mean SIMHASH_SCOPE?",
    ),
    "import new.sqlite pages.jsonl -s LOG_LEVEL=INFO": (
        2,
        "LOG_LEVEL is not a setting of scrapy-simhash",
    ),
    "import new.sqlite pages.jsonl -s SIMHASH_SCOPE": (2, "--set takes NAME=VALUE, got 'SIMHASH_SCOPE'"),
    "import new.sqlite pages.jsonl -s SIMHASH_SCOPE=web": (
        2,
        "SIMHASH_SCOPE must be one of crawl, domain, host, or the import path of a function, got 'web'",
    ),
    "learned news.sqlite --pin": (2, "--pin, --unpin and --forget need a HOST"),
    "learned missing.sqlite a.example --pin": (1, "no such store: missing.sqlite"),
    "learned news.sqlite b.example": (
        1,
        "news.sqlite has learned nothing about b.example; without HOST, all hosts are listed",
    ),
    "learned news.sqlite b.example --pin": (1, "news.sqlite has learned nothing about b.example"),
    "dedup nowhere.jsonl": (1, "cannot read nowhere.jsonl"),
    "dedup pages.jsonl --mark --clusters -": (2, "--mark needs --output"),
    "dedup - --two-pass": (2, "give a file, not standard input"),
    "dedup - --copies": (2, "give a file, not standard input"),
    "dedup - -": (2, "standard input can be read once only"),
    "dedup pages.jsonl --processes 0": (2, "--processes must be 1 or more"),
    "dedup pages.jsonl --html-field nothing": (2, "and 'nothing'; "),
    "dedup pages.jsonl -o x --broken x": (2, "--output and --broken are the same file, x"),
    "dedup pages.jsonl -o .": (1, "cannot write .: it is a folder"),
    "dedup pages.jsonl -o b/out": (1, "out: there is no folder "),
    "dedup . -o ./a/out": (2, "would be read as an input"),
    "dedup program": (2, "unknown kind of file; the name must end in one of"),
    "dedup pages.jsonl --against nowhere.sqlite": (1, "no such store"),
    "dedup pages.jsonl --clusters .": (1, "cannot write .: it is a folder"),
    "export news.sqlite -o .": (1, "cannot write .: it is a folder"),
    "report report.jsonl --html .": (1, "cannot write .: it is a folder"),
}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of *folder*, without those that SQLite has beside a store that is open, or was."""
    files = (path for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal")))
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("typed", ERRORS)
def test_what_cannot_be_done_is_told_in_a_sentence(typed: str, folder: Path, cli: Cli) -> None:
    cli("export", "news.sqlite", "-o", "export.jsonl")
    files = {
        "items.jsonl": b'\n{"title": "a"}\n{"title": "b"}\n',
        "new.jsonl": b'{"url": "http://a.example/", "status": "new"}\n',
        "columns.csv": b"url,other\n",
        "maybe.csv": b"url,other,answer\na,b,maybe\n",
        "program": b"\x7fELF\x00\x01\x02" * 100,
        "cut.sqlite": Path("news.sqlite").read_bytes()[:5000],
    }
    files["headless.jsonl"] = Path("export.jsonl").read_bytes().splitlines()[1]
    for name, content in files.items():
        Path(name).write_bytes(content)
    with closing(sqlite3.connect("other.sqlite")) as database:
        database.execute("CREATE TABLE pages (a)")
    shutil.copy("news.sqlite", "later.sqlite")
    with closing(sqlite3.connect("later.sqlite")) as database:
        database.execute("PRAGMA user_version = 999")
    before = contents(folder)
    status, complaint = ERRORS[typed]
    found, told = cli.fails(*shlex.split(typed))
    assert (found, told.count("\n")) == (status, 0)
    assert complaint in told
    assert contents(folder) == before


#: What is typed, and the sentence about it.
USAGE = {
    "diff a.html b.html": "diff is not a verb, did you mean scrapy-simhash compare?",
    "dedupe": "dedupe is not a verb, did you mean scrapy-simhash dedup?",
    "find-all": "find-all is not a verb, did you mean scrapy-simhash find?",
    "stats": "stats is not a verb, did you mean scrapy-simhash info?",
    "check": "check is not a verb, did you mean scrapy-simhash info --check?",
    "help": "help is not a verb, did you mean scrapy-simhash --help?",
    "zzz": f"zzz is not a verb: {', '.join(VERBS)}",
    ".": "no verb is given for .: scrapy-simhash dedup . or scrapy-simhash fingerprint .",
    "news.sqlite": "scrapy-simhash info news.sqlite, scrapy-simhash report news.sqlite or ",
    "report.jsonl": "scrapy-simhash report report.jsonl or scrapy-simhash tune report.jsonl",
    "pages.jsonl": "scrapy-simhash dedup pages.jsonl or scrapy-simhash fingerprint pages.jsonl",
    "page.html": "scrapy-simhash text page.html or scrapy-simhash dedup page.html",
    "hashes.txt": "scrapy-simhash find hashes.txt or",
    "find --fast": "--fast is not an option, see scrapy-simhash find --help",
    "dedup pages.jsonl --procesess=2": "--procesess is not an option, did you mean --processes?",
    "import new.sqlite --input pages.jsonl": "--input is not needed: give the input without an option",
    "info news.sqlite other": "there is one argument too many: other",
    "find --distance 65": "-d/--distance: must be a number of bits from 0 to 64, got '65'",
    "find --distance": "-d/--distance: expected one argument",
    "dedup": "the following arguments are required: INPUT",
    "tune report.jsonl --precision 2": "must be above 0 and at most 1, got '2'",
    "tune report.jsonl --judge 0": "must be a whole number above 0, got '0'",
}


@pytest.mark.parametrize("typed", USAGE)
def test_wrong_usage_is_status_2_with_a_sentence_on_what_is_right(typed: str, folder: Path, cli: Cli) -> None:
    status, said, complaint = cli.ended(*typed.split())
    assert (status, said, complaint.count("\n")) == (2, "", 1)
    assert complaint.startswith("scrapy-simhash")
    assert USAGE[typed] in complaint


@pytest.mark.parametrize(
    ("fault", "status", "complaint"),
    [(KeyboardInterrupt, 130, ""), (MemoryError, 1, "scrapy-simhash: not enough memory\n")],
)
def test_what_ends_a_search_leaves_the_old_output_and_no_other_file(
    fault: type[BaseException],
    status: int,
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def pairs(*_: object) -> Iterator[tuple[int, int, int]]:
        yield 1, 3, 1
        raise fault

    monkeypatch.setattr(find, "pairs", pairs)
    place = tmp_path / "pairs"
    place.write_bytes(b"old")
    assert main(["find", os.devnull, "--output", str(place)]) == status
    assert capsys.readouterr().err == complaint
    assert ([path.name for path in tmp_path.iterdir()], place.read_bytes()) == (["pairs"], b"old")


# --- 0: nothing was found, and that is no error.

NOTHING = [
    "text empty.jsonl",
    "compare empty.jsonl empty.jsonl",
    "report empty.jsonl",
    "find queries.txt",
    "find queries.txt --clusters",
    "find queries.txt --in empty.jsonl",
    "info empty.sqlite",
    "learned empty.sqlite",
    "export empty.sqlite",
    "import empty.sqlite empty.jsonl",
    "import news.sqlite empty.sqlite",
]


@pytest.mark.parametrize("typed", NOTHING)
def test_it_is_0_if_there_is_nothing_to_find(typed: str, folder: Path, cli: Cli) -> None:
    (folder / "empty.jsonl").touch()
    # A store is made by its first page.
    assert main(["import", "empty.sqlite", "news.sqlite"]) == 0
    with connected(folder / "empty.sqlite") as connection:
        for table in ("pages", "names", "notes"):
            connection.execute(f"DELETE FROM {table}")
    status, _, complaint = cli.ended(*typed.split())
    assert (status, complaint) == (0, "")


MISSING = [
    (name, file)
    for name, words in READING.items()
    for file in words
    if file.endswith((".txt", ".jsonl", ".html", ".sqlite")) and file != "new.sqlite"
]


def test_it_is_2_without_a_command_and_the_help_is_shown(cli: Cli) -> None:
    _, shown, _ = cli.ended("--help")
    assert cli.ended() == (2, "", shown)


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
    status, said, complaint = cli.ended(*words)
    assert all(sign.isprintable() or sign == "\n" for sign in said + complaint)
    assert is_there or (status, "?]0;x??2J" in complaint) == (1, True)


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("word", [f"--{CONTROLS}", f"--js{CONTROLS}=1", CONTROLS])
def test_what_was_typed_moves_no_cursor(
    name: str, word: str, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO()))
    for words in ([name, word], [*READING[name], word], [word]):
        _, said, complaint = cli.ended(*words)
        assert all(sign.isprintable() or sign == "\n" for sign in said + complaint)


# --- What is read is never written over.

OVER = {
    "dedup": ["pages.jsonl", "-o", "{}"],
    "dedup --clusters": ["pages.jsonl", "--clusters", "{}"],
    "dedup --broken": ["pages.jsonl", "--broken", "{}"],
    "fingerprint": ["pages.jsonl", "-o", "{}"],
    "dedup --against": ["pages.jsonl", "--against", "news.sqlite", "-o", "{}"],
    "text": ["page.html", "--html", "{}"],
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


# --- 1: a full disk.


@linux_only
@pytest.mark.parametrize("name", VERBS)
def test_it_is_1_and_one_sentence_if_the_disk_is_full(name: str, folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = started(*READING[name], stdout=full.fileno())
        _, complained = process.communicate(timeout=60)
    assert complained.endswith(b"scrapy-simhash: cannot write standard output: No space left on device\n")
    assert (process.returncode, complained.count(b"\n")) == (1, 1)


# --- 130 and 141: signals.

#: Sends itself an interrupt when it opens the first file in its folder.
INTERRUPTED = """
import os, signal, sys
from scrapy_simhash.cli.verbs import module_of
from scrapy_simhash.cli.main import main
module_of(sys.argv[1])
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
    before = contents(folder)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *READING[name]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert contents(folder) == before


@posix_only
@pytest.mark.parametrize("name", VERBS)
def test_it_is_141_and_quiet_if_nobody_reads_on(name: str, folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = started(*READING[name], stdout=writing)
    os.close(writing)
    _, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (141, b"")
