"""All subcommands with many inputs: exit status, output and message."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import sqlite3
import sys
from contextlib import closing
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from scrapy_simhash.cli.main import VERBS
from tests.commands import Cli

#: Commands that succeed, and part of their standard output, or of standard error after a ``2>``.
WORKS = {
    "dedup pages.jsonl": "https://example.com/print/ferry -> https://example.com/ferry\n",
    "dedup pages.jsonl -o u.jsonl": "2>records: 3, kept: 2, near-duplicates: 1\n",
    "dedup pages.jsonl -o -": '{"url": "https://example.com/pilot", "html": "<html',
    "dedup pages.jsonl -o - --mark": '"simhash_status": "near_duplicate"',
    "dedup pages.jsonl --clusters -": '"members": ["https://example.com/ferry", "https://example.com/print/ferry"]',
    "dedup pages.jsonl.gz --json": '"near_duplicates": 1',
    "dedup page.html other.html page.html": "/other.html -> file://",
    "dedup named --format jsonl": "print/ferry -> ",
    "dedup status.jsonl --html-field raw": "https://example.com/print/ferry -> https://example.com/ferry",
    "dedup pages.jsonl --report -": '"status": "near_duplicate", "reason": ',
    "dedup pages.jsonl --against news.sqlite": "https://example.com/pilot -> https://example.com/pilot\n",
    "dedup pages.jsonl --processes 2 --two-pass --protect --keep longest": "print/ferry",
    "text page.html": "The last wooden ferry on the river",
    "text page.html.gz": "The last wooden ferry on the river",
    "text page.html other.html --json": '"page": "other.html"',
    "text page.html --store news.sqlite --host EXAMPLE.com": "The last wooden ferry",
    "compare page.html page.html": "near-duplicates: title and main text are identical",
    "compare page.html.gz other.html --json": '"is_near_duplicate": true',
    "compare page.html other.html -s SIMHASH_MIN_SIMILARITY=0.99": "not near-duplicates",
    "compare page.html other.html -s SIMHASH_RULE=classic": "near-duplicates with SIMHASH_MAX_DISTANCE = 4",
    "fingerprint pages.jsonl": '{"url": "https://example.com/ferry", "fingerprint": "',
    "fingerprint pages.jsonl --hashes": "0x",
    "fingerprint pages.jsonl -s SIMHASH_SCHEME=moz": '"sketch": null',
    "find hashes.txt": "[5456993838078482869, 5457064206285785525]\n",
    "find queries.txt --in hashes.txt": '{"query": 5456993838078482868, "matches": [[5456993838078482869, 1]]}\n',
    "find hashes.txt.gz": "[5456993838078482869, 5457064206285785525]\n",
    "find twice.txt -d 1": "[7, 7]\n[7, 15]\n[15, 31]\n",
    "find twice.txt -d 1 --clusters": "[7, 7, 15, 31]\n",
    "find twice.txt -d 1 --clusters --json": '{"distance": 1, "hashes": 4, "clusters": [[7, 7, 15, 31]]}\n',
    "find twice.txt -d 0 --json": '{"distance": 0, "hashes": 4, "pairs": [[7, 7, 0]]}\n',
    "find twice.txt --in twice.txt -d 1": '{"query": 31, "matches": [[31, 0], [15, 1]]}\n',
    "find queries.txt --in twice.txt --json": '"answers": [{"query": 5456993838078482868, "matches": []}]}\n',
    "report report.jsonl": "pages             2\n",
    "tune report.jsonl --labels labels.csv": "0.95 or more        1          0      1          0  1.000 ",
    "tune report.jsonl": "Pairs of pages that were compared: 1.",
    "info news.sqlite": "pages             3\nfingerprints      2\nclusters          1\nnear-duplicates   1\n",
    "learned news.sqlite": "example.com  3 ",
    "learned news.sqlite EXAMPLE.com": "example.com  parameter sid in /stories/*  active\n",
    "export news.sqlite": '"duplicate_of": "https://example.com/ferry"',
    "export news.sqlite --learned": '"site": "example.com"',
    "export news.sqlite --host Example.com": '"site": "example.com"',
    "import new.sqlite pages.jsonl": "pages: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0\n",
    "import new.sqlite export.jsonl export.jsonl": "pages: 6, new: 2, near-duplicates: 1, revisits: 3, ",
    "import new.sqlite export.jsonl.gz": "pages: 3, new: 2, near-duplicates: 1",
    "import new.sqlite page.html -s SIMHASH_SCOPE=host": "pages: 1, new: 1",
    "remove news.sqlite --host EXAMPLE.com --dry-run": "pages that would be removed: 3\n",
    "remove news.sqlite --host example.com": "pages removed: 3\n",
    "remove news.sqlite https://example.com/none --json": '"pages": 0',
    # No results, which is not an error.
    "dedup empty.jsonl": "2>records: 0, kept: 0, near-duplicates: 0\n",
    "find empty.jsonl": "",
    "find empty.jsonl --in hashes.txt": "",
    "import new.sqlite empty.jsonl": "pages: 0, new: 0",
    "--version": "scrapy-simhash 1",
}

#: Commands that fail, with the exit status and part of the message: the name, the value, or the remedy.
FAILS = {
    # A wrong subcommand or value.
    "dedupe": (2, "invalid choice: 'dedupe'"),
    "dedup": (2, "the following arguments are required: INPUT; see scrapy-simhash dedup --help"),
    "dedup pages.jsonl --fast": (2, "unrecognized arguments: --fast; see scrapy-simhash --help"),
    "dedup pages.jsonl --processes 0": (2, "--processes must be 1 or more, got 0"),
    "dedup pages.jsonl --html-field no": (2, "no record has the fields 'url', 'link' or 'uri', and 'no'; "),
    "find hashes.txt --distance 65": (2, "--distance must be a number of bits from 0 to 64, got 65"),
    "find wrong.txt": (2, "wrong.txt:2: 'ab' is not a decimal or hexadecimal number"),
    "info": (2, "no store given: name a file, or a URL like redis://host:6379/0?prefix=news"),
    "info redis://localhost": (2, "a store in Redis needs a prefix: append ?prefix=PREFIX to redis:"),
    "learned news.sqlite --pin": (2, "need a HOST"),
    "remove news.sqlite": (2, "remove needs a URL or --host HOST, but not both"),
    "remove news.sqlite ferry": (2, "'ferry' is not a URL: "),
    "tune report.jsonl --pages report.jsonl": (2, "--pages needs --html: add --html judge.html, "),
    "tune report.jsonl --labels none.csv": (1, "cannot read none.csv: "),
    "tune report.jsonl --labels columns.csv": (2, "columns.csv:1: the columns must be url, other, answer"),
    "tune report.jsonl --labels maybe.csv": (2, "maybe.csv:2: answer must be same, different or skip, got m"),
    "tune new.jsonl": (1, "or SIMHASH_RULE was 'classic'"),
    "report report.jsonl --serve 70000": (2, "--serve takes a port from 0 to 65535, got 70000"),
    "import new.sqlite pages.jsonl -s SIMHASH_SCOP=host": (2, "did you mean SIMHASH_SCOPE?"),
    "import new.sqlite pages.jsonl -s SIMHASH_SCOPE": (2, "--set takes NAME=VALUE, got 'SIMHASH_SCOPE'"),
    "import news.sqlite pages.jsonl -s SIMHASH_SCOPE=host": (2, "SCOPE is 'crawl' there, 'host' here"),
    # A file of the wrong kind.
    "dedup news.sqlite": (2, 'is a store, not a file of pages: run "scrapy-simhash info news.sqlite'),
    "dedup program": (2, "program: unknown file format: the file extension must be one of .jsonl, "),
    "fingerprint export.jsonl": (2, 'not a file of pages: run "scrapy-simhash import STORE export.jsonl'),
    "text pages.jsonl.gz": (2, 'a file of pages, not an HTML page: run "scrapy-simhash dedup pages.jsonl.gz'),
    "text program": (2, "program is not an HTML page"),
    "compare report.jsonl page.html": (
        2,
        'a report of a crawl, not an HTML page: run "scrapy-simhash report',
    ),
    "find pages.jsonl": (2, 'a file of pages, not a list of hashes: run "scrapy-simhash dedup'),
    "info hashes.txt": (2, 'a list of hashes, not a store: run "scrapy-simhash find hashes.txt'),
    "learned page.html": (2, 'an HTML page, not a store: run "scrapy-simhash text page.html'),
    "report pages.jsonl": (2, 'run "scrapy-simhash dedup pages.jsonl --report FILE" to make a report'),
    "info .": (1, ". is a folder: name the file of a spider in it, such as "),
    # Missing files, and files that cannot be read or written.
    "text none.html": (1, "cannot read none.html: No such file or directory"),
    "text cut.html.gz": (1, "cannot read cut.html.gz: Compressed file ended before the end-of-stream marker"),
    "compare http://127.0.0.1:9/ page.html": (1, "cannot fetch http://127.0.0.1:9/: "),
    "dedup none.jsonl": (1, "cannot read none.jsonl"),
    "dedup broken.jsonl -o u.jsonl": (1, "no page could be read"),
    "dedup pages.jsonl --against none.sqlite": (1, "no such store: none.sqlite"),
    "dedup pages.jsonl -o none/u.jsonl": (1, "cannot write none/u.jsonl: there is no folder none"),
    "dedup pages.jsonl --clusters .": (1, "cannot write .: it is a folder"),
    "info other.sqlite": (1, "other.sqlite"),
    "info cut.sqlite": (1, "cut.sqlite"),
    "info later.sqlite": (1, "later.sqlite"),
    "info unix://none.sock?prefix=a": (1, "none.sock"),
    "export news.sqlite --host nope.example": (1, "news.sqlite has no learned data about nope.example"),
    "learned news.sqlite b.example --pin": (1, "news.sqlite has no learned data about b.example"),
    "text page.html --store news.sqlite --host b.example": (1, "has no learned data about b.example"),
    # Invalid inputs and outputs.
    "text - -": (2, "standard input can be read only once"),
    "dedup - --two-pass": (2, "name a file, not standard input"),
    "dedup pages.jsonl -o - --clusters -": (2, "--output and --clusters are both -: choose different names"),
    "dedup pages.jsonl -o x --report ./x": (2, "--output and --report are both ./x: choose different names"),
    "dedup . -o a.jsonl": (2, "--output a.jsonl is an input, or in a folder that is one"),
    "dedup pages.jsonl --mark": (2, "--mark needs --output: name a file, or - for standard output"),
    "dedup pages.jsonl -o - --json": (2, "--json writes the counts to standard output: write the other"),
    "dedup pages.jsonl -o u.zip": (2, "the file extension of an output must be one of"),
    "import new.sqlite news.sqlite": (2, "scrapy-simhash export news.sqlite | scrapy-simhash import new"),
}

#: Control characters that set the title of a terminal, ring its bell, and clear the screen.
CONTROLS = "\x1b]0;x\x07\x9b2J"


@pytest.mark.parametrize("typed", ["find", "info", "dedup"])
def test_file_names_and_words_are_shown_without_control_characters(typed: str, cli: Cli) -> None:
    _, output, errors = cli.ended(typed, CONTROLS)
    assert "?]0;x??2J" in errors
    assert all(sign.isprintable() or sign == "\n" for sign in output + errors)


@pytest.fixture
def files(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the files of the examples and damaged ones. Standard input is empty."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BufferedReader(BytesIO())))
    cli("export", "news.sqlite", "-o", "export.jsonl")
    page, pages = Path("page.html").read_bytes(), Path("pages.jsonl").read_bytes()
    made = {
        "broken.jsonl": b'{"url": "https://example.com/", "html": "\xff"}\n' * 20,
        "columns.csv": b"url,other\n",
        "cut.html.gz": gzip.compress(page)[:-20],
        "cut.sqlite": Path("news.sqlite").read_bytes()[:5000],
        "empty.jsonl": b"",
        "export.jsonl.gz": gzip.compress(Path("export.jsonl").read_bytes()),
        "hashes.txt.gz": gzip.compress(Path("hashes.txt").read_bytes()),
        "labels.csv": b"url,other,answer\nhttps://example.com/print/ferry,https://example.com/ferry,same\n",
        "maybe.csv": b"url,other,answer\na,b,maybe\n",
        "named": pages,
        "new.jsonl": b'{"url": "http://a.example/", "status": "new"}\n',
        "page.html.gz": gzip.compress(page),
        "pages.jsonl.gz": gzip.compress(pages),
        "program": b"\x7fELF\x00\x01\x02" * 100,
        # Not a report, although its lines have a status.
        "status.jsonl": pages.replace(b'"html"', b'"status": "for sale", "raw"'),
        "twice.txt": b"0x7\n31\n15\r\n7\n\n",
        "wrong.txt": b"1\nab\n",
    }
    for name, content in made.items():
        Path(name).write_bytes(content)
    with closing(sqlite3.connect("other.sqlite")) as database:
        database.execute("CREATE TABLE pages (a)")
    shutil.copy("news.sqlite", "later.sqlite")
    with closing(sqlite3.connect("later.sqlite")) as database:
        database.execute("PRAGMA user_version = 999")
    return folder


@pytest.mark.parametrize("typed", WORKS)
def test_a_command_that_succeeds_writes_results_to_standard_output(typed: str, files: Path, cli: Cli) -> None:
    status, output, errors = cli.ended(*shlex.split(typed))
    stream, _, expected = WORKS[typed].rpartition("2>")
    assert status == 0, errors
    assert expected in (errors if stream or WORKS[typed].startswith("2>") else output)
    if "--json" in typed:
        json.loads(output)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of *folder*, without the extra files of SQLite."""
    files = (path for path in folder.iterdir() if path.is_file() and path.suffix[-4:] not in ("-shm", "-wal"))
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("typed", FAILS)
def test_a_command_that_fails_writes_one_line_and_changes_nothing(typed: str, files: Path, cli: Cli) -> None:
    before = contents(files)
    status, output, errors = cli.ended(*shlex.split(typed))
    *warnings, message = errors.splitlines()
    expected = FAILS[typed]
    assert (status, output) == (expected[0], "")
    assert message.startswith("scrapy-simhash")
    assert expected[1] in message
    assert all(line.startswith("warning: ") for line in warnings)
    assert contents(files) == before


