"""The marking middleware, response by response; real crawls are in tests/crawls/."""

import asyncio
import inspect
import logging
from collections.abc import Coroutine
from pathlib import Path
from threading import get_ident
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.signalmanager import SignalManager

from scrapy_simhash import (
    NearDuplicateDetector,
    PageFingerprinter,
    SettingError,
    SimhashDownloaderMiddleware,
    Status,
    Verdict,
    names,
)
from scrapy_simhash.crawl import downloader_middleware, reader
from scrapy_simhash.observers.report import Report
from scrapy_simhash.observers.url_rules.listener import UrlRuleListener
from tests.crawls.site import article
from tests.stand_in import read_in_threads, simhash_stats, stand_in

URL = "https://example.com/"


def middleware(**settings: Any) -> SimhashDownloaderMiddleware:
    return SimhashDownloaderMiddleware.from_crawler(stand_in(**settings))


def page(path: str = "a", body: str | None = None, **arguments: Any) -> HtmlResponse:
    text = article() if body is None else body
    return HtmlResponse(URL + path, body=text.encode(), encoding="utf-8", **arguments)


def marks_of(request: Request) -> dict[str, Any]:
    """Return what the result says, without what is None."""
    result = request.meta.get("simhash_result", {})
    return {name: value for name, value in result.items() if value not in (None, [])}


def judged(subject: SimhashDownloaderMiddleware, response: Response, **arguments: Any) -> dict[str, Any]:
    """Return the marks that *response* gets."""
    request = Request(response.url, **arguments)
    assert subject.process_response(request, response) is response
    return marks_of(request)


def waiting(
    subject: SimhashDownloaderMiddleware, request: Request, response: Response
) -> Coroutine[Any, Any, Response]:
    """Return what Scrapy gets for a page that is to be read in a thread."""
    with read_in_threads():
        outcome = subject.process_response(request, response)
    assert inspect.iscoroutine(outcome)
    return outcome


def judged_in_thread(
    subject: SimhashDownloaderMiddleware, response: Response, **arguments: Any
) -> dict[str, Any]:
    """Return the marks that *response* gets, read in a thread."""
    request = Request(response.url, **arguments)
    assert asyncio.run(waiting(subject, request, response)) is response
    return marks_of(request)


SKIPPED: list[tuple[Response, str]] = [
    (Response(URL, body=b"data"), "not_html"),
    (TextResponse(URL, body=b"text"), "not_html"),
    (XmlResponse(URL, body=b"<a/>"), "not_html"),
    (page(status=404), "status"),
    (page(status=302), "status"),
    (page(status=199), "status"),
    (page(flags=["dataloss"]), "truncated"),
    (page(flags=["cached", "download_stopped"]), "truncated"),
    (page(body="<p>" + "x" * 10_001), "too_large"),
]


@pytest.mark.parametrize(
    ("response", "reason"), [*SKIPPED, (Response(URL), "not_html"), (page(body=""), "short_text")]
)
def test_what_is_no_page_is_skipped_with_a_reason(response: Response, reason: str) -> None:
    subject = middleware(maxsize=10_000)
    assert judged(subject, response) == {"status": "skipped", "reason": reason}
    assert simhash_stats(subject.crawler) == {f"skipped/{reason}": 1}


CAPTION = "<title>The loft</title><p>The loft in the rain."


def test_a_short_page_that_says_what_another_says_is_marked_as_a_near_duplicate() -> None:
    subject = middleware()
    assert judged(subject, page("a", CAPTION)) == {"status": "skipped", "reason": "short_text"}
    copy = page("b", CAPTION)
    assert judged(subject, copy) == {
        "status": "near_duplicate",
        "reason": "short_text",
        "duplicate_of": URL + "a",
        "distance": 0,
        "similarity": 1.0,
        "cluster": 0,
        "exact": True,
        "contradicts": False,
        "rank": 1,
        "action": "mark",
    }
    assert copy.flags == ["near-duplicate"]
    assert judged(subject, page("c", CAPTION.replace("rain", "snow")))["status"] == "skipped"
    assert simhash_stats(subject.crawler) == {
        "skipped/short_text": 2,
        "processed": 1,
        "near_duplicates": 1,
        "near_duplicates/exact": 1,
        "index_size": 0,
    }


def test_meta_says_how_alike_two_pages_are_to_three_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    for similarity, written in ((0.87654321, 0.877), (1.0, 1.0), (0.0, 0.0)):
        verdict = Verdict(Status.NEAR_DUPLICATE, None, URL, 7, similarity, 0)
        monkeypatch.setattr(NearDuplicateDetector, "conclude_async", AsyncMock(return_value=verdict))
        marks = judged(middleware(), page())
        assert marks["similarity"] == written
        assert marks["distance"] == 7


