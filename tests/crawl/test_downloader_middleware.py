"""The downloader middleware, response by response; real crawls are in tests/crawls/."""

import asyncio
import inspect
import logging
from collections.abc import Coroutine
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response

from scrapy_simhash import (
    PageFingerprinter,
    SimhashDownloaderMiddleware,
    names,
)
from tests.crawls.site import article
from tests.stand_in import read_in_threads, simhash_stats, stand_in

URL = "https://example.com/"


def middleware(**settings: Any) -> SimhashDownloaderMiddleware:
    return SimhashDownloaderMiddleware.from_crawler(stand_in(**settings))


def page(path: str = "a", body: str | None = None, **arguments: Any) -> HtmlResponse:
    text = article() if body is None else body
    return HtmlResponse(URL + path, body=text.encode(), encoding="utf-8", **arguments)


def marks_of(request: Request) -> dict[str, Any]:
    """Return the result without values that are None."""
    result = request.meta.get("simhash_result", {})
    return {name: value for name, value in result.items() if value not in (None, [])}


def judged(subject: SimhashDownloaderMiddleware, response: Response, **arguments: Any) -> dict[str, Any]:
    request = Request(response.url, **arguments)
    assert subject.process_response(request, response) is response
    return marks_of(request)


def waiting(
    subject: SimhashDownloaderMiddleware, request: Request, response: Response
) -> Coroutine[Any, Any, Response]:
    """Return the middleware's result for a page that is read in a thread."""
    with read_in_threads():
        outcome = subject.process_response(request, response)
    assert inspect.iscoroutine(outcome)
    return outcome


def judged_in_thread(
    subject: SimhashDownloaderMiddleware, response: Response, **arguments: Any
) -> dict[str, Any]:
    """Return the result that *response* gets, read in a thread."""
    request = Request(response.url, **arguments)
    assert asyncio.run(waiting(subject, request, response)) is response
    return marks_of(request)


@pytest.mark.parametrize(("value", "reason"), [(False, "opted_out"), (True, None), (None, None), (0, None)])
def test_only_false_excludes_a_page(value: object, reason: str | None) -> None:
    assert judged(middleware(), page(), meta={"simhash": value}).get("reason") == reason


ERRORS = [RuntimeError, RecursionError, MemoryError, KeyError, UnicodeError, StopIteration]


@pytest.mark.parametrize("error", ERRORS)
def test_any_error_of_the_plugin_gives_an_unknown_page(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise error("no verdict today")

    monkeypatch.setattr(PageFingerprinter, "read", fail)
    subject = middleware()
    with caplog.at_level(logging.DEBUG, "scrapy_simhash"):
        for judge in (judged, judged_in_thread):
            assert judge(subject, page()) == {"status": "unknown"}
    assert simhash_stats(subject.crawler) == {"errors/compare": 2}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG"]


def test_results_set_while_the_page_was_read_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    request, really_read = Request(URL), PageFingerprinter.read

    def read(fingerprinter: PageFingerprinter, *arguments: Any, **keywords: Any) -> Any:
        request.meta[names.META_RESULT] = "of another visit"
        return really_read(fingerprinter, *arguments, **keywords)

    monkeypatch.setattr(PageFingerprinter, "read", read)
    asyncio.run(waiting(middleware(), request, page()))
    assert request.meta["simhash_result"]["status"] == "new"
    assert "of another visit" not in request.meta.values()


def test_settings_that_are_unknown_or_without_effect_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    crawler = stand_in(acton="drop_items", item_key="id")
    SimhashDownloaderMiddleware.from_crawler(crawler).spider_opened(Spider("stand-in"))
    assert "SIMHASH_ACTON (drop_items) is not a setting of scrapy-simhash; did you mean" in caplog.text
    assert "SIMHASH_ITEM_KEY (id) has no effect without SIMHASH_ITEM_FIELDS" in caplog.text
