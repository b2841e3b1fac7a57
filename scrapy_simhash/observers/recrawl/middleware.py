"""Recrawl: choose how to request known pages, and detect hosts with wrong 304 responses: ``SIMHASH_RECRAWL``.

A request and its response pass these components in this order::

    SimhashRecrawlMiddleware.process_request   (890)  the row of the page decides: `Mode`
    HttpCacheMiddleware, RecrawlPolicy         (900)  the page in the cache, or validators
    HttpCacheMiddleware, RecrawlPolicy         (900)  a 304 becomes the page in the cache; a new page is kept
    SimhashRecrawlMiddleware.process_response  (890)  some pages after a 304 are requested again, to check the host
    SimhashDownloaderMiddleware                 (40)  a page from the cache has the verdict of its row
    SimhashRecrawlMiddleware.page_compared      (40)  a new page is kept with its hash

Errors are counted and logged, and the page is fetched in full.
"""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.misc import load_object

from scrapy_simhash import names
from scrapy_simhash.crawling import (
    Listener,
    Once,
    asked_of,
    is_start,
    key_of,
    meta_with,
    share,
    shared,
    stats_of,
    take_internal,
)
from scrapy_simhash.exceptions import SettingError, StoreError
from scrapy_simhash.observers.recrawl.cache import (
    VALIDATORS,
    Mode,
    PageStorage,
    RecrawlPolicy,
    remove_validators,
)
from scrapy_simhash.observers.recrawl.schedule import Schedule, moment, sitemap_dates
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of
from scrapy_simhash.store import Touch
from scrapy_simhash.verdict import Reason
from scrapy_simhash.waiting import maybe_await

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page
    from scrapy_simhash.store import Row, Store

logger = logging.getLogger(__name__)

#: The n-th 304 response of a host is checked with probability EARLY / (EARLY + n), and at least CHECKS: always the
#: first response, then about 19 of 72, and 39 of 1,000. Until a host has answered a conditional request with a
#: changed page, its validators may be constant. So UNPROVEN replaces EARLY: 49 of 72 responses are checked, and 111
#: of 300. With EARLY, a host with constant ETags, where 14 of 300 pages had changed, was not detected in one crawl
#: out of four.
EARLY, UNPROVEN, CHECKS = 8, 64, 0.01
#: Max pages with a 304 response, the latest ones, that are requested in full if the host turns out to be wrong.
MAX_UNMODIFIED = 5_000
#: Max sitemap dates of URLs that are not scheduled yet. A sitemap has at most 50,000 URLs.
MAX_DATES = 100_000
#: Visits per write to the store. If the crawl is killed, these pages are due again.
TOGETHER = 50
#: Max hosts whose ETags are compared, and max ETags per host. Files with the same size and time may share an ETag by
#: chance, so a host is wrong only if at least this many pages, and one page in four, share ETags.
MAX_HOSTS, MAX_ETAGS, SHARED = 1_000, 16, 3
_HAS_CHANGED = frozenset((Reason.CHANGED, Reason.SMALL_CHANGE, Reason.NOW_NEAR_DUPLICATE))