@pytest.mark.parametrize("flags", [["partial"], ["cached"], ["near-duplicate"]])
def test_other_flags_are_no_reason_to_skip(flags: list[str]) -> None:
    assert judged(middleware(), page(flags=flags))["status"] == "new"


def test_a_page_of_the_largest_size_is_judged_and_zero_is_no_limit() -> None:
    size = len(page().body)
    assert judged(middleware(maxsize=size), page())["status"] == "new"
    assert judged(middleware(maxsize=size - 1), page())["reason"] == "too_large"
    assert judged(middleware(maxsize=0), page())["status"] == "new"


def test_nothing_is_written_of_a_response_that_is_nobodys_page() -> None:
    subject = middleware()
    assert judged(subject, page(), callback=NO_CALLBACK, meta={}) == {}
    assert simhash_stats(subject.crawler) == {}


@pytest.mark.parametrize(("value", "reason"), [(False, "opted_out"), (True, None), (None, None), (0, None)])
def test_only_false_opts_out(value: object, reason: str | None) -> None:
    assert judged(middleware(), page(), meta={"simhash": value}).get("reason") == reason


@pytest.mark.parametrize("callback", [NO_CALLBACK, None])
@pytest.mark.parametrize("response", [page(), page(status=500), Response(URL)])
def test_marks_that_a_request_came_with_are_gone(response: Response, callback: Any) -> None:
    request = Request(response.url, callback=callback, meta=dict.fromkeys(names.META_OUT, "stale"))
    middleware().process_response(request, response)
    assert "stale" not in request.meta.values()


def test_the_same_url_by_another_method_is_another_page() -> None:
    subject = middleware()
    assert judged(subject, page())["status"] == "new"
    assert judged(subject, page(), method="POST", body="q=1")["status"] == "near_duplicate"
    assert judged(subject, page(), method="POST", body="q=1")["status"] == "revisit"


def test_the_tree_is_read_only_and_is_the_one_that_the_spider_gets() -> None:
    response = page(body="<html><body><nav>x</nav><script>y</script><!-- z -->" + article())
    root, before = response.selector.root, response.selector.get()
    judged(middleware(), response)
    assert response.selector.root is root
    assert response.selector.get() == before


ERRORS = [RuntimeError, RecursionError, MemoryError, KeyError, UnicodeError, StopIteration]


