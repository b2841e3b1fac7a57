"""Recrawling: pages that an earlier crawl has read and this one need not: the server says so, or the schedule does.

The one place where requests are answered without their page. One passes through in this order::

    request_sent()  downloader middleware 40     looks up what is kept of the page; skips it if it is not due
    add_headers()   downloader middleware 950    validators, on what is really sent
    hear()          downloader middleware 950    takes them off again, and marks the 304 that they have brought
    without_page()  downloader middleware 40     the verdict of a 304; a share of them is fetched in full
    page_compared() downloader middleware 40     a page that came in full: what is to be kept of its answer
    reader_of()     next to the spider           takes down what its callback yields, then keeps the answer

An error in here is counted and logged, and costs nothing but a page that is fetched in full.
"""

from __future__ import annotations

import logging
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.misc import arg_to_iter
from twisted.python.failure import Failure

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawling import (
    VALIDATORS,
    Listener,
    Once,
    asked_of,
    asked_without_us,
    asks_again,
    counted,
    key_of,
    last_value,
    may_be_skipped,
    meta_with,
    share,
    shared,
    stats_of,
    take_own,
)
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.notes import PAGE
from scrapy_simhash.observers.recrawl.answers import Answer, AnswerBook, Known
from scrapy_simhash.observers.recrawl.kept_links import KeptLinks, Purpose, packed, use_of
from scrapy_simhash.observers.recrawl.schedule import LASTMOD, NotDue, Schedule, sitemap_dates
from scrapy_simhash.observers.recrawl.trust import Trust, TrustedHosts
from scrapy_simhash.scope import host_of
from scrapy_simhash.signals import request_not_due
from scrapy_simhash.times import duration
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.observers.links import Reader
    from scrapy_simhash.store import Store


logger = logging.getLogger(__name__)

#: What is sent with them for a check: no page has these, so that only a server that does not look answers 304.
_NO_ETAG, _LONG_AGO = b'"no-page-has-this"', b"Thu, 01 Jan 1970 00:00:01 GMT"


@dataclass(slots=True)
class _Way:
    """What is known of one request on its way."""

    key: bytes
    purpose: Purpose | None
    """As it is before other middlewares write into the meta; None if the callback is no method of the spider."""
    is_check: bool
    """Whether its page is fetched in full to see whether a 304 was right."""
    known: Known | None = None
    """Of the latest visit; None at the first, and for a page that was gone."""
    was_asked: bool = False
    """Whether validators were sent."""
    is_uncached: bool = False
    """Whether its response was hidden from the HTTP cache."""
    pending: Answer | None = None
    """What is to be kept when the callback has yielded all."""
    taken: list[dict[str, Any]] | None = field(default_factory=list)
    """What it has yielded so far; None if that cannot be kept."""


