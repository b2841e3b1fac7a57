"""The live view of a crawl, asked while the crawl runs, on every kind of event loop."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from scrapy_simhash.cli.report import Lines, survey
from scrapy_simhash.cli.streams import open_input
from tests.crawls.harness import IN_ORDER, WITHOUT_REACTOR, Crawl, crawl_one, scrapy
from tests.crawls.site import Routes, Site, article

PAGES: Routes = {"/": article(0), "/print": article(0), "/other": article(1), "/last?s=1": article(1)}
ASKED: dict[str, dict[str, Any]] = {
    "page": {"path": "/"},
    "data": {"path": "/data.json"},
    "again": {"path": "/", "headers": {"If-None-Match": '"4"'}},
    "missing": {"path": "/../../etc/passwd"},
    "rebound": {"path": "/data.json", "headers": {"Host": "evil.example:80"}},
    "posted": {"path": "/", "method": "POST"},
    "deleted": {"path": "/", "method": "DELETE"},
    "tunnel": {"path": "/data.json", "headers": {"Host": "localhost:9999"}},
}


class Looked(NamedTuple):
    crawl: Crawl
    url: str
    answers: dict[str, Any]
    report: Path


@pytest.fixture(scope="module", params=["asyncio", "select", WITHOUT_REACTOR])
def looked(request: pytest.FixtureRequest, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Looked:
    report = tmp_path_factory.mktemp("live") / "report.jsonl"
    done = crawl_one(
        "live_spiders.Looker",
        {**IN_ORDER, "SIMHASH_LIVE": "127.0.0.1:0", "SIMHASH_REPORT": str(report), "ROBOTSTXT_OBEY": False},
        reactor=request.param,
        urls=site.urls(*PAGES),
        asks=list(ASKED.values()),
    )
    url, *answers = done.notes
    return Looked(done, url, dict(zip(ASKED, answers, strict=True)), report)


def test_the_log_says_where_it_is_and_nothing_fails(looked: Looked) -> None:
    assert f"INFO [scrapy_simhash.view.live] Live view of this crawl: {looked.url}" in looked.crawl.log()
    assert looked.url.startswith("http://127.0.0.1:")
    assert looked.crawl.complaints == []
    assert len(looked.crawl.items) == len(PAGES)


def test_it_has_the_same_numbers_as_the_report(looked: Looked) -> None:
    with open_input(str(looked.report)) as given:
        lines = Lines(given, lambda _: None)
        expected = survey(lines, "report", "", lines)
    for key in ("source", "bad_lines"):
        del expected[key]
    # Tuples are lists in JSON.
    expected = json.loads(json.dumps(expected))
    assert looked.answers["data"]["body"] == {"source": {"kind": "crawl", "name": "looker"}, **expected}
    assert expected["status"] == {"new": 2, "near_duplicate": 2}


def test_it_shows_the_page_and_says_when_nothing_is_new(looked: Looked) -> None:
    answers = looked.answers
    assert answers["page"]["status"] == 200
    assert "The crawl is running." in answers["page"]["body"]
    assert answers["page"]["headers"]["ETag"] == '"4"'
    assert "script-src 'sha256-" in answers["page"]["headers"]["Content-Security-Policy"]
    assert (answers["again"]["status"], answers["again"]["body"]) == (304, "")


def test_it_answers_get_for_its_own_pages_and_its_own_names_only(looked: Looked) -> None:
    statuses = {name: answer["status"] for name, answer in looked.answers.items()}
    assert statuses == {
        "page": 200,
        "data": 200,
        "again": 304,
        "missing": 404,
        "rebound": 403,
        "posted": 501,
        "deleted": 501,
        "tunnel": 200,
    }
    assert "example" not in looked.answers["rebound"]["body"]


def test_it_ends_with_the_crawl(looked: Looked) -> None:
    place = urlsplit(looked.url)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((place.hostname or "", place.port or 0), timeout=5).close()


def test_who_looks_at_single_pages_has_none(site: Site, tmp_path: Path) -> None:
    arguments = ("-s", 'ADDONS={"scrapy_simhash.Addon": 500}', "-s", "SIMHASH_LIVE=127.0.0.1:0")
    done = scrapy("fetch", "--nolog", *arguments, site.url(), cwd=tmp_path)
    assert done.returncode == 0
    logged = scrapy("fetch", *arguments, site.url(), cwd=tmp_path)
    assert "Live view" not in logged.stderr