@pytest.mark.parametrize("error", ERRORS)
def test_any_error_of_ours_gives_an_unknown_page(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise error("no verdict today")

    monkeypatch.setattr(NearDuplicateDetector, "conclude_async", fail)
    subject = middleware()
    with caplog.at_level(logging.DEBUG, "scrapy_simhash"):
        assert [judged(subject, page(path)) for path in "ab"] == [{"status": "unknown"}] * 2
    assert simhash_stats(subject.crawler) == {"errors/compare": 2}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG"]


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (downloader_middleware, "write_result"),
        (downloader_middleware, "count_page"),
        (Report, "page_compared"),
        (SignalManager, "send_catch_log"),
        (UrlRuleListener, "page_compared"),
    ],
)
def test_an_error_after_the_verdict_costs_no_page(
    owner: Any, step: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    original, is_broken = getattr(owner, step), False

    def fail(*arguments: object, **keywords: object) -> object:
        if is_broken:
            raise RuntimeError("not today")
        return original(*arguments, **keywords)

    monkeypatch.setattr(owner, step, fail)
    subject = middleware(
        action="drop_items", protect=[], report=str(tmp_path / "report"), url_rules="observe"
    )
    judged(subject, page("a"))
    is_broken = True
    with caplog.at_level(logging.DEBUG, "scrapy_simhash"):
        marks = [judged(subject, page(path)) for path in "bc"]
    assert simhash_stats(subject.crawler)["errors/action"] == 2
    assert [record.levelname for record in caplog.records if record.exc_info] == ["WARNING", "DEBUG"]
    assert sum("action" in one for one in marks) in (0, 2)
    is_broken = False
    assert subject.crawler.spider is not None
    subject.spider_closed(subject.crawler.spider)
    for listener in subject._listeners._listeners:
        if isinstance(listener, Report):
            listener.spider_closed()


def test_a_request_fingerprinter_that_fails_costs_no_page() -> None:
    subject = middleware()
    with patch.object(subject, "_key_of", side_effect=RuntimeError):
        assert judged(subject, page()) == {"status": "unknown"}


def test_a_page_above_the_size_is_read_in_a_thread() -> None:
    text = article()
    subject, limit = middleware(), reader.THREAD_SIZE - len(text)
    assert judged(subject, page("a", text + " " * limit))["status"] == "new"
    large = subject.process_response(Request(URL), page("b", text + " " * (limit + 1)))
    assert inspect.iscoroutine(large)
    asyncio.run(large)


@pytest.mark.parametrize(("response", "reason"), SKIPPED)
def test_what_is_not_judged_is_not_read_in_a_thread_either(response: Response, reason: str) -> None:
    subject = middleware(maxsize=10_000)
    with read_in_threads():
        assert judged(subject, response)["reason"] == reason
        assert judged(subject, page(), meta={"simhash": False})["reason"] == "opted_out"
        assert judged(subject, page(), callback=NO_CALLBACK) == {}


def test_in_a_thread_a_page_gets_the_same_marks_flags_and_stats() -> None:
    near, far = middleware(), middleware()
    bodies = (article(), article() + "<p>Buy boats!", article(1), CAPTION, CAPTION, article(), "<p>")
    for number, body in enumerate(bodies):
        one, other = page(str(number % 5), body), page(str(number % 5), body)
        assert judged_in_thread(far, one) == judged(near, other)
        assert one.flags == other.flags
    assert simhash_stats(far.crawler) == simhash_stats(near.crawler)


def test_the_tree_is_made_here_and_read_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    response, read_by = page(body=article() + "<!-- x -->"), []
    really_read = PageFingerprinter.read

    def read(fingerprinter: PageFingerprinter, html: Any, **arguments: Any) -> Any:
        read_by.append((get_ident(), html))
        return really_read(fingerprinter, html, **arguments)

    class Parsed(HtmlResponse):
        @property
        def selector(self) -> Any:
            assert get_ident() == here
            return response.selector

    here, before = get_ident(), response.selector.get()
    monkeypatch.setattr(PageFingerprinter, "read", read)
    subject = middleware()
    assert judged_in_thread(subject, Parsed(URL, body=response.body))["status"] == "new"
    ((thread, root),) = read_by
    assert thread != here
    assert root is response.selector.root
    assert response.selector.get() == before


@pytest.mark.parametrize("error", ERRORS)
def test_any_error_in_the_thread_gives_an_unknown_page(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise error("no reading today")

    monkeypatch.setattr(PageFingerprinter, "read", fail)
    subject = middleware()
    with caplog.at_level(logging.DEBUG, "scrapy_simhash"):
        assert [judged_in_thread(subject, page(path)) for path in "ab"] == [{"status": "unknown"}] * 2
    assert simhash_stats(subject.crawler) == {"errors/compare": 2}
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG"]
    assert "no reading today" in caplog.text


class Rooted(HtmlResponse):
    """A response whose tree has another root."""

    root: Any = None

    @property
    def selector(self) -> Any:
        return SimpleNamespace(root=self.root)


@pytest.mark.parametrize("root", [None, {"a": 1}, ["a"], "a"])
def test_json_that_calls_itself_html_is_not_handed_to_a_thread(root: object) -> None:
    response = Rooted(URL, body=b"{...}")
    response.root = root
    subject = middleware()
    assert judged_in_thread(subject, response) == {"status": "skipped", "reason": "not_html"}
    assert simhash_stats(subject.crawler) == {"skipped/not_html": 1}


def test_marks_that_came_while_the_page_was_read_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    request, really_read = Request(URL), PageFingerprinter.read

    def read(fingerprinter: PageFingerprinter, *arguments: Any, **keywords: Any) -> Any:
        request.meta.update(dict.fromkeys(names.META_OUT, "of another visit"))
        return really_read(fingerprinter, *arguments, **keywords)

    monkeypatch.setattr(PageFingerprinter, "read", read)
    asyncio.run(waiting(middleware(), request, page()))
    assert request.meta["simhash_result"]["status"] == "new"
    assert "of another visit" not in request.meta.values()


def test_a_flag_is_set_once_on_a_response_that_comes_twice() -> None:
    subject, response = middleware(), page("b")
    judged(subject, page("a"))
    judged(subject, response)
    judged(subject, response)
    assert response.flags == ["near-duplicate"]


def test_switched_off_there_is_no_middleware() -> None:
    with pytest.raises(NotConfigured, match="SIMHASH_ENABLED is off"):
        middleware(enabled=False)


def test_a_wrong_setting_is_refused() -> None:
    with pytest.raises(SettingError, match="SIMHASH_MAX_DISTANCE"):
        middleware(max_distance=21)


@pytest.mark.parametrize(
    ("is_crawling", "said"),
    [
        (True, "action: drop_links, exact action: drop_page, store: memory"),
        (False, "action: mark (this command does not crawl), store: memory"),
    ],
)
def test_the_first_line_says_what_is_really_done(
    is_crawling: bool, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    crawler = stand_in(is_crawling=is_crawling, action="drop_links", exact_action="drop_page")
    subject = SimhashDownloaderMiddleware.from_crawler(crawler)
    with caplog.at_level(logging.INFO, "scrapy_simhash"):
        assert crawler.spider is not None
        subject.spider_opened(crawler.spider)
    assert said in caplog.text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"revisit_action": "drop_items"},
            "SIMHASH_REVISIT_ACTION (drop_items) has no effect without a store that outlives the crawl:"
            " set SIMHASH_STORE = './simhash'",
        ),
        (
            {"item_action": "drop_items", "result_field": "copy"},
            "SIMHASH_ITEM_ACTION (drop_items) has no effect without SIMHASH_ITEM_FIELDS: set SIMHASH_ITEM_FIELDS ="
            " ['title', 'body']",
        ),
        *(
            (
                {name: "path"},
                f"SIMHASH_{name.upper()} (path) has no effect without SIMHASH_ITEM_FIELDS: set"
                " SIMHASH_ITEM_FIELDS = ['title', 'body']",
            )
            for name in ("item_key",)
        ),
        (
            {"recrawl": {"": "7d"}},
            "SIMHASH_RECRAWL ({'': '7d'}) has no effect without a store that outlives the crawl: set"
            " SIMHASH_STORE = './simhash'",
        ),
        ({"item_action": "drop_items", "item_fields": "title"}, None),
        ({}, None),
    ],
)
def test_a_setting_that_cannot_do_anything_is_warned_of(
    settings: dict[str, Any], said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    for is_crawling in (True, False):  # single pages are only marked, whatever the settings say
        caplog.clear()
        crawler = stand_in(is_crawling=is_crawling, **settings)
        subject = SimhashDownloaderMiddleware.from_crawler(crawler)
        assert crawler.spider is not None
        with caplog.at_level(logging.WARNING, "scrapy_simhash"):
            subject.spider_opened(crawler.spider)
        assert [record.getMessage() for record in caplog.records] == ([said] if said and is_crawling else [])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {},
            "Marking near-duplicates: simhash distance <= 8 or equal titles, similarity >= 0.80 (0.70: ",
        ),
        (
            {"max_distance": 8, "min_similarity": "0.9"},
            ": simhash distance <= 8 or equal titles, similarity >= 0.90 (0.85: ",
        ),
        ({"rule": "classic"}, "Marking near-duplicates: simhash distance <= 3, scope: crawl, "),
        ({"rule": "classic", "max_distance": "2"}, ": simhash distance <= 2, scope: crawl, "),
    ],
)
def test_the_first_line_says_the_rule(
    settings: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    subject = middleware(**settings)
    with caplog.at_level(logging.INFO, "scrapy_simhash"):
        assert subject.crawler.spider is not None
        subject.spider_opened(subject.crawler.spider)
    assert said in caplog.text


def test_the_first_duplicate_is_shown_with_distance_and_similarity(caplog: pytest.LogCaptureFixture) -> None:
    subject = middleware()
    with caplog.at_level(logging.DEBUG, "scrapy_simhash"):
        judged(subject, page("a"))
        judged(subject, page("b"))
    assert (
        f"{URL}b is a near-duplicate of {URL}a (status near_duplicate, distance 0, similarity 1.00)"
        in caplog.text
    )


SITEMAP = "".join(
    f"<url><loc>https://example.com/the-tale-of-the-ship-{number}</loc></url>" for number in range(40)
)


@pytest.mark.parametrize(
    "head",
    [
        "<urlset>",
        '<?xml version="1.0"?>\n<?xml-stylesheet href="a.xsl"?>\n<!-- made by a plugin --><urlset xmlns="x">',
        "\ufeff <?xml version='1.0'?><sitemapindex\n>",
        "<RSS version=2.0>",
        "<feed>",
        "<rdf:RDF >",
    ],
)
def test_a_sitemap_or_feed_that_calls_itself_html_is_skipped(head: str) -> None:
    assert judged(middleware(), page("a", head + SITEMAP)) == {"status": "skipped", "reason": "not_html"}


@pytest.mark.parametrize(
    "head",
    [
        "<?xml version='1.0'?><html>",
        "<!-- <urlset> --><html>",
        "<feeding>",
        "<p>",
        "<?php " * 400,
        "<!--" * 500,
    ],
)
def test_other_pages_are_not_taken_for_feeds(head: str) -> None:
    assert judged(middleware(), page("a", head)).get("reason") != "not_html"


def test_a_head_of_nothing_but_instructions_does_not_hold_up_the_crawl() -> None:
    # Two to the power of 400 readings, if there were more than one for each.
    assert judged(middleware(), page("a", "<?a?>" * 400))["status"] == "skipped"