class Recrawling(Listener):
    """Answers, asks and schedules for one crawl."""

    _book: AnswerBook | None = None
    """None in a store that keeps no answers: then there is nothing to do."""
    _hosts: TrustedHosts

    def __init__(self, crawler: Crawler, config: Config) -> None:
        # A page that is gone is fetched in full.
        self._is_gone: Callable[[Request], bool] | None = None
        if config.changes is not None:
            from scrapy_simhash.observers.changes.reporter import ChangeReporter

            changes = shared(crawler, ChangeReporter)
            self._is_gone = None if changes is None else changes.is_gone
        self._crawler = crawler
        self._key_of = key_of(crawler)
        self._config = config
        self._stats = stats_of(crawler)
        self._schedule = Schedule(
            config.recrawl_ages, duration(config.recrawl_max_age), config.recrawl_budget
        )
        self._schedules = bool(config.recrawl)
        self._links = KeptLinks(crawler)
        self._ways: WeakKeyDictionary[Request, _Way] = WeakKeyDictionary()
        self._once = Once(crawler, logger, names.ERRORS_ACTION)
        #: Answers of 304 whose page was fetched in full all the same, and pages that could not be kept.
        self._checks = self._not_kept = 0

    def store_opened(self, store: Store) -> None:
        """Keep answers in *store*; there is nothing to do if it cannot keep any."""
        if PAGE not in store.note_kinds:
            return
        self._book = AnswerBook(store)
        self._hosts = TrustedHosts(store, self._crawler)
        share(self._crawler, self)
        self._crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    async def request_sent(self, request: Request) -> Response | None:
        """Return None for a request that is to be sent, and a response with kept requests for one that is not due.

        Raises RequestNotDue if no requests are kept of its page.
        """
        is_check = bool(take_own(request, names.IN_FULL))
        if request.callback is NO_CALLBACK or request.meta.get(names.META) is False:
            return None
        if request.method != "GET" or request.body or self._book is None:
            return None
        key, purpose = self._key_of(request), self._links.purpose_of(request)
        way = self._ways[request] = _Way(key, purpose, is_check)
        try:
            await self._hosts.meet(host_of(request.url))
            with suppress(StoreError):
                await self._hosts.tell()
            known = await self._book.find(key)
        except StoreError:  # of a store that is away others tell
            return None
        if known is None or (self._is_gone is not None and self._is_gone(request)):
            return None
        way.known = known
        return self._skip(request, way, known)

    def add_headers(self, request: Request) -> None:
        """Put validators on a request that is about to be sent."""
        way = self._ways.get(request)
        if not self._config.conditional or way is None or way.known is None:
            return
        # With these, the HTTP cache asks whether what it has is still valid; or the spider asks by itself.
        headers, meta = request.headers, request.meta
        if "cached_response" in meta or any(name in headers for name in VALIDATORS):
            return
        if asked_of(request).get("conditional") is False or not self._is_as_before(way, way.known):
            return
        etag, modified = self._hosts.to_send(host_of(request.url), way.known.answer)
        if way.is_check:
            etag, modified = etag and _NO_ETAG, modified and _LONG_AGO
        if etag:
            headers[b"If-None-Match"] = etag
        if modified:
            headers[b"If-Modified-Since"] = modified
        if etag or modified:
            way.was_asked = True
            self._stats.inc_value(names.STAT_CONDITIONAL_SENT, 0 if way.is_check else 1)

    def hear(self, request: Request, response: Response | None) -> None:
        """Take the validators off a request, which may be sent elsewhere next; mark a 304 that they have brought."""
        way = self._ways.get(request)
        if way is None or not way.was_asked:
            return
        for name in VALIDATORS:
            request.headers.pop(name, None)
        if response is not None and response.status == 304:
            response.flags.append(names.FLAG_NOT_MODIFIED)
            # It is no page, and the HTTP cache must not keep it as one.
            way.is_uncached = not request.meta.get("dont_cache")
            request.meta["dont_cache"] = True

    def without_page(self, request: Request, response: Response) -> Request | Response | Verdict | None:
        """Return the verdict that a 304 is, or the request to be sent in its place, which fetches the page in full.

        A response to a request that was not due is passed on without a verdict.
        """
        if names.FLAG_NOT_DUE in response.flags:
            return response
        if names.FLAG_NOT_MODIFIED not in response.flags:
            return None
        way = self._ways[request]
        if way.is_uncached:
            request.meta.pop("dont_cache", None)
        site, known = host_of(request.url), way.known
        again = request.replace(dont_filter=True, meta=meta_with(request, names.IN_FULL, True))
        try:
            assert known is not None  # its validators were sent
            if way.is_check:
                self._stats.inc_value(names.STAT_CONDITIONAL_WRONG)
                self._hosts.lower(request.url, Trust.BLIND)
                return again
            self._stats.inc_value(names.STAT_CONDITIONAL_NOT_MODIFIED)
            # Others may have come meanwhile that have shown it.
            if self._hosts.is_lost(site):
                return again
            portion = self._config.conditional_checks
            if portion and random.random() < max(portion, self._hosts.chance_of_check(site, known.answer)):
                self._checks += 1
                return again
            requests, verdict = self._links.made_again(known.requests), known.verdict
            self._put(way.key, known.answer.after_visit(False), known.requests)
            self._hosts.believed[way.key] = again
        except Exception:
            self._failed(request)
            return again
        self._replace_callback(request, partial(handed_on, requests))
        return verdict

    def page_compared(self, page: Page) -> None:
        """Note a page that came in full; of one whose requests are dropped nothing is kept."""
        request, response, reading = page.request, page.response, page.reading
        way = self._ways.get(request)
        if way is None or reading is None or reading.page_hash is None or page.key is None:
            return
        if page.verdict.status is Status.UNKNOWN or page.drops(Action.DROP_LINKS) or response.status != 200:
            return
        now, text_hash, known = int(time.time()), reading.page_hash, way.known
        has_changed = known is not None and known.text_hash != text_hash
        etag, modified = last_value(response, b"Etag"), last_value(response, b"Last-Modified")
        if way.is_check and has_changed:
            self._stats.inc_value(names.STAT_CONDITIONAL_WRONG)
            self._hosts.lower(request.url, Trust.LIED)
        former = (Answer(0, now), None) if known is None else (known.answer, known.text_hash)
        was_asked = way.was_asked and not way.is_check
        self._hosts.came_in_full(request.url, etag, modified, text_hash, former, was_asked)
        use = self._use(way, text_hash)
        if use is None:
            self._not_kept += 1
        else:
            answer = Answer(use, now) if known is None else known.answer.after_visit(has_changed)
            way.pending = answer._replace(use=use).with_validators(etag, modified)

    def reader_of(self, response: Response) -> Reader | None:
        """Return what takes down the requests of a page that came in full, or dates those of a sitemap."""
        way = None if response.request is None else self._ways.get(response.request)
        if way is not None and way.pending is not None:
            return partial(self._take_down, way, response), partial(self._keep, way, response)
        if any(word == LASTMOD for _, word in self._config.recrawl_ages):
            dates = sitemap_dates(response, self._crawler.settings.getint("DOWNLOAD_MAXSIZE"))
            return partial(_note_date, dates), lambda is_complete: None
        return None

    def _take_down(self, way: _Way, response: Response, one: Request) -> None:
        """Take down *one* request of the callback, which has no place among links if it asks for the page again."""
        if way.taken is None or not self._config.conditional_links:
            return
        try:
            is_link = not (one.dont_filter and asks_again(one, response))
            taken = self._links.taken_down(one) if is_link else None
        except Exception:
            self._failed(response)
            taken = None
        if taken is None:
            way.taken = None
        else:
            way.taken.append(taken)

    def _keep(self, way: _Way, response: Response, is_complete: bool) -> None:
        """Keep the answer whose callback has yielded all."""
        if not is_complete:
            return
        try:
            requests = None if way.taken is None else packed(way.taken)
            if requests is not None and way.pending is not None:
                self._put(way.key, way.pending, requests)
                return
            self._not_kept += 1
            if way.known is not None:
                # Of the visit before: its requests must not be yielded in the place of those that could not be kept.
                self._put(way.key, way.known.answer.of_no_use(), b"")
        except Exception:
            self._failed(response)
        finally:
            way.pending, way.taken = None, []

    def _put(self, key: bytes, answer: Answer, requests: bytes) -> None:
        if self._book is not None:
            self._book.put(key, answer, requests)

    async def closing(self) -> None:
        """Give the store what is not there yet."""
        if self._book is None:
            return
        await self._book.finish()
        with suppress(StoreError):
            await self._hosts.tell()

    def spider_closed(self, spider: Spider) -> None:
        """Log what was saved, and which hosts are not trusted."""
        sent, unchanged, *not_due = (
            self._stats.get_value(name, 0)
            for name in (
                names.STAT_CONDITIONAL_SENT,
                names.STAT_CONDITIONAL_NOT_MODIFIED,
                *(f"{names.STAT_NOT_DUE}/{reason.value}" for reason in NotDue),
            )
        )
        logger.info(
            "Conditional requests: %(sent)d sent, %(unchanged)d answered by 304 (%(checks)d of them fetched in full"
            " as a check); %(skipped)d requests not due",
            {"sent": sent, "unchanged": unchanged, "checks": self._checks, "skipped": sum(not_due)},
            extra={"spider": spider},
        )
        if self._not_kept:
            logger.info(
                "Conditional requests: %(pages)s cannot be kept, and will come in full again: by the callback, by"
                " what is in the meta, or since a form is sent",
                {"pages": counted(self._not_kept, "page")},
                extra={"spider": spider},
            )
        self._hosts.spider_closed(spider)

    # --- The schedule.

    def _skip(self, request: Request, way: _Way, known: Known) -> Response | None:
        """Return the response to a request that is not to be sent, None if it is; raise RequestNotDue."""
        if not self._schedules or way.is_check or request.dont_filter or not may_be_skipped(request):
            return None
        if asked_of(request).get("recrawl") is False or not self._is_as_before(way, known):
            return None
        lastmod, seen, now = asked_of(request).get("lastmod"), known.page.posting.seen, int(time.time())
        reason = self._schedule.not_due(request.url, host_of(request.url), seen, known.answer, lastmod, now)
        if reason is None:
            return None
        requests = self._links.made_again(known.requests)
        self._stats.inc_value(f"{names.STAT_NOT_DUE}/{reason.value}")
        self._crawler.signals.send_catch_log(
            request_not_due, request=request, key=way.key, reason=reason.value, spider=self._crawler.spider
        )
        error = RequestNotDue(request.url, reason.value)
        if not requests:
            raise error
        # What its callback yielded goes through all spider middlewares, as it did then: so there is a response.
        self._replace_callback(request, partial(passed_over, requests, request.errback, error))
        request.meta["dont_cache"] = True
        return Response(request.url, status=304, flags=[names.FLAG_NOT_DUE])

    # --- What is kept.

    def _is_as_before(self, way: _Way, known: Known) -> bool:
        """Return whether the page was delivered, and the request is for what it was read for then."""
        return known.page.posting.is_delivered and known.answer.use == self._use(way, known.text_hash)

    def _use(self, way: _Way, text_hash: int | None) -> int | None:
        if way.purpose is None:
            return None
        return use_of(way.purpose, self._config.conditional_links, text_hash)

    def _replace_callback(self, request: Request, callback: Any) -> None:
        request.callback = callback
        # Scrapy's HttpErrorMiddleware lets it pass.
        request.meta["handle_httpstatus_list"] = [304]

    def _failed(self, about: object) -> None:
        """Count and log what went wrong; call it where the exception is handled."""
        self._once.tell("Error in a conditional request for %(about)s: it is fetched in full", about)


