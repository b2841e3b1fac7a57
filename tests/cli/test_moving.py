"""info, export and import on real stores: importing an export recreates the store."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash.cli.postings import header_line, posting_line
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.conftest import Places
from tests.cli.test_main import posix_only, started
from tests.commands import Cli
from tests.store.cases import SECOND_LOOK, content, header, posting
from tests.store.redis.stores import admin
from tests.store.sqlite.stores import connected

#: Two near-duplicates, a changed page, and a short page twice.
POSTINGS = [
    posting("ferry", content(0), page_hash=1, seen=100),
    posting("ferry?print", content(1, edited=20), page_hash=2, seen=200),
    posting("pilot", content(0xFFFF_0000, text="pilot"), seen=300, is_delivered=True),
    posting("harbour", content(0xFFFF, text="harbour"), seen=400),
    posting("harbour", content(0b11, edited=10), seen=500),
    posting("short moved", 7, is_short=True, page_hash=7, seen=600),
    posting("short moved too", 7, is_short=True, page_hash=7, seen=700),
]
RULE = header(SECOND_LOOK)


def exported(path: Path, postings: Iterable[Posting] = POSTINGS, of: Header = RULE) -> str:
    """Write an export and return its path."""
    path.write_text(header_line(of) + "".join(map(posting_line, postings)), "ascii")
    return str(path)


@pytest.fixture
def filled(places: Places, tmp_path: Path, cli: Cli) -> str:
    """A store with all POSTINGS."""
    place = places.new()
    cli("import", place, exported(tmp_path / "postings.jsonl"))
    return place


# --- import.


def test_a_wrong_line_ends_the_import_and_earlier_lines_stay(
    places: Places, tmp_path: Path, cli: Cli
) -> None:
    place, source = places.new(), exported(tmp_path / "postings.jsonl")
    with Path(source).open("a", encoding="ascii") as file:
        file.write('{"key": "00"}\n' + posting_line(posting("late", 0)))
    wrong = f"{source}:9: the line is not a page or a site of an export: no 'url'"
    stored = "the 7 pages before it were stored; the command can be repeated"
    assert cli.fails("import", place, source) == (2, f"{wrong}; {stored}")
    assert cli.json("info", place)["pages"] == 6
    assert cli.json("info", place)["runs"][0]["reason"] == "import stopped"


def test_an_empty_import_creates_no_file(tmp_path: Path, cli: Cli) -> None:
    place, source = str(tmp_path / "new.sqlite"), exported(tmp_path / "none.jsonl", [])
    assert cli("import", place, source) == "pages: 0, new: 0, near-duplicates: 0, revisits: 0, short: 0\n"
    with Path(source).open("a", encoding="ascii") as file:
        file.write('{"key": "00"}\n')
    status, complaint = cli.fails("import", place, source)
    assert (status, complaint) == (
        2,
        f"{source}:2: the line is not a page or a site of an export: no 'url'; nothing was stored",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["none.jsonl"]


def test_sources_must_match_each_other_and_the_target(
    filled: str, places: Places, tmp_path: Path, cli: Cli
) -> None:
    other = exported(tmp_path / "other.jsonl", of=Header("web-0", min_shingles=3))
    new = places.new()
    status, complaint = cli.fails("import", new, exported(tmp_path / "one.jsonl"), other)
    assert status == 2
    assert complaint.endswith(
        f" and {other} cannot be compared: scheme is 'web-4' there, 'web-0' here; SIMHASH_MIN_SHINGLES is 12"
        " there, 3 here. Nothing was changed"
    )
    assert cli.fails("info", new)[0] == 1
    status, complaint = cli.fails("import", filled, other)
    assert (status, "scheme is 'web-4' there, 'web-0' here" in complaint) == (2, True)


# --- info.


def test_info_works_during_a_crawl_and_shows_it_as_running(tmp_path: Path, cli: Cli) -> None:
    place = tmp_path / "pages.sqlite"
    with closing(SqliteStore(place, RULE)) as crawl:
        crawl.claim(POSTINGS[0])
        assert cli.json("info", str(place))["pages"] == 1
        assert cli("info", str(place)).endswith(" has not ended: it is running, or was killed\n")
        crawl.claim(POSTINGS[1])
        assert len(cli("export", str(place)).splitlines()) == 3
        status, complaint = cli.fails("import", str(place), exported(tmp_path / "p.jsonl"))
        assert status == 1
        assert str(place) in complaint


# --- Interrupts, and the cost of `info`.


@posix_only
@pytest.mark.parametrize(("number", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_an_import_cleanly(
    number: str, status: int, places: Places, tmp_path: Path, cli: Cli
) -> None:
    place = places.new()
    lines = [posting_line(posting(str(number), number << 32)) for number in range(2000)]
    with started("import", place) as process:
        assert process.stdin is not None
        # More than a pipe and its reader's buffer hold: after all of it was written, the first postings are
        # claimed.
        process.stdin.write((header_line(RULE) + "".join(lines)).encode())
        process.stdin.flush()
        process.send_signal(getattr(signal, number))
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, said, complained) == (status, b"", b"")
    found = cli.json("info", place)
    assert 0 < found["pages"] <= 2000
    assert found["runs"][0]["reason"] == "import stopped"
    # The import can be repeated.
    cli("import", place, exported(tmp_path / "all.jsonl"))


# --- Damaged stores.

#: Page 0, which has a near-duplicate.
LOST = {"sqlite": "page 0", "redis": "page with key 6665727279"}


def damage(place: str) -> None:
    url, _, prefix = place.partition("?prefix=")
    if prefix:
        client = admin(url)
        client.hset(f"{prefix}:pages", "kferry", client.hget(f"{prefix}:pages", "kferry")[:60])
    else:
        with connected(Path(place)) as connection:
            connection.execute("UPDATE pages SET value = 'many' WHERE number = 0")


def test_the_readable_records_of_a_damaged_store_are_read_and_the_others_are_reported(
    filled: str, places: Places, tmp_path: Path, cli: Cli
) -> None:
    damage(filled)
    rest = tmp_path / "rest.jsonl"
    for words in (["info", filled], ["export", filled, "-o", rest]):
        status, _, errors = cli.ended(*words)
        assert status == 1
        assert f"{filled}: damaged records were left out: 1 ({LOST[places.kind]})" in errors
    assert cli.json("import", places.new(), rest)["pages"] == 5
    status, complaint = cli.fails("import", filled, tmp_path / "postings.jsonl")
    assert (status, complaint.endswith("; nothing was stored")) == (1, True)
