"""import of pages: the same records as in a crawl, by the settings of the store."""

from __future__ import annotations

import sys
from contextlib import closing
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import SCHEME
from scrapy_simhash.judge.rule import ClassicRule
from scrapy_simhash.page.text import plain_text
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.sqlite import SqliteStore
from tests.cli.example_files import feed
from tests.commands import Cli

TEXT = " ".join(f"At {hour} the ferry number {hour * 7} left harbour with apples." for hour in range(30))
FERRY, PILOT, SHORT = f"<title>Ferry</title><p>{TEXT}", f"<p>{TEXT[::-1]}", "<p>See you soon at home."
PAGES: list[dict[str, Any]] = [
    {"url": "https://example.com/ferry", "html": FERRY},
    {"url": "https://example.com/ferry?b=1&a=2", "html": f"{FERRY}<p>Printed."},
    {"url": "https://example.com/ferry?a=2&b=1", "html": f"{FERRY}<p>Printed."},
    {"url": "https://example.com/pilot", "html": PILOT},
    {"url": "https://example.com/short", "html": SHORT},
    {"url": "https://example.com/short/2", "html": SHORT},
    {"url": "https://example.com/silent", "html": "<p>"},
    {"url": "https://example.com/failed", "html": None},
    {"name": "no page at all"},
]
COUNTED = "pages: 7, new: 2, near-duplicates: 2, revisits: 1, short: 2, skipped: 2\n"


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "pages.sqlite")


def stored(place: str) -> tuple[Header, list[Posting]]:
    with closing(SqliteStore(place, read_only=True)) as store:
        return store.header, list(store)


def test_pages_become_the_records_of_a_crawl_also_through_a_pipe(
    place: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("import", place, feed(tmp_path, PAGES), "--html-field", "html") == COUNTED
    detector = NearDuplicateDetector()
    for page in PAGES:
        if page.get("html"):
            detector.check(page["html"], page["url"], key=fingerprint(Request(page["url"])))
    assert isinstance(detector.store, SqliteStore)
    header, postings = stored(place)
    assert header == header_for(Config())
    expected = [one._replace(seen=0, is_delivered=True, history=None) for one in detector.store]
    assert [one._replace(seen=0, history=None) for one in postings] == expected
    assert cli.json("import", place, feed(tmp_path, PAGES), "--html-field", "html")["revisits"] == 5
    other = str(tmp_path / "other.sqlite")
    with Path(feed(tmp_path, PAGES)).open("rb") as lines:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(lines))
        assert cli("import", other, "--html-field", "html") == COUNTED
    assert [one._replace(seen=0, history=None) for one in stored(other)[1]] == expected


def test_text_and_times_are_read_from_named_fields(place: str, tmp_path: Path, cli: Cli) -> None:
    times = ["2026-09-21T14:13:20Z", 1_790_000_000.7, "1790000000", ""]
    pages = [
        {"link": f"https://example.com/{number}", "body": f"{TEXT} {number}\n\n<p>no markup</p>", "at": at}
        for number, at in enumerate(times)
    ]
    names = ["--text-field", "body", "--url-field", "link", "--time-field", "at"]
    cli("import", place, feed(tmp_path, pages), *names)
    _, postings = stored(place)
    assert [one.url for one in postings] == [page["link"] for page in pages]
    reading = NearDuplicateDetector().fingerprinter.read_document(plain_text(str(pages[0]["body"])))
    assert (postings[0].fingerprint, postings[0].page_hash) == (reading.fingerprint, reading.page_hash)
    *dated, undated = postings
    assert {one.seen for one in dated} == {1_790_000_000}
    assert undated.seen > 1_600_000_000, "the time of the import"


def test_pages_are_read_by_the_settings_of_the_store(place: str, tmp_path: Path, cli: Cli) -> None:
    arguments = ["import", place, feed(tmp_path, PAGES), "--html-field", "html"]
    cli(*arguments, "-s", "SIMHASH_SCOPE=host", "--set", "SIMHASH_MIN_SHINGLES=30")
    header, postings = stored(place)
    assert header == Header(SCHEME, scope="host", min_shingles=30)
    assert {one.scope for one in postings} == {"example.com"}
    its = Header(SCHEME, ClassicRule(9), scope="domain")
    other = str(tmp_path / "other.sqlite")
    SqliteStore(other, its).close()
    cli("import", other, *arguments[2:])
    header, postings = stored(other)
    assert header == its
    assert {(one.scope, one.fingerprint.sketch) for one in postings} == {("example.com", b"")}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"url": "http://\ud800"}, "'http://\\ud800' is not a URL: "),
        ({"html": True}, "the page is not text: its type is bool"),
        ({"at": "noon"}, "the field 'at' is not a number of seconds or a date like 2026-09-21T14:13:20Z"),
    ],
)
def test_a_broken_record_is_shown_by_its_line_and_the_others_are_stored(
    wrong: dict[str, Any], message: str, place: str, tmp_path: Path, cli: Cli
) -> None:
    source = feed(tmp_path, [PAGES[0], {**PAGES[0], **wrong}, PAGES[3]])
    status, said, errors = cli.ended("import", place, source, "--html-field", "html", "--time-field", "at")
    counted = "pages: 2, new: 2, near-duplicates: 0, revisits: 0, short: 0, broken: 1\n"
    assert (status, said) == (0, counted)
    assert errors.replace("\\\\", "\\").startswith(f"warning: {source}:2: {message}")
    assert len(stored(place)[1]) == 2
