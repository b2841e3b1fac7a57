"""What takes much of the event loop's time is counted, and the slowest page is named."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse

from scrapy_simhash import SimhashDownloaderMiddleware, names
from scrapy_simhash.crawl import downloader_middleware
from scrapy_simhash.crawl.downloader_middleware import BUDGET
from tests.crawls.site import article
from tests.stand_in import read_in_threads, stand_in

URL = "https://example.com/"
Way = Callable[[], AbstractContextManager[Any]]


class Clock:
    """A clock that stands still but where it is told to go on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(downloader_middleware, "perf_counter", clock)
    return clock


def visit(subject: SimhashDownloaderMiddleware, url: str, body: str) -> None:
    response = HtmlResponse(url, body=body.encode(), encoding="utf-8")
    done = subject.process_response(Request(url), response)
    if asyncio.iscoroutine(done):
        asyncio.run(done)


def slow_pages(subject: SimhashDownloaderMiddleware) -> Any:
    return cast("Any", subject.crawler.stats).get_value(names.STAT_SLOW_PAGES, 0)


def delay(clock: Clock, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, seconds: float) -> None:
    """Let the clock go on by *seconds* whenever the function *name* is called."""
    real = getattr(where, name)

    def late(*arguments: Any, **named: Any) -> Any:
        clock.now += seconds
        return real(*arguments, **named)

    monkeypatch.setattr(where, name, late)


@pytest.mark.parametrize(
    ("name", "way", "counts"),
    [
        ("read", nullcontext, True),
        ("conclude_async", nullcontext, True),
        # A large page is read in a thread.
        ("read", read_in_threads, False),
    ],
)
def test_a_page_that_takes_long_on_the_event_loop_is_counted(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, name: str, way: Way, counts: bool
) -> None:
    subject = SimhashDownloaderMiddleware.from_crawler(stand_in())
    visit(subject, URL, article(0))
    delay(clock, monkeypatch, subject.detector, name, BUDGET + 0.001)
    with way():
        visit(subject, URL + "slow", article(1))
    assert slow_pages(subject) == counts


def test_the_slowest_is_named_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    subject = SimhashDownloaderMiddleware.from_crawler(stand_in())
    spider = Spider("stand-in")
    with caplog.at_level(logging.INFO):
        subject.spider_closed(spider)
        assert "event loop" not in caplog.text
        for path, seconds in (("a", 0.06), ("b", 1.5), ("c", 0.07)):
            subject._note_slow(URL + path, seconds)
        subject.spider_closed(spider)
    assert caplog.messages[-1] == (
        "Pages that took more than 50 ms of the event loop: 3 (stat simhash/slow_pages); the slowest took 1500 ms:"
        " https://example.com/b"
    )
