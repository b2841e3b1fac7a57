"""Hooks that raise: neither the page, nor what it leads to, nor the end of the crawl is lost by it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import Config, SimhashDownloaderMiddleware, names
from scrapy_simhash.crawl import listeners
from scrapy_simhash.crawling import Listener
from scrapy_simhash.observers.links import SimhashLinksMiddleware
from scrapy_simhash.observers.recrawl.answers import TOGETHER, Answer, AnswerBook
from scrapy_simhash.observers.recrawl.recrawling import Recrawling, SimhashValidatorsMiddleware
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
    """Fails at every hook."""

    request_sent = page_compared = staticmethod(fail)  # type: ignore[assignment]
    without_page = found = started = reader_of = failed = staticmethod(fail)
    closing = staticmethod(fail_later)


class Idle(Listener):
    """Does nothing."""


class BrokenReader(Listener):
    """Fails at each request of a callback, and at its end."""

    def reader_of(self, response: Response) -> Any:
        return fail, fail


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[SimhashDownloaderMiddleware, Any]]:
    """Return what makes the middleware and the crawler of a crawl with a listener."""

    def make(listener: type[Listener], **settings: Any) -> tuple[SimhashDownloaderMiddleware, Any]:
        monkeypatch.setattr(listeners, "LISTENERS", {"url_rules": f"{__name__}.{listener.__name__}"})
        crawler = stand_in(**settings)
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


def test_a_page_is_judged_and_delivered_whatever_hooks_fail(made: Any, tmp_path: Path) -> None:
    for visit in range(2):
        middleware, crawler = made(Broken, store=str(tmp_path))
        response = page()
        request = cast("Request", response.request)
        assert asyncio.run(middleware.process_request(request)) is None
        assert middleware.process_response(request, response) is response
        assert request.meta[names.META_RESULT]["delivered"] is (True if visit else None)
        page_hash = request.meta[names.META_RESULT].text.page_hash
        middleware._session.note_delivered(middleware._key_of(request), page_hash)
        asyncio.run(middleware._session._engine_stopped())
        hooks = ["request_sent", "without_page", "page_compared", "closing"] + ["found"] * visit
        assert simhash_stats(crawler)["errors/action"] == len(hooks)


def test_a_304_that_nobody_can_explain_is_fetched_in_full(made: Any) -> None:
    middleware, _ = made(Broken)
    response = page(names.FLAG_NOT_MODIFIED)
    again = middleware.process_response(cast("Request", response.request), response)
    assert isinstance(again, Request)
    assert (again.meta[names.META], again.dont_filter) == (False, True)
    assert list(again.headers) == [b"X-Other"]


@pytest.mark.parametrize(("listener", "errors"), [(Broken, 2), (BrokenReader, 2)])
def test_what_a_page_leads_to_passes_hooks_that_fail(
    made: Any, listener: type[Listener], errors: int
) -> None:
    _, crawler = made(listener)
    links = SimhashLinksMiddleware.from_crawler(crawler)
    yielded = [Request(URL), {"an": "item"}]
    if listener is Broken:
        assert links.get_processed_request(cast("Request", yielded[0]), None) is yielded[0]
    assert list(links.process_spider_output(page(), yielded)) == yielded
    assert simhash_stats(crawler)["errors/action"] == errors


def test_a_store_is_let_go_of_whatever_fails_at_the_end(made: Any, tmp_path: Path) -> None:
    middleware, crawler = made(Idle, store=str(tmp_path))
    middleware.detector.flush_async = fail_later
    asyncio.run(middleware._session._engine_stopped())
    assert simhash_stats(crawler) == {"errors/action": 1}
    middleware, _ = made(Idle, store=str(tmp_path))
    asyncio.run(middleware._session._engine_stopped())


def test_a_304_is_fetched_in_full_if_nobody_knows_whether_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawler = stand_in()
    recrawling = Recrawling(crawler, Config(conditional=True))
    recrawling.store_opened(cast("Any", RemoteStore(Header())))
    assert asyncio.run(recrawling.request_sent(Request(URL))) is None
    vars(crawler)["_simhash_shared"] = {Recrawling: recrawling}
    validators = SimhashValidatorsMiddleware.from_crawler(crawler)
    monkeypatch.setattr(recrawling, "hear", fail)
    monkeypatch.setattr(recrawling, "add_headers", fail)
    response = page()
    request = cast("Request", response.request)
    validators.process_request(request)
    assert validators.process_response(request, response) is response
    assert isinstance(validators.process_response(request, response.replace(status=304)), Request)
    validators.process_exception(request, ValueError())
    assert simhash_stats(crawler) == {"errors/action": 4}


class BrokenNotes(RemoteStore):
    """Fails at notes, in another way than by being away."""

    note = replace_notes = staticmethod(fail_later)  # type: ignore[assignment]


def test_what_fails_while_answers_are_told_is_raised_with_the_next_ones() -> None:
    async def put(book: AnswerBook) -> None:
        for number in range(TOGETHER):
            book.put(bytes([number]), Answer(0, 0), b"")
        await asyncio.sleep(0)

    async def told() -> None:
        book = AnswerBook(BrokenNotes(Header()))
        await put(book)
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="broken"):
            await put(book)
        with pytest.raises(ValueError, match="broken"):
            await book.finish()

    asyncio.run(told())


def test_what_fails_while_a_site_is_loaded_is_raised_once() -> None:
    async def loaded() -> list[object]:
        sites = SiteProfiles(BrokenNotes(Header()))
        return await asyncio.gather(*(sites.load(URL) for _ in range(3)), return_exceptions=True)

    assert [type(outcome) for outcome in asyncio.run(loaded())] == [ValueError, type(None), type(None)]
