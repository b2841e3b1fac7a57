"""An error in any step of the page path is counted and loses no page; tests/chaos.py has several at once."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.signalmanager import SignalManager
from scrapy.utils.request import RequestFingerprinter

from scrapy_simhash import Config, NearDuplicateDetector, PageFingerprinter, SimhashDownloaderMiddleware
from scrapy_simhash.crawl import downloader_middleware
from scrapy_simhash.crawling import Page
from scrapy_simhash.judge.policy import SimhashPolicy
from scrapy_simhash.observers.changes import ChangeReporter
from scrapy_simhash.observers.recrawl.middleware import SimhashRecrawlMiddleware
from scrapy_simhash.observers.report import Report
from scrapy_simhash.observers.url_rules.listener import UrlRuleListener
from scrapy_simhash.page.site import SiteProfiles
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.site import article
from tests.stand_in import simhash_stats, stand_in
from tests.store.remote import RemoteStore

URL = "https://example.com/"
#: Steps that may fail, from the request to the action, and at the end of the crawl.
STEPS: list[tuple[Any, str]] = [
    (UrlRuleListener, "request_sent"),
    (RequestFingerprinter, "fingerprint"),
    (PageFingerprinter, "read"),
    (NearDuplicateDetector, "conclude_async"),
    (SqliteStore, "claim"),
    (SimhashPolicy, "copy_action"),
    (Page, "protections"),
    (SimhashPolicy, "decide"),
    (downloader_middleware, "evidence"),
    (downloader_middleware, "write_result"),
    (downloader_middleware, "count_page"),
    (ChangeReporter, "page_compared"),
    (Report, "page_compared"),
    (UrlRuleListener, "page_compared"),
    (SimhashRecrawlMiddleware, "page_compared"),
    (SignalManager, "send_catch_log"),
]
#: Two copies of one page, and a page that is visited again.
PAGES = [("a", 0), ("b", 0), ("c", 1), ("a", 0), ("d", 1), ("c", 2)]


def answered(subject: SimhashDownloaderMiddleware, request: Request, response: Response) -> object:
    """Return the response for a request, None if the request is not sent."""

    async def sent() -> object:
        try:
            instead = await subject.process_request(request)
        except IgnoreRequest:
            return None
        if instead is not None:
            return None
        outcome = subject.process_response(request, response)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return asyncio.run(sent())


def crawl(folder: Path, broken: list[tuple[Any, str]]) -> dict[str, Any]:
    """Crawl with all features and errors in the *broken* steps after the first page; return the plugin's stats."""
    is_broken = False

    def breaking(original: Any) -> Any:
        def step(*arguments: Any, **keywords: Any) -> Any:
            if is_broken:
                raise RuntimeError("not today")
            return original(*arguments, **keywords)

        return step

    patches = [patch.object(owner, name, breaking(getattr(owner, name))) for owner, name in broken]
    for one in patches:
        one.start()
    try:
        crawler = stand_in(
            store=str(folder / "seen"),
            action="drop_items",
            report=str(folder / "report"),
            changes=str(folder / "changes"),
            url_rules="skip",
            recrawl={"": "always"},
        )
        crawler.engine = SimpleNamespace(crawl=lambda request: None)  # type: ignore[assignment]
        subject = SimhashDownloaderMiddleware.from_crawler(crawler)
        spider: Any = crawler.spider
        crawler.signals.send_catch_log(signals.spider_opened, spider=spider)
        for number, (path, text) in enumerate(PAGES):
            is_broken = number > 0
            request = Request(URL + path, meta={"is_start_request": False, "depth": 1})
            response = HtmlResponse(
                URL + path, body=article(text).encode(), encoding="utf-8", request=request
            )
            assert answered(subject, request, response) is response
        is_broken = False
        subject.spider_closed(spider)
        for listener in subject._listeners.all:
            if hasattr(listener, "spider_closed"):
                arguments = inspect.signature(listener.spider_closed).parameters
                closed = {"spider": spider, "reason": "finished"}
                listener.spider_closed(**{name: closed[name] for name in arguments})
        stats = simhash_stats(crawler)
        asyncio.run(subject._session._engine_stopped())
        return stats
    finally:
        for one in patches:
            one.stop()


def faults(stats: dict[str, Any]) -> int:
    return sum(number for name, number in stats.items() if name.startswith("errors/"))


def test_no_errors_are_counted_without_errors(tmp_path: Path) -> None:
    assert faults(crawl(tmp_path, [])) == 0


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[0].__name__.rpartition('.')[2]}.{step[1]}")
def test_an_error_in_a_step_is_counted_and_loses_no_page(step: tuple[Any, str], tmp_path: Path) -> None:
    assert faults(crawl(tmp_path, [step])) > 0


def fail(*_: Any) -> Any:
    raise ValueError("broken")


async def fail_later(*_: Any) -> Any:
    fail()


def test_errors_in_recrawling_lose_no_request_and_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = stand_in()
    middleware = SimhashRecrawlMiddleware(crawler, Config())
    assert SimhashRecrawlMiddleware.from_crawler(crawler) is middleware
    monkeypatch.setattr(middleware, "_prepare", fail_later)
    monkeypatch.setattr(middleware, "_answered", fail)
    request = Request(URL)
    response = HtmlResponse(URL, body=article(0).encode(), encoding="utf-8", request=request)
    asyncio.run(middleware.process_request(request))
    assert middleware.process_response(request, response) is response
    assert simhash_stats(crawler) == {"errors/action": 2}


class BrokenNotes(RemoteStore):
    """Raises an unexpected exception for notes, not StoreUnavailable."""

    note = replace_notes = staticmethod(fail_later)  # type: ignore[assignment]


def test_an_error_while_a_site_is_loaded_is_raised_once() -> None:
    async def loaded() -> list[object]:
        sites = SiteProfiles(BrokenNotes(Header()))
        return await asyncio.gather(*(sites.load(URL) for _ in range(3)), return_exceptions=True)

    assert [type(outcome) for outcome in asyncio.run(loaded())] == [ValueError, type(None), type(None)]
