"""Exceptions in hooks lose neither a page, nor its links, nor the end of the crawl."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse

from scrapy_simhash import Config, SimhashDownloaderMiddleware, names
from scrapy_simhash.crawl import listeners
from scrapy_simhash.crawling import Listener
from scrapy_simhash.observers.recrawl.recrawling import SimhashRecrawlMiddleware
from scrapy_simhash.page.site.profiles import SiteProfiles
from scrapy_simhash.store import Header
from tests.crawls.site import article
from tests.stand_in import simhash_stats, stand_in
from tests.store.remote import RemoteStore

URL = "https://example.com/a"


def fail(*_: Any) -> Any:
    raise ValueError("broken")


async def fail_later(*_: Any) -> Any:
    fail()


class Broken(Listener):
    """Raises in every hook."""

    request_sent = page_compared = staticmethod(fail)  # type: ignore[assignment]
    closing = staticmethod(fail_later)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[SimhashDownloaderMiddleware, Any]]:
    """Return a function that creates the middleware and crawler of a crawl with a listener."""

    def make(listener: type[Listener], **settings: Any) -> tuple[SimhashDownloaderMiddleware, Any]:
        monkeypatch.setattr(listeners, "LISTENERS", {"url_rules": f"{__name__}.{listener.__name__}"})
        crawler = stand_in(**{"url_rules": "observe", **settings})
        middleware = SimhashDownloaderMiddleware.from_crawler(crawler)
        crawler.signals.send_catch_log(signals.engine_started)
        return middleware, crawler

    return make


def page(*flags: str) -> HtmlResponse:
    headers = {b"If-None-Match": b"1", b"X-Other": b"1"}
    body = article(0).encode()
    return HtmlResponse(
        URL, body=body, encoding="utf-8", flags=flags, request=Request(URL, headers=cast("Any", headers))
    )


def test_a_page_is_compared_and_delivered_if_hooks_fail(made: Any, tmp_path: Path) -> None:
    for visit in range(2):
        middleware, crawler = made(Broken, store=str(tmp_path))
        response = page()
        request = cast("Request", response.request)
        assert asyncio.run(middleware.process_request(request)) is None
        assert middleware.process_response(request, response) is response
        assert request.meta[names.META_RESULT]["delivered"] is (True if visit else None)
        page_hash = request.meta[names.META_RESULT].verdict.page_hash
        middleware.detector.deliver(middleware._key_of(request), page_hash)
        asyncio.run(middleware._session._engine_stopped())
        assert simhash_stats(crawler)["errors/action"] == 3, "request_sent, page_compared, closing"


def test_errors_in_recrawling_lose_no_request_and_no_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawler = stand_in()
    middleware = SimhashRecrawlMiddleware(crawler, Config())
    assert SimhashRecrawlMiddleware.from_crawler(crawler) is middleware
    monkeypatch.setattr(middleware, "_prepare", fail_later)
    monkeypatch.setattr(middleware, "_answered", fail)
    response = page()
    request = cast("Request", response.request)
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