class SimhashValidatorsMiddleware:
    """Puts ETag and date of a page on what is really sent, and takes them off before anybody sends it elsewhere.

    It stands behind Scrapy's HTTP cache, which may have the page, and before redirects and retries on the way back.
    """

    def __init__(self, crawler: Crawler) -> None:
        recrawling = shared(crawler, Recrawling)
        if recrawling is None:
            raise NotConfigured
        self._recrawling = recrawling

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*; raise NotConfigured if it keeps and asks nothing."""
        return cls(crawler)

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Put the validators on."""
        try:
            self._recrawling.add_headers(request)
        except Exception:
            self._recrawling._failed(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Take them off, and mark a 304."""
        try:
            self._recrawling.hear(request, response)
        except Exception:
            self._recrawling._failed(request)
            if response.status == 304:
                return asked_without_us(request)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Take them off."""
        try:
            self._recrawling.hear(request, None)
        except Exception:
            self._recrawling._failed(request)


class RequestNotDue(IgnoreRequest):
    """A request was not sent: the page is known, and by ``SIMHASH_RECRAWL`` it is not to be visited yet."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} was not requested: by SIMHASH_RECRAWL it is not due ({reason})")
        self.reason = reason
        """``age``, ``auto``, ``lastmod`` or ``budget``."""


def _note_date(dates: dict[str, str], one: Request) -> None:
    """Note in the meta of a request when its page was changed, by the *dates* of a sitemap."""
    asked = one.meta.get(names.META)
    if one.url in dates and (asked is None or isinstance(asked, dict)):
        one.meta[names.META] = {"lastmod": dates[one.url], **(asked or {})}


def handed_on(requests: list[Request], response: Response, **arguments: Any) -> list[Request]:
    """Return the kept requests, as the callback of a page that has not changed."""
    return requests


async def passed_over(
    requests: list[Request], errback: Any, error: RequestNotDue, response: Response, **arguments: Any
) -> AsyncIterator[Any]:
    """Yield what the errback of a request that is not due yields, then the kept requests of its page."""
    if errback is not None:
        failure: Any = Failure(error)  # type: ignore[no-untyped-call]
        failure.request = response.request
        output = errback(failure)
        if isawaitable(output):
            output = await output
        if hasattr(output, "__aiter__"):
            async for one in output:
                yield one
        else:
            for one in arg_to_iter(output):
                yield one
    for one in requests:
        yield one
