"""The guard: what it counts, what it refuses, and that no fault of its costs a page."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import Config, PageFingerprinter, Verdict
from scrapy_simhash.crawl import flood_guard as module
from scrapy_simhash.crawl.flood_guard import FloodGuard
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.signals import flood_found
from scrapy_simhash.verdict import Reason, Status
from tests.stand_in import simhash_stats, stand_in

READING = Reading(None, 1)
SILENT = Reading(None, None)
BODY = b"<p>The office is on the second floor of the old mill.</p>"


class Crawl:
    """A crawl that is made by hand, page by page."""

    def __init__(self, *, is_crawling: bool = True, **settings: Any) -> None:
        self.crawler = stand_in(is_crawling=is_crawling, **{"flood_size": 5, **settings})
        config = Config.from_settings(self.crawler.settings)
        self.guard = FloodGuard(self.crawler, config, PageFingerprinter(config))
        self.floods: list[Any] = []
        self.crawler.signals.connect(self.heard, signal=flood_found)

    def heard(self, flood: Any) -> None:
        self.floods.append(flood)

    def get(
        self,
        url: str,
        verdict: Verdict | None = None,
        reading: Reading | None = READING,
        *,
        body: bytes = BODY,
        **keywords: Any,
    ) -> None:
        verdict = verdict or Verdict(Status.NEAR_DUPLICATE, duplicate_of="http://example.com/", cluster=0)
        self.guard.note_verdict(verdict, reading, Request(url, **keywords), HtmlResponse(url, body=body))

    def get_days(self, *numbers: int, **keywords: Any) -> None:
        for number in numbers:
            self.get(day(number), **keywords)

    def refuses(self, url: str, **keywords: Any) -> bool:
        return self.guard.refuses(Request(url, **keywords))

    @property
    def stats(self) -> dict[str, Any]:
        return simhash_stats(self.crawler)


def day(number: int) -> str:
    return f"http://example.com/day/{number}"


def test_a_flood_is_counted_and_told() -> None:
    crawl = Crawl()
    crawl.get_days(*range(7))
    assert crawl.stats == {"flood/trap": 1}
    assert [flood.size for flood in crawl.floods] == [5]
    assert [flood.size for flood in crawl.guard.floods] == [7]


@pytest.mark.parametrize(
    ("size", "expected"), [(module.LARGEST_TOLD, "captcha"), (module.LARGEST_TOLD + 1, "trap")]
)
def test_the_text_of_a_large_page_is_not_read_again(size: int, expected: str) -> None:
    crawl = Crawl()
    crawl.get_days(*range(5), body=b"<h1>I am not a robot</h1>".ljust(size))
    assert crawl.stats == {f"flood/{expected}": 1}


def test_nothing_is_refused_unless_patterns_are_to_be_stopped() -> None:
    for action in ("report", "close_spider"):
        crawl = Crawl(flood_action=action)
        crawl.get_days(*range(7))
        assert not crawl.refuses(day(9))


def test_requests_of_a_stopped_pattern_are_refused_and_counted() -> None:
    crawl = Crawl(flood_action="stop_pattern")
    crawl.get_days(*range(8))
    assert not crawl.refuses(day(9))
    crawl.get_days(8)
    assert crawl.refuses(day(9))
    assert not crawl.refuses("http://example.com/day/nine")
    assert not crawl.refuses("http://other.example/day/9")
    assert crawl.stats == {"flood/trap": 1, "requests_refused": 1}


@pytest.mark.parametrize(
    "keywords",
    [
        {"method": "POST"},
        {"callback": NO_CALLBACK},
        {"meta": {"simhash": False}},
        {"meta": {"is_start_request": True}},
    ],
)
def test_what_is_never_refused(keywords: dict[str, Any]) -> None:
    crawl = Crawl(flood_action="stop_pattern")
    crawl.get_days(*range(9))
    assert crawl.refuses(day(9))
    assert not crawl.refuses(day(9), **keywords)


def test_a_request_that_only_carries_the_meta_of_a_start_page_is_refused() -> None:
    crawl = Crawl(flood_action="stop_pattern")
    crawl.get_days(*range(9))
    assert not crawl.refuses(day(9), meta={"is_start_request": True, "depth": 0})
    assert crawl.refuses(day(9), meta={"is_start_request": True, "depth": 1})


def test_who_looks_at_single_pages_is_left_alone() -> None:
    crawl = Crawl(is_crawling=False, flood_action="stop_pattern", flood_probe=True)
    crawl.get_days(*range(9))
    assert not crawl.refuses(day(9))
    assert crawl.guard.hints(READING, Request(day(1)), HtmlResponse(day(1))) == ()
    assert (crawl.stats, crawl.guard.floods) == ({}, [])


def test_a_post_is_no_page_under_one_more_address() -> None:
    crawl = Crawl()
    crawl.get_days(*range(9), method="POST")
    assert crawl.floods == []


def test_a_revisit_counts_if_the_visit_before_was_in_an_earlier_crawl() -> None:
    crawl = Crawl()
    crawl.get_days(*range(9), verdict=Verdict(Status.REVISIT, cluster=0, last_seen=int(time.time()) + 1))
    assert crawl.floods == []
    crawl.get_days(*range(9), verdict=Verdict(Status.REVISIT, cluster=0, last_seen=1_700_000_000))
    assert len(crawl.floods) == 1


def test_a_page_that_could_not_be_judged_belongs_to_no_flood() -> None:
    crawl = Crawl()
    crawl.get_days(*range(9), verdict=Verdict(Status.UNKNOWN), reading=None)
    crawl.get_days(*range(9), verdict=Verdict(Status.SKIPPED, reason=Reason.NOT_HTML), reading=None)
    assert crawl.floods == []


def test_pages_without_text_are_a_flood_only_if_they_are_shells() -> None:
    nothing = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
    crawl = Crawl()
    crawl.get_days(*range(20), verdict=nothing, reading=SILENT, body=b"<img src='/1.jpg'>")
    assert crawl.floods == []
    # Too short, but each says something else.
    crawl.get_days(*range(20, 40), verdict=nothing, reading=READING, body=b"<p>One two three</p>")
    assert crawl.floods == []
    crawl = Crawl()
    crawl.get_days(*range(5), verdict=nothing, reading=SILENT, body=b"<div id='app'></div><script></script>")
    assert crawl.stats == {"flood/empty_shell": 1}


def test_files_keep_their_pattern_from_being_stopped() -> None:
    crawl = Crawl(flood_action="stop_pattern")
    crawl.get(day(100), Verdict(Status.SKIPPED, reason=Reason.NOT_HTML), None)
    crawl.get_days(*range(10))
    assert not crawl.refuses(day(9))
    crawl.get_days(*range(10, 30))
    assert crawl.refuses(day(9))


def test_few_floods_are_warned_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WARNINGS", 2)
    caplog.set_level("DEBUG", "scrapy_simhash")
    crawl = Crawl()
    for cluster in range(4):
        verdict = Verdict(Status.NEAR_DUPLICATE, duplicate_of="http://example.com/", cluster=cluster)
        crawl.get_days(*range(5), verdict=verdict)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "DEBUG", "DEBUG"]
    assert "further floods are logged at level DEBUG" in caplog.records[1].getMessage()
    assert crawl.stats == {"flood/trap": 4}


class Unreadable(HtmlResponse):
    @property
    def selector(self) -> Any:
        raise RuntimeError("no selector today")


def test_a_fault_of_ours_costs_a_stat_and_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "scrapy_simhash")
    crawl = Crawl(flood_action="stop_pattern", flood_probe=True)
    crawl.get_days(*range(4))
    verdict = Verdict(Status.NEAR_DUPLICATE, duplicate_of=day(0), cluster=0)
    for number in (4, 5):
        crawl.guard.note_verdict(verdict, READING, Request(day(number)), Unreadable(day(number)))
    assert crawl.guard.hints(READING, Request(day(6)), cast("Response", SimpleNamespace())) == ()
    crawl.get_days(*range(6, 20))
    assert crawl.refuses(day(99))
    assert not crawl.guard.refuses(cast("Request", SimpleNamespace()))
    assert crawl.stats == {"consequence_errors": 4, "flood/trap": 1, "requests_refused": 1}
    levels = [record.levelname for record in caplog.records if record.exc_info]
    assert levels == ["WARNING", "DEBUG", "DEBUG", "DEBUG"]