class SimhashRecrawlMiddleware(Listener):
    """Decides how the pages of one crawl are requested: a listener, and a middleware next to Scrapy's HTTP cache."""

    _store: Store
    _pages: PageStorage

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self._crawler = crawler
        self._key_of = key_of(crawler)
        self._stats = stats_of(crawler)
        self._schedule = Schedule(config.recrawl)
        self._once = Once(crawler, logger, names.ERRORS_ACTION)
        #: Requests in progress, with their mode.
        self._modes: WeakKeyDictionary[Request, Mode] = WeakKeyDictionary()
        self._visits: dict[Touch, dict[bytes, int]] = {Touch.VISITED: {}, Touch.SEEN: {}}
        self._unmodified: Recent[bytes, Request] = Recent(MAX_UNMODIFIED)
        self._etags: Recent[str, _Etags] = Recent(MAX_HOSTS)
        self._dates: Recent[str, int] = Recent(MAX_DATES)
        self._is_on = False
        self._max_size = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        if self._schedule.has_dates:
            crawler.signals.connect(self.request_scheduled, signal=signals.request_scheduled)
        share(crawler, self)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the listener of *crawler*; raise NotConfigured without ``SIMHASH_RECRAWL``."""
        listener = shared(crawler, cls)
        if listener is None:
            raise NotConfigured
        return listener

    @staticmethod
    def check_settings(settings: BaseSettings) -> None:
        """Raise SettingError unless Scrapy's HTTP cache is on, with the policy and storage of this package."""
        needed = {"HTTPCACHE_POLICY": RecrawlPolicy, "HTTPCACHE_STORAGE": PageStorage}
        is_on = settings.getbool("HTTPCACHE_ENABLED")
        if not is_on or not all(
            issubclass(load_object(settings[name]), kind) for name, kind in needed.items()
        ):
            raise SettingError(
                "SIMHASH_RECRAWL needs HTTPCACHE_ENABLED = True, HTTPCACHE_POLICY = 'scrapy_simhash.RecrawlPolicy'"
                " and HTTPCACHE_STORAGE = 'scrapy_simhash.PageStorage'"
            )

    def store_opened(self, store: Store) -> None:
        """Keep a reference to the store of the crawl."""
        self._store = store

    def spider_opened(self, spider: Spider) -> None:
        """Find Scrapy's middleware, and its policy and storage, which the add-on has checked."""
        cache = self._crawler.get_downloader_middleware(HttpCacheMiddleware)
        if cache is not None:
            # If a connection is lost, Scrapy by default answers from the cache and does not retry.
            cache.DOWNLOAD_EXCEPTIONS = ()  # type: ignore[assignment]
            self._pages = cache.storage
            self._is_on = True

    def request_scheduled(self, request: Request) -> None:
        """Write the sitemap date of its page into *request*, which may stay in the queue for a long time."""
        date = self._dates.pop(request.url, None)
        if date is not None:
            request.meta.update(meta_with(request, names.LASTMOD, date))

    # --- A request.

    # Scrapy 2.13 passes the spider; later versions warn about methods that require it.
    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Write the mode into *request*, unless the request does not use the cache."""
        try:
            await self._prepare(request)
            if sum(map(len, self._visits.values())) >= TOGETHER:
                await self._write_visits()
        except Exception:
            self._failed(request)

    async def _prepare(self, request: Request) -> None:
        former, lastmod = take_internal(request, names.RECRAWL), take_internal(request, names.LASTMOD)
        if lastmod is None:
            lastmod = moment(asked_of(request).get("lastmod"))
        if former is not None:
            # This is a retry or a redirect of a request with a mode.
            remove_validators(request)
        if not self._is_on or not _may_be_cached(request):
            return
        mode = await self._mode(request, former, lastmod)
        self._modes[request] = mode
        request.meta.update(meta_with(request, names.RECRAWL, mode.value))

    async def _mode(self, request: Request, former: str | None, lastmod: int | None) -> Mode:
        if former in (Mode.CHECK, Mode.FULL) and request.dont_filter:
            return Mode(former)
        url, key = request.url, self._key_of(request)
        if not request.dont_filter and not is_start(request):
            try:
                row = await maybe_await(self._store.get(key))
            except StoreError:  # counted and logged when the page is compared
                row = None
            if row is not None and not self._is_due(url, key, row, lastmod):
                return Mode.NOT_DUE
        return Mode.FULL if self._pages.is_wrong(host_of(url)) else Mode.CONDITIONAL

    def _is_due(self, url: str, key: bytes, row: Row, lastmod: int | None) -> bool:
        visits = row.posting.history
        # The page was gone at the last visit, or the text in the cache differs from that in the store.
        if visits is None or row.is_gone or self._pages.page_hash(key) != row.posting.own_page_hash:
            return True
        return self._schedule.is_due(url, visits, lastmod, int(time.time()))

    # --- A response.

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Return *response*, or a request to be sent instead."""
        try:
            return self._answered(request, response)
        except Exception:
            self._failed(request)
            return response

    def _answered(self, request: Request, response: Response) -> Request | Response:
        mode = take_internal(request, names.RECRAWL)
        if mode == Mode.MODIFIED:
            self._modes[request] = Mode.MODIFIED
        if mode == Mode.NOT_DUE and names.FLAG_NOT_DUE in response.flags:
            self._stats.inc_value(names.STAT_NOT_DUE)
            return self._kept(request, response)
        if mode is None or names.FLAG_NOT_MODIFIED not in response.flags:
            return response
        self._stats.inc_value(names.STAT_NOT_MODIFIED)
        host = host_of(request.url)
        if mode == Mode.CHECK:
            self._note_wrong(request.url, "it answers 304 to an ETag that no page has")
        if mode != Mode.FULL:
            count, has_shown_change = self._pages.unmodified(host)
            early = EARLY if has_shown_change else UNPROVEN
            if self._pages.is_wrong(host):
                return _again(request, Mode.FULL)
            if random.random() < max(CHECKS, early / (early + count)):
                self._stats.inc_value(names.STAT_CHECKED)
                return _again(request, Mode.CHECK)
            self._unmodified[self._key_of(request)] = request
        return self._kept(request, response)

    def _kept(self, request: Request, response: Response) -> Response:
        """Return *response*, a page from the cache. The downloader middleware takes the verdict from its row."""
        request.meta.update(meta_with(request, names.KEPT, self._pages.page_hash(self._key_of(request))))
        return response

    def page_compared(self, page: Page) -> None:
        """Keep a new page with its hash, record the visit of a page from the cache, and check the host's ETags."""
        request, response, verdict = page.request, page.response, page.verdict
        if self._schedule.has_dates:
            for url, date in sitemap_dates(response, self._max_size).items():
                self._dates[url] = date
        mode = self._modes.pop(request, None)
        if mode is None:
            return
        if page.is_kept:
            is_due = names.FLAG_NOT_DUE not in response.flags
            self._touch(request, Touch.VISITED if is_due else Touch.SEEN)
            return
        key, page_hash = self._key_of(request), None if page.reading is None else page.reading.page_hash
        if verdict.reason is Reason.INTERSTITIAL:
            self._pages.discard(key)
        elif "cached" in response.flags:
            if page_hash is not None:
                self._pages.compared(key, page_hash)
        else:
            self._pages.compared(key, page_hash)
            self._compare_etags(response, page_hash)
            if mode is Mode.MODIFIED and verdict.reason in _HAS_CHANGED:
                self._pages.note_change(host_of(request.url))
            elif mode is Mode.CHECK and verdict.reason in _HAS_CHANGED:
                self._note_wrong(request.url, "it answered 304 for a page that had changed")

    def _compare_etags(self, response: Response, page_hash: int | None) -> None:
        """Compare the ETag of a page with those of other pages of its host."""
        etag = response.headers.get(b"ETag")
        if etag is None or page_hash is None:
            return
        host = host_of(response.url)
        if host not in self._etags:
            self._etags[host] = _Etags()
        if self._etags[host].is_shared(etag, page_hash):
            self._note_wrong(response.url, "it sends the same ETag with different texts")

    def _note_wrong(self, url: str, why: str) -> None:
        """Request the pages of a host in full from now on, including those with a 304 response in this crawl."""
        host = host_of(url)
        if self._pages.is_wrong(host):
            return
        self._pages.note_wrong(host)
        unmodified = {key: one for key, one in self._unmodified.items() if host_of(one.url) == host}
        for key, request in unmodified.items():
            del self._unmodified[key]
            for visits in self._visits.values():
                visits.pop(key, None)
            if self._crawler.engine is not None:
                self._crawler.engine.crawl(_again(request, Mode.FULL))
        self._stats.inc_value(names.STAT_WRONG_HOSTS)
        logger.warning(
            "Conditional requests are off for %(host)s, because %(why)s (%(url)s). Its pages are fetched in full for"
            " 30 days, and %(count)d pages of this crawl are requested again",
            {"host": host, "why": why, "url": url, "count": len(unmodified)},
            extra={"spider": self._crawler.spider},
        )

    # --- Visits.

    def _touch(self, request: Request, visit: Touch) -> None:
        self._visits[visit][self._key_of(request)] = int(time.time())

    async def closing(self) -> None:
        """Store the remaining visits of pages from the cache."""
        await self._write_visits()

    async def _write_visits(self) -> None:
        for visit, seen in self._visits.items():
            # The visits are removed first, because other requests add visits while a remote store replies, and no
            # visit may be counted twice.
            batch = dict(seen)
            seen.clear()
            try:
                if batch:
                    await maybe_await(self._store.touch(list(batch.items()), visit))
            except BaseException:
                seen |= batch | seen
                raise

    def _failed(self, about: object) -> None:
        """Count and log an exception; call it in the exception handler."""
        self._once.log_exception("Error while recrawling %(about)s: the page is fetched in full", about)


