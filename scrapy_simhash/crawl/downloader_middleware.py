"""Downloader middleware: read a page, compare it, choose an action and record the result.

::

    process_response -> PageFingerprinter.read -> Store.claim -> SimhashPolicy.decide -> request.meta -> listeners

This middleware drops nothing: `SimhashSpiderMiddleware` applies the action in ``request.meta``.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.utils.misc import build_from_crawler

from scrapy_simhash import kernel, names
from scrapy_simhash.action import Action
from scrapy_simhash.config import ACTION_SETTINGS, Config, unknown_settings, unused_settings
from scrapy_simhash.crawl import reader
from scrapy_simhash.crawl.counts import count_page, summary_of_pages
from scrapy_simhash.crawl.delivery import Deliveries
from scrapy_simhash.crawl.listeners import Listeners
from scrapy_simhash.crawl.marks import complaints, write_result
from scrapy_simhash.crawl.reader import in_thread, reason_to_skip
from scrapy_simhash.crawl.store_session import StoreSession
from scrapy_simhash.crawling import (
    Once,
    Page,
    config_of,
    is_crawl,
    key_of,
    language_of,
    share,
    stats_of,
    take_internal,
)
from scrapy_simhash.exceptions import SettingError, StoreError
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.judge.hints import evidence
from scrapy_simhash.judge.policy import Protection, SimhashPolicy, is_done
from scrapy_simhash.signals import near_duplicate_found
from scrapy_simhash.values import imported
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import run_sync

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_WITHOUT_KERNEL = (
    "The C extension of scrapy-simhash is not used, so reading a page takes about 25 times as long: %s."
    " Install a C compiler and the headers of Python, then run: SCRAPY_SIMHASH_BUILD=require pip install"
    " --force-reinstall --no-deps --no-cache-dir scrapy-simhash"
)


class SimhashDownloaderMiddleware:
    """Compares each response with earlier pages before the spider gets it. Neither drops nor changes responses."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = config_of(crawler.settings)
        for sentence in unknown_settings(crawler.settings).values():
            logger.warning("%s", sentence)
        self.crawler = crawler
        self._stats = stats_of(crawler)
        self._is_crawl = is_crawl(crawler)
        # This runs before a store is opened, so that a wrong setting leaves no store behind.
        self._policy = policy_of(crawler, self.config)
        self._fingerprinter = PageFingerprinter(self.config)
        self._listeners = Listeners(crawler, self.config)
        self._session = StoreSession(crawler, self.config, fingerprinter=self._fingerprinter)
        self.detector = self._session.detector
        self._is_remote = self.detector.store.is_remote
        for listener in self._listeners.all:
            listener.store_opened(self.detector.store)
        self._session.last_step = self._listeners.closing
        self._deliveries = share(crawler, Deliveries(crawler, self._session))
        self._key_of = key_of(crawler)
        self._once = Once(crawler, logger, names.ERRORS_COMPARE)
        # If the method exists, Scrapy calls it for every request.
        self.process_request: Any
        if self._listeners.request_hooks:
            self.process_request = self._listeners.request_sent

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*.

        Raises SettingError for a bad setting, and StoreError for a store that cannot be used; both stop the crawl.
        """
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        return middleware

    # Scrapy 2.13 passes the spider; later versions warn about methods that require it.
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, with the result in ``request.meta`` and ``response.flags``.

        Returns a coroutine if the page is read in a thread or the store is remote; Scrapy awaits it. Such pages count
        as active requests of the downloader, so ``CONCURRENT_REQUESTS`` limits their number and memory.
        """
        request.meta.pop(names.META_RESULT, None)
        page = Page(request, response, self._fingerprinter)
        reason = reason_to_skip(request, response, self.config.maxsize)
        # robots.txt and media files have no callback, and are neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            page.verdict = Verdict(Status.SKIPPED, reason=reason)
            self._record(page)
            return response
        is_large = len(response.body) > reader.THREAD_SIZE
        comparing = self._process(page, is_large=is_large)
        return comparing if is_large or self._is_remote else run_sync(comparing)

    async def _process(self, page: Page, *, is_large: bool) -> Response:
        """Read and compare *page*, choose an action, record the result, and return the response. Never raises.

        Does not wait unless *is_large* or the store is remote.
        """
        request, response = page.request, page.response
        try:
            kept_hash = take_internal(request, names.KEPT) if names.META_INTERNAL in request.meta else None
            if kept_hash is None or not await self._look_up(page, kept_hash):
                # The page is parsed in this thread, because the spider uses the tree: lxml has one dictionary of
                # names per thread, and nodes from several threads do not mix.
                root = response.selector.root  # type: ignore[attr-defined]  # called for HTML only
                page.tree = root if hasattr(root, "iter") else None
                if page.tree is None:
                    page.verdict = _NOT_HTML
                else:
                    await self._compare(page, is_large=is_large)
        except StoreError as error:
            self._session.failed(error)
            page.verdict = _NO_STORE
        except Exception:
            self._once.log_exception(
                "Error while comparing %(about)s with earlier pages: the page is kept, unmarked", response
            )
            page.verdict = Verdict(Status.UNKNOWN)
        # If the request is sent a second time, its meta may contain an earlier result.
        request.meta.pop(names.META_RESULT, None)
        # New pages need no decision.
        if page.verdict.status is not Status.NEW:
            self._decide(page)
        self._record(page)
        return response

    async def _compare(self, page: Page, *, is_large: bool) -> None:
        """Set the verdict on *page*. Raises the exceptions of the reader and the store."""
        response, session, detector = page.response, self._session, self.detector
        root, url = page.tree, response.url
        language = language_of(response) if dict.__contains__(response.headers, b"Content-Language") else None
        if self._is_remote:
            await detector.load_site(url)
        if is_large:
            reading = await in_thread(lambda: detector.read(root, url, content_language=language))
        else:
            reading = detector.read(root, url, content_language=language)
        key = self._key_of(page.request)
        verdict = await detector.conclude_async(reading, url, key=key, remember=session.remembers)
        # Pages without text are not looked up, so they do not show that the store is available again.
        if session.missed and verdict.status is not Status.SKIPPED and detector.store.absence is None:
            session.answered()
        if is_large and self.config.changes is not None and verdict.reason in _HAS_CHANGED:
            # Needed for the change feed. If this raises an exception, the feed raises and logs the same exception.
            with suppress(Exception):
                await in_thread(lambda: page.document)
        if verdict.duplicate_of is not None:
            await self._deliveries.look_up(verdict)
        page.verdict, page.reading, page.key = verdict, reading, key

    async def _look_up(self, page: Page, page_hash: int) -> bool:
        """Give a page from the HTTP cache the verdict of its row; return whether the row has *page_hash*."""
        key = self._key_of(page.request)
        verdict = await self.detector.unchanged(key, page_hash, lambda url: self._key_of(Request(url)))
        if verdict is None:
            return False
        if verdict.duplicate_of is not None:
            await self._deliveries.look_up(verdict)
        page.verdict, page.key, page.is_kept = verdict, key, True
        return True

    def _decide(self, page: Page) -> None:
        """Set the action for *page*, if it is a near-duplicate or unchanged."""
        try:
            verdict = page.verdict
            if verdict.duplicate_of is not None:
                redirects = page.request.meta.get("redirect_urls", ())
                hints = evidence(page.hints, page.response.url, verdict.duplicate_of, redirects)
                page.verdict = replace(verdict, hints=verdict.hints + hints) if hints else verdict
            elif not is_done(verdict):
                return
            if self._is_crawl:
                page.action, page.protected, page.dropped_as = self._policy.decide(page)
            else:
                # scrapy shell, fetch, parse and check never drop anything.
                page.action = Action.MARK
        except Exception:
            message = "Error while choosing an action for %(about)s: the page is kept"
            self._listeners.log_exception(message, page.response)

    def _record(self, page: Page) -> None:
        """Write the result of *page* into its meta, count and signal it, and call the listeners. Never raises."""
        meta = page.request.meta
        try:
            self._deliveries.note(write_result(page))
            count_page(self._stats, page)
            if names.META in meta:
                # Warn once of each kind of invalid entry.
                for about, complaint in complaints(meta[names.META]):
                    self._stats.inc_value(names.ERRORS_META)
                    values: dict[str, object] = {"complaint": complaint, "url": page.response.url}
                    self._once.warn(about, "%(complaint)s, for %(url)s", values)
            if page.protected is Protection.START and self._once.is_first("start page"):
                self._log_start_page(page)
            if page.verdict.duplicate_of is not None:
                self._signal(page)
        except Exception:
            self._listeners.log_exception(_LATE_ERROR, page.response)
            # Without a result nothing is dropped, so no listener is called.
            if names.META_RESULT not in meta:
                page.action = None
                return
        if self._listeners.page_hooks:
            self._listeners.page_compared(page)

    def _signal(self, page: Page) -> None:
        """Flag, log and signal a near-duplicate."""
        verdict, response, spider = page.verdict, page.response, self.crawler.spider
        if names.FLAG not in response.flags:  # a middleware may return the same response object twice
            response.flags.append(names.FLAG)
        self._once.show(
            "duplicate",
            "%(url)s is a near-duplicate of %(original)s (status %(status)s, distance %(distance)s, similarity"
            " %(similarity).2f)",
            {
                "url": response.url,
                "original": verdict.duplicate_of,
                "status": verdict.status.value,
                "distance": verdict.distance,
                "similarity": verdict.similarity or 0.0,
            },
        )
        self.crawler.signals.send_catch_log(
            near_duplicate_found, request=page.request, response=response, verdict=verdict, spider=spider
        )

    def _log_start_page(self, page: Page) -> None:
        """Log once that start pages are protected, because a spider may yield all of its URLs in start()."""
        original = page.verdict.duplicate_of
        logger.info(
            "Start pages are protected (SIMHASH_PROTECT): %s %s, but its callback runs and its links are followed. To"
            " treat start pages like other pages, set SIMHASH_PROTECT = %r. Further pages are counted in the stat %s",
            page.response.url,
            "is unchanged" if original is None else f"is a near-duplicate of {original}",
            [name for name in self.config.protect if name != Protection.START.value],
            f"{names.STAT_PROTECTED}/{Protection.START.value}",
        )

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the rule, the scope, the actions and the store."""
        config, fingerprinter = self.config, self._fingerprinter
        action = str(config.action if isinstance(config.action, str) else dict(config.action))
        if config.exact_action is not None:
            action += f", exact action: {config.exact_action}"
        if not self._session.forgets and config.revisit_action != "mark":
            action += f", revisit action: {config.revisit_action}"
        logger.info(
            "Marking near-duplicates: %s, scope: %s, action: %s, store: %s (scheme %s, kernel %s)",
            fingerprinter.rule,
            config.scope,
            action if self._is_crawl else "mark (this command does not crawl)",
            self._session.described,
            fingerprinter.scheme,
            kernel.NAME,
            extra={"spider": spider},
        )
        # If the extension is built but reads pages differently, the reader has warned of it.
        if kernel.hamming is None and os.environ.get(kernel.VARIABLE) != "pure":
            logger.warning(_WITHOUT_KERNEL, kernel.REASON)
        self._session.log_absence()
        if self._is_crawl:
            for sentence in unused_settings(self.crawler.settings, in_memory=self._session.forgets).values():
                logger.warning("%s", sentence)

    def spider_closed(self, spider: Spider) -> None:
        """Set the stat of the size of the index, and log the counts and drops."""
        if self._stats.get_value(names.STAT_PROCESSED):
            self._stats.set_value(names.STAT_INDEX_SIZE, self.detector.store.index_size)
        may_drop = any(getattr(self.config, name) not in (None, "mark") for name in ACTION_SETTINGS)
        summary = summary_of_pages(self._stats, self._is_crawl and may_drop)
        logger.info("%s", summary, extra={"spider": spider})


def policy_of(crawler: Crawler, config: Config) -> SimhashPolicy:
    """Return the policy of *crawler*: ``SIMHASH_POLICY``, by default `SimhashPolicy`. Raises SettingError."""
    path = config.policy
    if path is None:
        return SimhashPolicy(config)
    policy = imported("SIMHASH_POLICY", path)
    if not isinstance(policy, type) or not issubclass(policy, SimhashPolicy):
        what = "must be the import path of a subclass of scrapy_simhash.SimhashPolicy"
        raise SettingError(f"SIMHASH_POLICY {what}, got {path!r}")
    try:
        return build_from_crawler(policy, crawler, config)
    except TypeError as error:
        raise SettingError(f"SIMHASH_POLICY: cannot create {path!r}: {error}") from error


_LATE_ERROR = (
    "Error while recording the result of %(about)s: the page is processed, but may lack marks or counts"
)
_HAS_CHANGED = frozenset((Reason.CHANGED, Reason.SMALL_CHANGE, Reason.NOW_NEAR_DUPLICATE))
_NOT_HTML = Verdict(Status.SKIPPED, reason=Reason.NOT_HTML)
_NO_STORE = Verdict(Status.UNKNOWN, reason=Reason.STORE)
