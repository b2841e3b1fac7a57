"""Downloader middleware: a response in, a verdict out, at once or when it has been waited for; never an exception.

What follows from the verdict is written into ``request.meta`` by `Consequences`. A large page is read in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from scrapy import signals
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import kernel, names
from scrapy_simhash.config import ACTION_SETTINGS, unknown_settings, unused_settings
from scrapy_simhash.crawl.consequences import Consequences
from scrapy_simhash.crawl.counts import summary_of_pages
from scrapy_simhash.crawl.delivery import MOST, Deliveries
from scrapy_simhash.crawl.listeners import Listeners
from scrapy_simhash.crawl.marks import erase_result
from scrapy_simhash.crawl.store_session import StoreSession, told_in_a_sentence
from scrapy_simhash.crawling import (
    Once,
    Page,
    asked_without_us,
    config_of,
    is_crawl,
    key_of,
    language_of,
    share,
    stats_of,
    tree_of,
)
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.recent import Recent
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")

try:
    from scrapy.utils.asyncio import run_in_thread as run_in_thread
except ImportError:  # Scrapy 2.13 and 2.14
    from twisted.internet.threads import deferToThread

    async def run_in_thread(func: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what *func* returns, called in a thread of the loop's own pool; raises what it raises."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # a reactor other than asyncio's: there, coroutines await Deferreds
            return await deferToThread(func, *args, **kwargs)
        return await asyncio.to_thread(func, *args, **kwargs)


#: Bytes of a body beyond which a page is read in a thread. To pass it on takes some 50 microseconds, to read 256 KiB
#: of prose 80 milliseconds in pure Python.
THREAD_SIZE = 256 * 1024
#: Flags by which Scrapy says that a body is not complete. ("partial" says only that the server closed the
#: connection where others tell the length beforehand: the way of HTTP/1.0, and nothing is known to be missing.)
_INCOMPLETE = frozenset(("dataloss", "download_stopped"))

logger = logging.getLogger(__name__)

_WITHOUT_KERNEL = (
    "The C extension of scrapy-simhash is not used, so reading a page takes about 25 times as long: %(reason)s."
    " Install a C compiler and the headers of Python, then run: SCRAPY_SIMHASH_BUILD=require pip install"
    " --force-reinstall --no-deps --no-cache-dir scrapy-simhash"
)


class SimhashDownloaderMiddleware:
    """Compares each response with earlier pages before the spider gets it. Drops no response, and changes none."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = config_of(crawler.settings)
        for sentence in unknown_settings(crawler.settings).values():
            logger.warning("%s", sentence)
        self.crawler = crawler
        self._stats = stats_of(crawler)
        self._is_crawl = is_crawl(crawler)
        # Before a store is opened: what is wrong with a setting leaves none behind.
        self._fingerprinter = PageFingerprinter(self.config)
        self._listeners = share(crawler, Listeners(crawler, self.config))
        self._session = StoreSession(crawler, self.config, fingerprinter=self._fingerprinter)
        self.detector = self._session.detector
        self._listeners.store_opened(self.detector.store)
        self._session.last_step = self._listeners.closing
        self._deliveries = share(
            crawler,
            Deliveries(
                crawler,
                self._fingerprinter.is_near_duplicate,
                keeps_former=self.config.revisit_action != "mark",
            ),
        )
        self._deliveries.delivered = self._note_delivered
        # Keys of originals, by their clusters, that other crawlers may deliver while their copies wait here.
        self._elsewhere: Recent[int, bytes] = Recent(MOST)
        if self.detector.store.is_remote:
            self._deliveries.is_delivered_elsewhere = self._is_delivered_elsewhere
        self._consequences = Consequences(crawler, self._session, self._listeners, self._deliveries)
        self._key_of = key_of(crawler)
        self._is_remote = self.detector.store.is_remote
        self._once = Once(crawler, logger, names.ERRORS_COMPARE)
        self._without_page = self._listeners.former("without_page")
        self._failed = self._listeners.former("failed")
        # Scrapy calls them for every request and every failure if they are there.
        self.process_request: Any
        if self._listeners.see_requests:
            self.process_request = self._listeners.request_sent
        if self._failed:
            self.process_exception = self._note_failure

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*.

        Raises SettingError for a bad setting, and StoreError for a store that cannot be used; both stop the crawl.
        """
        told_in_a_sentence()
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        return middleware

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def _note_failure(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Show a request that failed, after all retries, to the listeners that ask for it."""
        for failed in self._failed:
            try:
                failed(request, exception)
            except Exception:
                self._listeners.give_up("Error while noting the failure of %(about)s", request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, with the verdict in ``request.meta`` and ``response.flags``.

        With conditional requests, return a request in place of a 304 whose page is to be fetched in full.

        Returns a coroutine if the page is read in a thread or the store is remote; Scrapy awaits it.
        """
        if not names.META_OUT.isdisjoint(request.meta):
            erase_result(request)
        page = Page(request, response, self._fingerprinter)
        for without_page in self._without_page:
            instead: Request | Response | Verdict | None = None
            try:
                instead = without_page(request, response)
            except Exception:
                self._listeners.give_up("Error in without_page of %(about)s", response)
                if names.FLAG_NOT_MODIFIED in response.flags:
                    return asked_without_us(request)
            if isinstance(instead, Verdict):
                page.verdict = instead
                return self._consequences.follow(page, decides=False)
            if instead is not None:
                return instead
        reason = self._reason_to_skip(request, response)
        # robots.txt and media files have no callback: neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            page.verdict = Verdict(Status.SKIPPED, reason=reason)
            return self._consequences.follow(page)
        is_large = len(response.body) > THREAD_SIZE
        checking = self._check(page, is_large=is_large)
        if is_large or self._is_remote:
            return self._process_waiting(checking, page)
        finished(checking)
        return self._consequences.follow(page)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the rule, the scope, the actions and the store."""
        config = self.config
        action = config.action if self._is_crawl else "mark (this command does not crawl)"
        if self._is_crawl and config.exact_action is not None:
            action += f", exact action: {config.exact_action}"
        if self._is_crawl and not self._session.forgets and config.revisit_action != "mark":
            action += f", revisit action: {config.revisit_action}"
        logger.info(
            "Marking near-duplicates: %(rule)s, scope: %(scope)s, action: %(action)s, store: %(store)s"
            " (scheme %(scheme)s, kernel %(kernel)s)",
            {
                "rule": self.detector.fingerprinter.rule,
                "scheme": self.detector.fingerprinter.scheme,
                "kernel": kernel.NAME,
                "scope": config.scope,
                "action": action,
                "store": self._session.described,
            },
            extra={"spider": spider},
        )
        if kernel.native is None and os.environ.get(kernel.VARIABLE) != "pure":
            logger.warning(_WITHOUT_KERNEL, {"reason": kernel.REASON}, extra={"spider": spider})
        self._session.log_absence(spider)
        if self._is_crawl:
            for sentence in unused_settings(self.crawler.settings, self._session.lacks).values():
                logger.warning("%s", sentence, extra={"spider": spider})

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Log one line that counts what was found and what was dropped."""
        asks_for_drops = any(getattr(self.config, name) not in (None, "mark") for name in ACTION_SETTINGS)
        logger.info(
            "%(summary)s",
            {"summary": summary_of_pages(self._stats, self._is_crawl and asks_for_drops)},
            extra={"spider": spider},
        )
        self._consequences.spider_closed(spider)

    async def _process_waiting(self, checking: Coroutine[Any, Any, None], page: Page) -> Response:
        await checking
        erase_result(page.request)  # a request that was sent twice may have been marked meanwhile
        return self._consequences.follow(page)

    def _reason_to_skip(self, request: Request, response: Response) -> Reason | None:
        """Return why *response* is not to be checked, None when it is. Looks at no text, so nothing is parsed."""
        if request.callback is NO_CALLBACK:
            return Reason.NO_CALLBACK
        if request.meta.get(names.META) is False:
            return Reason.OPTED_OUT
        if not 200 <= response.status < 300:
            return Reason.STATUS
        body = response.body
        if not isinstance(response, HtmlResponse) or is_xml_feed(body):
            return Reason.NOT_HTML
        if not _INCOMPLETE.isdisjoint(response.flags):
            return Reason.TRUNCATED
        if 0 < self.config.maxsize < len(body):
            return Reason.TOO_LARGE
        return None

    async def _check(self, page: Page, *, is_large: bool) -> None:
        """Find the verdict on *page*: one that *is_large* is read in a thread, a remote store is waited for.

        Of any other page and store there is nothing to wait for.

        Waiting pages stay among the downloader's active requests, so ``CONCURRENT_REQUESTS`` bounds how many there
        are, and the memory they take; the loop's pool of threads bounds how many of them are read at once.
        """
        response, detector = page.response, self.detector
        try:
            # Parsed here, where the spider would have it parsed: the tree is the spider's, and lxml keeps a
            # dictionary of names for each thread that parses, so nodes from elsewhere do not mix with its others.
            root = tree_of(response)
            if root is None:
                page.verdict = _NOT_HTML
                return
            url = response.url
            if self._is_remote:
                await detector.load_site(url)
            since = perf_counter()
            has_language = dict.__contains__(response.headers, b"Content-Language")
            language = language_of(response) if has_language else None
            read = partial(detector.read, root, url, content_language=language)
            if is_large:
                reading = await self._in_thread(read)
                since = perf_counter()
            else:
                reading = read()
            key, asked = self._key_of(page.request), perf_counter()
            verdict = await detector.conclude_async(reading, url, key=key, remember=self._session.remembers)
            if self._is_remote:
                since += perf_counter() - asked
            # A page that says nothing asks nothing, whatever the store would answer. Of several servers one may be
            # away.
            is_answer = self._session.missed and verdict.status is not Status.SKIPPED
            if is_answer and detector.store.absence is None:
                self._session.answered()
            # To tell what has changed.
            if is_large and self.config.changes is not None and verdict.reason in _HAS_CHANGED:
                asked = perf_counter()
                # The verdict stands. What goes wrong here goes wrong again, and is told, where the text is asked for.
                with suppress(Exception):
                    await self._in_thread(lambda: page.document)
                since += perf_counter() - asked
            if verdict.duplicate_of is not None:  # no call of a property for every page
                await self._ask_for_delivery(verdict)
            page.verdict, page.reading, page.key, page.since = verdict, reading, key, since
        except Exception as error:
            page.verdict = self._give_up(error, response)

    def _note_delivered(self, request: Request, text_hash: int | None) -> None:
        if self._session.keeps_deliveries:
            self._session.note_delivered(self._key_of(request), text_hash)

    async def _ask_for_delivery(self, verdict: Verdict) -> None:
        """Ask the store whether the original of a copy was delivered, if it did not come in this crawl."""
        cluster, key = verdict.text_number, verdict.original_key
        if cluster is None or key is None or not self._deliveries.is_unknown(cluster):
            return
        if await self._session.is_delivered(key):
            self._deliveries.note_delivered(cluster)
        elif self._is_remote:
            self._elsewhere[cluster] = key

    async def _is_delivered_elsewhere(self, cluster: int) -> bool:
        key = self._elsewhere.get(cluster)
        try:
            return key is not None and await self._session.is_delivered(key)
        except StoreError as error:
            self._session.failed(error)
            return False

    async def _in_thread(self, function: Callable[[], T]) -> T:
        """Return what *function*, which reads the tree of a page, returns in a thread; raise what it raises."""

        # asyncio cannot carry each exception out of a thread: of StopIteration it makes a page that never comes,
        # before Python 3.12.
        def called() -> tuple[T | None, Exception | None]:
            try:
                return function(), None
            except Exception as error:
                return None, error

        # Nobody else has the tree while the thread reads it: the response is delivered when all is done. (Two
        # requests that a middleware answers with one response share a tree anyway, and reading changes none.)
        result, error = await run_in_thread(called)
        if error is not None:
            raise error
        return cast("T", result)

    def _give_up(self, error: Exception, response: Response) -> Verdict:
        """Return the verdict on a page that could not be checked; call it where the exception is handled."""
        if isinstance(error, StoreError):
            self._session.failed(error)
            return _NOT_ASKED
        self._once.tell(
            "Error while comparing %(about)s with earlier pages: the page is kept, unmarked", response
        )
        return Verdict(Status.UNKNOWN)


_HAS_CHANGED = frozenset((Reason.CHANGED, Reason.SMALL_CHANGE, Reason.NOW_NEAR_DUPLICATE))
_NOT_HTML = Verdict(Status.SKIPPED, reason=Reason.NOT_HTML)
_NOT_ASKED = Verdict(Status.UNKNOWN, reason=Reason.STORE)
