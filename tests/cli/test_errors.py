"""What cannot be done is told in one sentence, with the status of its kind, and changes nothing."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash.cli import find
from scrapy_simhash.cli.main import main
from tests.cli.conftest import Cli

#: By what is typed in a folder with the files of the examples, and a few that are damaged: status, and the complaint
#: or a part of it.
ERRORS = {
    "compare - -": (2, "only one of the pages can be standard input"),
    "compare page.html page.html --host a.example": (
        2,
        "--host needs the store that knows the host: --store PLACE",
    ),
    "compare page.html page.html --store news.sqlite --host b.example": (
        1,
        "news.sqlite has no profile of b.example; without HOST, profile lists all hosts",
    ),
    "report report.jsonl --url http://b.example/": (1, "report.jsonl has no page 'http://b.example/'"),
    "report items.jsonl": (
        2,
        "items.jsonl:2: not a report written with SIMHASH_REPORT: no line can be read",
    ),
    "report r.jsonl --url a --html b": (
        2,
        "--html shows all pages, --url explains one: use one of the two",
    ),
    "report news.sqlite --url https://example.com/": (
        2,
        "news.sqlite is a store, which has no verdicts: --url needs a report",
    ),
    "report news.sqlite --html missing/out.html": (1, "cannot write missing/out.html: "),
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
    "find --stored -": (2, "--stored and --input cannot both be standard input"),
    **{
        f"{search} --blocks 3 --input missing.txt": (
            2,
            "--blocks must be greater than --distance (3) and at most 64, got 3",
        )
        for search in ("find-all", "find-clusters", f"find --stored {os.devnull}")
    },
    "find-all --input .": (1, "cannot read .: Is a directory"),
    "info": (2, "no store given: give a file, or a URL like redis://host:6379/0#prefix"),
    "info unix://none.sock#a": (1, "none.sock"),
    "info .": (1, ". is a folder: give the file of a store"),
    "info export.jsonl": (
        2,
        "export.jsonl is an export or a feed, not a store: import it into a store first",
    ),
    "import export.jsonl -i export.jsonl": (2, "export.jsonl is an export or a feed, not a store"),
    "merge export.jsonl news.sqlite": (2, "export.jsonl is an export or a feed, not a store"),
    "merge news.sqlite ./news.sqlite": (2, "news.sqlite cannot be merged into itself"),
    "import new.sqlite -i headless.jsonl": (
        2,
        "no record has the fields 'url' and one of html, text, body and content; headless.jsonl:1 has 'key', 'url', ",
    ),
    "import . -i export.jsonl": (1, ". is a folder: give the file of a store"),
    "import page.html -i export.jsonl": (1, "page.html is not a store: it is not an SQLite file"),
    "import new.sqlite -i pages.jsonl --html-field body": (
        2,
        "no record has the fields 'url' and 'body'; pages.jsonl:1 has 'url', 'html'; nothing was stored",
    ),
    "import new.sqlite -i pages.jsonl -s SIMHASH_SCOP=host": (
        2,
        "SIMHASH_SCOP is not a setting of scrapy-simhash; did you mean SIMHASH_SCOPE?",
    ),
    "import new.sqlite -i pages.jsonl -s LOG_LEVEL=INFO": (
        2,
        "LOG_LEVEL is not a setting of scrapy-simhash",
    ),
    "import new.sqlite -i pages.jsonl -s SIMHASH_SCOPE": (2, "--set takes NAME=VALUE, got 'SIMHASH_SCOPE'"),
    "import new.sqlite -i pages.jsonl -s SIMHASH_SCOPE=web": (
        2,
        "SIMHASH_SCOPE must be one of crawl, domain, host, or the import path of a function, got 'web'",
    ),
    "profile news.sqlite --pin": (2, "--export, --import, --pin and --unpin need a HOST"),
    "profile missing.sqlite a.example --import page.html": (1, "no such store: missing.sqlite"),
    **{
        f"profile news.sqlite b.example {change}": (
            1,
            "news.sqlite has no profile of b.example; without HOST, profile lists all hosts",
        )
        for change in ("", "--pin", "--unpin", "--export -")
    },
    "rules news.sqlite b.example": (1, "news.sqlite has no URL rules of b.example"),
    "dedup nowhere.jsonl": (1, "cannot read nowhere.jsonl"),
    "dedup pages.jsonl --mark": (2, "--mark needs --output"),
    "dedup - --two-pass": (2, "give a file instead of standard input"),
    "dedup - -": (2, "standard input can be read once only"),
    "dedup pages.jsonl --processes 0": (2, "--processes must be 1 or more"),
    "dedup pages.jsonl --html-field nothing": (2, "and 'nothing'; "),
    "dedup pages.jsonl -o x --broken x": (2, "--output and --broken are the same file, x"),
    "dedup pages.jsonl -o .": (1, "it exists and is not empty, give a new folder"),
    "dedup pages.jsonl -o b/out": (1, "out: there is no folder "),
    "cluster . -o ./a/out": (2, "would be read as an input"),
    "cluster program": (2, "unknown kind of file; pages are read from"),
    "against nowhere.sqlite pages.jsonl": (1, "no such store"),
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
    before = contents(folder)
    status, complaint = ERRORS[typed]
    found, told = cli.fails(*shlex.split(typed))
    assert (found, told.count("\n")) == (status, 0)
    assert complaint in told
    assert contents(folder) == before


USAGE = {
    "find-some": "invalid choice: 'find-some'",
    "find-all --fast": "unrecognized arguments: --fast",
    "find-all hashes.txt": "unrecognized arguments: hashes.txt (a file to read follows --input)",
    "find-all --distance 65": "-d/--distance: must be a number of bits from 0 to 64, got '65'",
    "find-all --distance": "-d/--distance: expected one argument",
    "find": "the following arguments are required: --stored",
    "tune report.jsonl --precision 2": "must be above 0 and at most 1, got '2'",
    "tune report.jsonl --min-similarity much": "must be above 0 and at most 1, got 'much'",
    "tune report.jsonl --judge 0": "must be a whole number above 0, got '0'",
}


@pytest.mark.parametrize("typed", USAGE)
def test_wrong_usage_is_status_2_with_a_word_on_what_is_right(typed: str, cli: Cli) -> None:
    status, said, complaint = cli.ended(*typed.split())
    assert (status, said) == (2, "")
    assert complaint.startswith("usage: scrapy-simhash")
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
    assert main(["find-all", "--input", os.devnull, "--output", str(place)]) == status
    assert capsys.readouterr().err == complaint
    assert ([path.name for path in tmp_path.iterdir()], place.read_bytes()) == (["pairs"], b"old")