class _Etags:
    """The latest ETags of a host, and the number of pages whose ETag occurred with a different text."""

    def __init__(self) -> None:
        self._hashes: Recent[bytes, int] = Recent(MAX_ETAGS)
        self._pages = self._shared = 0

    def is_shared(self, etag: bytes, page_hash: int) -> bool:
        """Add a page, and return whether too many pages of the host share ETags."""
        self._pages += 1
        self._shared += self._hashes.get(etag, page_hash) != page_hash
        self._hashes[etag] = page_hash
        return self._shared >= SHARED and 4 * self._shared >= self._pages


def _may_be_cached(request: Request) -> bool:
    """Return whether the page of *request* is the same for all users, and is requested by the spider."""
    headers = request.headers
    return (
        request.method == "GET"
        and not request.body
        and request.callback is not NO_CALLBACK
        and not request.meta.get("dont_cache")
        and request.meta.get(names.META) is not False
        and not request.cookies
        and "cookiejar" not in request.meta
        and not any(name in headers for name in (*VALIDATORS, b"Range", b"Authorization"))
        and urlsplit(request.url).scheme in ("http", "https")
    )


def _again(request: Request, mode: Mode) -> Request:
    return request.replace(dont_filter=True, meta=meta_with(request, names.RECRAWL, mode.value))