#: A command of each verb.
COMMANDS = (
    *("dedup pages.jsonl", "text page.html", "compare page.html other.html", "fingerprint pages.jsonl"),
    *("report report.jsonl --url https://example.com/print/ferry", "tune report.jsonl", "find hashes.txt"),
    *("info news.sqlite", "learned news.sqlite", "export news.sqlite", "import new.sqlite pages.jsonl"),
    "remove news.sqlite --host example.com --dry-run",
)


@pytest.mark.parametrize("typed", COMMANDS)
def test_every_verb_writes_json_to_standard_output(typed: str, files: Path, cli: Cli) -> None:
    status, output, errors = cli.ended(*typed.split(), "--json")
    assert status == 0, errors
    for document in [output] if output.startswith(("{\n", "[", '{"distance"')) else output.splitlines():
        json.loads(document)
    assert output


def test_the_examples_have_all_verbs() -> None:
    assert {typed.split()[0] for typed in COMMANDS} == set(VERBS)


OVER = {
    "dedup": "pages.jsonl -o {}",
    "dedup --against": "pages.jsonl --against news.sqlite -o {}",
    "fingerprint": "pages.jsonl -o {}",
    "text": "page.html --html {}",
    "compare": "page.html other.html --html {}",
    "report": "report.jsonl --html {}",
    "export": "news.sqlite -o {}",
}


@pytest.mark.parametrize("name", OVER)
def test_an_output_never_replaces_an_input(name: str, files: Path, cli: Cli) -> None:
    for number, file in enumerate(word for word in OVER[name].split() if Path(word).is_file()):
        before = Path(file).read_bytes()
        Path(f"link{number}").symlink_to(file)
        for called in (file, str(files / file), f"link{number}"):
            status, output, errors = cli.ended(name.split()[0], *OVER[name].format(called).split())
            assert (status, output) == (2, "")
            assert f"{called} is an input" in errors
            assert Path(file).read_bytes() == before


def test_without_a_verb_the_help_is_shown(cli: Cli) -> None:
    _, shown, _ = cli.ended("--help")
    assert cli.ended() == (2, "", shown)
    assert all(f"\n    {verb} " in shown for verb in VERBS)
