"""Pages of a feed become the same postings as in a crawl."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
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
from tests.cli.conftest import Cli

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


def feed(folder: Path, pages: list[dict[str, Any]] = PAGES) -> str:
    """Write a feed and return its path."""
    path = folder / "pages.jsonl"
    path.write_text("".join(f"{json.dumps(page)}\n" for page in pages), "ascii")
    return str(path)


def postings(place: str) -> list[Posting]:
    with closing(SqliteStore(place, read_only=True)) as store:
        return list(store)


def header_of(place: str) -> Header:
    with closing(SqliteStore(place, read_only=True)) as store:
        return store.header


def test_pages_are_counted_by_what_became_of_them(place: str, tmp_path: Path, cli: Cli) -> None:
    arguments = [place, feed(tmp_path), "--html-field", "html"]
    assert cli("import", *arguments) == COUNTED
    assert json.loads(cli("import", *arguments, "--json")) == {
        "pages": 7,
        "new": 0,
        "near_duplicates": 0,
        "revisits": 5,
        "short": 2,
        "skipped": 2,
        "broken": 0,
        "profiles": 0,
    }


def test_a_page_is_known_by_its_request_and_read_as_the_detector_reads_it(
    place: str, tmp_path: Path, cli: Cli
) -> None:
    cli("import", place, feed(tmp_path), "--html-field", "html")
    detector = NearDuplicateDetector()
    for page in PAGES:
        if page.get("html"):
            detector.check(page["html"], page["url"], key=fingerprint(Request(page["url"])))
    assert isinstance(detector.store, SqliteStore)
    assert [one._replace(seen=0) for one in postings(place)] == [
        one._replace(seen=0, is_delivered=True) for one in detector.store
    ]
    assert header_of(place) == header_for(Config())


def test_a_feed_of_which_nothing_is_stored_makes_no_file(place: str, tmp_path: Path, cli: Cli) -> None:
    pages = [page for page in PAGES if not page.get("html")]
    large = {"url": "https://example.com/large", "html": FERRY}
    source = feed(tmp_path, [*pages, large])
    arguments = [place, source, "--html-field", "html", "--set", "SIMHASH_MAXSIZE=100"]
    assert cli("import", *arguments) == (
        "pages: 0, new: 0, near-duplicates: 0, revisits: 0, short: 0, skipped: 3\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["pages.jsonl"]
    feed(tmp_path, [*pages, large, PAGES[3]])
    cli("import", *arguments[:-2])
    assert [one.url for one in postings(place)] == [large["url"], PAGES[3]["url"]]


def test_plain_text_is_read_as_such(place: str, tmp_path: Path, cli: Cli) -> None:
    pages = [{"link": "https://example.com/", "body": f"{TEXT}\n\n<p>no markup</p>"}]
    cli("import", place, feed(tmp_path, pages), "--text-field", "body", "--url-field", "link")
    reading = NearDuplicateDetector().fingerprinter.read_document(plain_text(pages[0]["body"]))
    (one,) = postings(place)
    assert (one.url, one.fingerprint, one.page_hash) == (
        pages[0]["link"],
        reading.fingerprint,
        reading.page_hash,
    )


def test_a_field_may_say_when_a_page_was_fetched(place: str, tmp_path: Path, cli: Cli) -> None:
    times = ["2026-09-21T14:13:20Z", 1_790_000_000.7, "1790000000"]
    pages = [{**page, "at": at} for page, at in zip(PAGES[:2] + PAGES[3:4], times, strict=True)]
    arguments = [feed(tmp_path, [*pages, {**PAGES[4], "at": ""}]), "--html-field", "html"]
    cli("import", place, *arguments, "--time-field", "at")
    *dated, undated = postings(place)
    assert {one.seen for one in dated} == {1_790_000_000}
    assert undated.seen > 1_600_000_000, "it was now"


def test_a_feed_may_come_through_a_pipe(place: str) -> None:
    command = [sys.executable, "-m", "scrapy_simhash", "import", place, "--html-field", "html"]
    lines = "".join(f"{json.dumps(page)}\n" for page in PAGES)
    done = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", check=True)
    assert (done.stdout, done.stderr) == (COUNTED, "")


# --- Settings.


def test_a_new_store_is_for_the_settings_that_are_given(place: str, tmp_path: Path, cli: Cli) -> None:
    arguments = [place, feed(tmp_path), "--html-field", "html"]
    cli("import", *arguments, "-s", "SIMHASH_SCOPE=host", "--set", "SIMHASH_MIN_SHINGLES=30")
    assert header_of(place) == Header(SCHEME, scope="host", min_shingles=30)
    assert {one.scope for one in postings(place)} == {"example.com"}


def test_a_store_that_is_there_says_how_pages_are_read(place: str, tmp_path: Path, cli: Cli) -> None:
    its = Header(SCHEME, ClassicRule(9), scope="domain", mask_digits=True)
    SqliteStore(place, its).close()
    cli("import", place, feed(tmp_path), "--html-field", "html")
    assert header_of(place) == its
    assert not any(one.fingerprint.sketch for one in postings(place))
    assert {one.scope for one in postings(place)} == {"example.com"}
    complaint = cli.fails(
        "import", place, feed(tmp_path), "--html-field", "html", "-s", "SIMHASH_SCOPE=host"
    )[1]
    assert "SIMHASH_SCOPE is 'domain' there, 'host' here. Nothing was changed" in complaint


def test_a_setting_without_effect_is_warned_of_and_stops_nothing(
    place: str, tmp_path: Path, cli: Cli
) -> None:
    arguments = [place, feed(tmp_path), "--html-field", "html"]
    status, _, warned = cli.ended("import", *arguments, "-s", "SIMHASH_ITEM_KEY=url")
    assert (status, warned) == (
        0,
        "warning: SIMHASH_ITEM_KEY (url) has no effect without SIMHASH_ITEM_FIELDS:"
        " set SIMHASH_ITEM_FIELDS = ['title', 'body']\n",
    )
    assert header_of(place) == Header(SCHEME)


# --- What is wrong.


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"url": "http://\ud800"}, "'http://\\ud800' is not a URL: "),
        ({"html": True}, "the field 'html' is true or false, not a text"),
        ({"at": "noon"}, "the field 'at' is not a number of seconds or a date like 2026-09-21T14:13:20Z"),
    ],
)
def test_a_broken_record_is_told_by_its_line_and_the_others_are_taken(
    wrong: dict[str, Any], message: str, place: str, tmp_path: Path, cli: Cli
) -> None:
    source = feed(tmp_path, [PAGES[0], {**PAGES[0], **wrong}, PAGES[3]])
    arguments = ["import", place, source, "--html-field", "html", "--time-field", "at"]
    status, said, complaint = cli.ended(*arguments)
    counted = "pages: 2, new: 2, near-duplicates: 0, revisits: 0, short: 0, broken: 1\n"
    assert (status, said) == (0, counted)
    assert complaint.replace("\\\\", "\\").startswith(f"warning: {source}:2: {message}")
    assert len(postings(place)) == 2


def test_of_many_broken_records_ten_are_told(place: str, tmp_path: Path, cli: Cli) -> None:
    source = Path(feed(tmp_path, PAGES[:1]))
    source.write_text(source.read_text("utf-8") + "nonsense\n" * 12, "utf-8")
    _, said, warned = cli.ended("import", place, source)
    assert said.endswith("short: 0, broken: 12\n")
    assert warned.splitlines() == [
        *(f"warning: {source}:{number}: not JSON" for number in range(2, 12)),
        "warning: 2 more records could not be read",
    ]
    told = cli.ended("dedup", source)[2].splitlines()
    assert told[10] == "warning: 2 more records could not be read; --broken FILE writes all of them"


def test_what_pages_of_a_site_repeat_is_learned_and_kept(place: str, tmp_path: Path, cli: Cli) -> None:
    header = "".join(
        f"<p>On the quay number {number} there are boats for sale every day." for number in range(9)
    )
    pages = [
        {"url": f"https://example.com/{name}", "html": f"<title>{name}</title>{header}<p>{name} {TEXT[at:]}"}
        for at, name in enumerate("ABCDEFGHIJKLMNOP")
    ]
    cli("import", place, feed(tmp_path, pages))
    (host,) = cli.json("learned", place)["sites"]
    detector = NearDuplicateDetector()
    for page in pages:
        detector.check(page["html"], page["url"])
    assert detector.sites is not None
    assert (host["host"], host["pages"]) == ("example.com", len(pages))
    assert host["title_keys"] == detector.sites.of(pages[0]["url"]).subjects
