"""Marks: judges every response on its way to the spider and writes the verdict into its request's meta."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypedDict, cast

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import kernel, names, unstarted
from scrapy_simhash.config import ACTIONS, LOSING_ACTIONS, Config, unknown_settings
from scrapy_simhash.crawling import is_crawl
from scrapy_simhash.detector import NearDuplicateDetector, is_async
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.fingerprinter import SCHEME, Reading
from scrapy_simhash.marks import erase_marks, write_marks
from scrapy_simhash.outage import Outage
from scrapy_simhash.signals import near_duplicate_found
from scrapy_simhash.store import MemoryStore
from scrapy_simhash.stores import open_store
from scrapy_simhash.threads import run_in_thread
from scrapy_simhash.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Flags by which Scrapy says that a body is not complete. ("partial" says only that the server closed the
#: connection where others tell the length beforehand: the way of HTTP/1.0, and nothing is known to be missing.)
_INCOMPLETE = frozenset(("dataloss", "download_stopped"))


class _Circumstances(TypedDict):
    key: bytes
    remember: bool
    drops_copies: bool


class SimhashDownloaderMiddleware:
    """Runs the detector on what the spider is about to get. Never drops, never changes a response's body."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = Config.from_settings(crawler.settings)
        if not self.config.enabled:
            raise NotConfigured("SIMHASH_ENABLED is off")
        for unknown, resembled in unknown_settings(crawler.settings).items():
            hint = f"; did you mean {resembled}?" if resembled else ""
            logger.warning("%s is not a setting of scrapy-simhash%s", unknown, hint)
        self.crawler = crawler
        self._is_crawl = is_crawl(crawler)
        unstarted.close_failed()
        self.detector = NearDuplicateDetector(
            self.config, open_store(crawler, self.config, read_only=not self._is_crawl)
        )
        # What somebody made of a store in memory may last.
        self._forgets = type(self.detector.store) is MemoryStore
        # Who looks at single pages leaves no trace in what crawls remember.
        self._remembers = self._is_crawl or self._forgets
        if self._is_crawl and not self._forgets:
            unstarted.note(crawler, self.detector.store)
        self._outage = Outage()
        self._close_reason = "finished"
        self._has_warned = False
        self._has_shown_duplicate = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*.

        What stops the crawl: SettingError for a bad setting, StoreError for a store that cannot be used.
        """
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(middleware.engine_started, signal=signals.engine_started)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(middleware.start_failed, signal=signals.spider_closed)
        crawler.signals.connect(middleware.engine_stopped, signal=signals.engine_stopped)
        crawler.signals.connect(middleware.outcome_lost, signal=signals.spider_error)
        crawler.signals.connect(middleware.outcome_lost, signal=signals.item_error)
        return middleware

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, judged: see ``request.meta`` and ``response.flags``.

        For a page to be read in a thread, or a store to be waited for, a coroutine that returns it: Scrapy awaits
        what can be awaited.
        """
        erase_marks(request)
        reason = self._reason_to_skip(request, response)
        # robots.txt and media files are nobody's page: neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            return self._settle(Verdict(Status.SKIPPED, reason=reason), request, response)
        is_large = 0 < self.config.thread_size < len(response.body)
        if is_large or is_async(self.detector.store):
            return self._process_waiting(request, response, is_large)
        return self._settle(self._judge(request, response), request, response)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line that says what will be done."""
        config = self.config
        action = config.action if self._is_crawl else "mark, for this is a look at single pages"
        if self._is_crawl and not self._forgets and config.revisit_action != "mark":
            action += f"; unchanged pages: {config.revisit_action}"
        rule = self.detector.fingerprinter.rule
        logger.info(
            "Near-duplicates are recognised by %(rule)s (scheme %(scheme)s, kernel %(kernel)s) among pages of the"
            " same %(scope)s; action: %(action)s",
            {
                "rule": rule,
                "scheme": SCHEME,
                "kernel": kernel.NAME,
                "scope": config.scope,
                "action": action,
            },
            extra={"spider": spider},
        )
        store = self.detector.store
        if not self._forgets:
            logger.info(
                "Pages are %(kept)s in %(store)s: %(pages)d known%(hint)s",
                {
                    "kept": "kept" if self._remembers else "looked up",
                    "store": store,
                    "pages": len(store),
                    "hint": ", for SIMHASH_RESET is on" if self._is_crawl and config.reset else "",
                },
                extra={"spider": spider},
            )
        elif self._is_crawl and config.revisit_action != "mark":
            logger.warning(
                "SIMHASH_REVISIT_ACTION (%(action)s) does nothing without a store that outlives the crawl: set"
                " SIMHASH_DIR",
                {"action": config.revisit_action},
                extra={"spider": spider},
            )

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Log one line that says what was found."""
        self._close_reason = reason
        skipped = sum(self._stats.get_value(f"{names.STAT_SKIPPED}/{reason.value}", 0) for reason in Reason)
        logger.info(
            "Near-duplicates: %(processed)d pages judged, %(new)d new, %(duplicates)d near-duplicates,"
            " %(revisits)d revisits; %(skipped)d skipped, %(errors)d errors",
            {
                "processed": self._stats.get_value(names.STAT_PROCESSED, 0),
                "new": self._stats.get_value(names.STAT_NEW, 0),
                "duplicates": self._stats.get_value(names.STAT_NEAR_DUPLICATES, 0),
                "revisits": self._stats.get_value(names.STAT_REVISITS, 0),
                "skipped": skipped,
                "errors": self._stats.get_value(names.STAT_ERRORS, 0)
                + self._stats.get_value(names.STAT_STORE_ERRORS, 0),
            },
            extra={"spider": spider},
        )

    def outcome_lost(self, response: Response | None) -> None:
        """Note that a callback failed, or a pipeline: the page is not to be left out next time as if it were done."""
        if not self._remembers or self._forgets:
            return
        if response is not None and response.request is not None:
            self.detector.doubt(self._request_key(response.request))

    def engine_started(self) -> None:
        """Take note that there will be an end."""
        unstarted.forget(self.crawler)

    async def start_failed(self, reason: str) -> None:
        """Close the store of a spider that is closed before the engine has started."""
        if unstarted.forget(self.crawler):
            self._close_reason = reason
            await self.engine_stopped()

    async def engine_stopped(self) -> None:
        """Close the store: later than anything that a page is handed on to, feeds among them."""
        store = self.detector.store
        try:
            try:
                await self.detector.amend_async()
            finally:
                if is_async(store):
                    await store.close(self._close_reason)
                else:
                    store.close(self._close_reason)
        except StoreError as error:
            logger.warning("%s", error)

    @property
    def _stats(self) -> StatsCollector:
        stats = self.crawler.stats
        if stats is None:
            raise RuntimeError("the crawler has no stats collector yet")
        return stats

    def _reason_to_skip(self, request: Request, response: Response) -> Reason | None:
        """Return why *response* is not to be judged, None when it is. Looks at no text, so nothing is parsed."""
        if request.callback is NO_CALLBACK:
            return Reason.NO_CALLBACK
        if request.meta.get(names.META_ENABLED, True) is False:
            return Reason.OPTED_OUT
        if not 200 <= response.status < 300:
            return Reason.STATUS
        if not isinstance(response, HtmlResponse):
            return Reason.NOT_HTML
        if not _INCOMPLETE.isdisjoint(response.flags):
            return Reason.TRUNCATED
        if self.config.maxsize and len(response.body) > self.config.maxsize:
            return Reason.TOO_LARGE
        return None

    def _judge(self, request: Request, response: Response) -> Verdict:
        """Return the verdict; whatever goes wrong in here costs a stat and a warning, never the page."""
        try:
            root = _tree(response)
            if root is None:
                return Verdict(Status.SKIPPED, reason=Reason.NOT_HTML)
            reading = self.detector.fingerprinter.read(
                root, response.url, content_language=_language(response)
            )
            return self._conclude(reading, request, response)
        except Exception as error:
            return self._give_up(error, response)

    def _conclude(self, reading: Reading, request: Request, response: Response) -> Verdict:
        verdict = self.detector.conclude(reading, response.url, **self._circumstances(request))
        self._note_answer(verdict)
        return verdict

    async def _process_waiting(self, request: Request, response: Response, is_large: bool) -> Response:
        """Return *response*, judged like any other, but with waiting while the crawl goes on.

        A large page is read in a thread, and a store that is somewhere else is waited for. Waiting pages stay among
        the downloader's active requests, so ``CONCURRENT_REQUESTS`` bounds how many there are, and the memory they
        take; the loop's pool of threads bounds how many of them are read at once.
        """
        try:
            # Parsed here, where the spider would have it parsed: the tree is the spider's, and lxml keeps a
            # dictionary of names for each thread that parses, so nodes from elsewhere do not mix with its others.
            root = _tree(response)
            if root is None:
                verdict = Verdict(Status.SKIPPED, reason=Reason.NOT_HTML)
            else:
                verdict = await self._judge_waiting(root, request, response, is_large)
        except Exception as error:
            verdict = self._give_up(error, response)
        erase_marks(request)  # a request that was sent twice may have been marked meanwhile
        return self._settle(verdict, request, response)

    async def _judge_waiting(
        self, root: Any, request: Request, response: Response, is_large: bool
    ) -> Verdict:
        if is_large:
            self._stats.inc_value(names.STAT_THREADED)
            # Nobody else has the tree while the thread reads it: the response is handed on when all is done. (Two
            # requests that a middleware answers with one response share a tree anyway, and reading changes none.)
            reading = await run_in_thread(self._read, root, response.url, _language(response))
            if isinstance(reading, Exception):
                raise reading
        else:
            reading = self.detector.fingerprinter.read(
                root, response.url, content_language=_language(response)
            )
        if not is_async(self.detector.store):
            # Here again, and to the end without another await: look-up and insert are one step.
            return self._conclude(reading, request, response)
        verdict = await self.detector.conclude_async(reading, response.url, **self._circumstances(request))
        self._note_answer(verdict)
        return verdict

    def _note_answer(self, verdict: Verdict) -> None:
        # A page that says nothing asks nothing, whatever the store would answer.
        if verdict.status is not Status.SKIPPED:
            self._outage.answered(self.crawler.spider)

    def _read(self, root: Any, url: str, language: str) -> Reading | Exception:
        """Return the reading, or what went wrong: asyncio cannot carry each exception out of a thread.

        Of StopIteration it makes a page that never comes, before Python 3.12.
        """
        try:
            return self.detector.fingerprinter.read(root, url, content_language=language)
        except Exception as error:
            return error

    def _give_up(self, error: Exception, response: Response) -> Verdict:
        """Return the verdict on a page that could not be judged; call it where the exception is handled."""
        if isinstance(error, StoreError):
            self._outage.failed(error, self.crawler.spider)
            return Verdict(Status.UNKNOWN, reason=Reason.STORE)
        logger.log(
            logging.DEBUG if self._has_warned else logging.WARNING,
            "Could not tell whether %(response)s is a near-duplicate: it goes on unmarked. Further"
            " failures are logged at level DEBUG and counted in the stat %(stat)s",
            {"response": response, "stat": names.STAT_ERRORS},
            exc_info=True,
            extra={"spider": self.crawler.spider},
        )
        self._has_warned = True
        return Verdict(Status.UNKNOWN)

    def _settle(self, verdict: Verdict, request: Request, response: Response) -> Response:
        """Return *response*, its verdict made known: in meta, in the stats, and by a signal if it repeats another."""
        write_marks(verdict, request)
        self._count(verdict)
        if verdict.is_duplicate:
            self._announce(verdict, request, response)
        return response

    def _circumstances(self, request: Request) -> _Circumstances:
        """Return what the detector is to know of the request of a page."""
        action = request.meta.get(names.META_ACTION)
        action = action if action in ACTIONS else self.config.action
        return {
            "key": self._request_key(request),
            "remember": self._remembers,
            "drops_copies": self._is_crawl and action in LOSING_ACTIONS,
        }

    def _request_key(self, request: Request) -> bytes:
        fingerprinter = self.crawler.request_fingerprinter
        if fingerprinter is None:
            raise RuntimeError("the crawler has no request fingerprinter yet")
        return fingerprinter.fingerprint(request)

    def _count(self, verdict: Verdict) -> None:
        if verdict.status is Status.SKIPPED and verdict.reason is not None:
            self._stats.inc_value(f"{names.STAT_SKIPPED}/{verdict.reason.value}")
            return
        if verdict.status is Status.UNKNOWN:
            self._stats.inc_value(names.STAT_ERRORS if verdict.reason is None else names.STAT_STORE_ERRORS)
            return
        self._stats.inc_value(names.STAT_PROCESSED)
        self._stats.inc_value(_STAT_OF[verdict.status])
        if verdict.status is Status.REVISIT and verdict.reason is not None:
            self._stats.inc_value(f"{names.STAT_REVISITS}/{verdict.reason.value}")
        self._stats.set_value(names.STAT_INDEX_SIZE, self.detector.store.index_size)

    def _announce(self, verdict: Verdict, request: Request, response: Response) -> None:
        if names.FLAG not in response.flags:  # a middleware may answer twice with one response object
            response.flags.append(names.FLAG)
        if self.config.debug or not self._has_shown_duplicate:
            hint = "" if self.config.debug else " - no more will be shown (see SIMHASH_DEBUG to show all)"
            logger.debug(
                "%(url)s repeats %(original)s (status %(status)s, distance %(distance)s, similarity"
                " %(similarity).2f)%(hint)s",
                {
                    "url": response.url,
                    "original": verdict.duplicate_of,
                    "status": verdict.status.value,
                    "distance": verdict.distance,
                    "similarity": verdict.similarity or 0.0,
                    "hint": hint,
                },
                extra={"spider": self.crawler.spider},
            )
            self._has_shown_duplicate = True
        self.crawler.signals.send_catch_log(
            near_duplicate_found,
            request=request,
            response=response,
            verdict=verdict,
            spider=self.crawler.spider,
        )


_STAT_OF = {
    Status.NEW: names.STAT_NEW,
    Status.NEAR_DUPLICATE: names.STAT_NEAR_DUPLICATES,
    Status.REVISIT: names.STAT_REVISITS,
}


def _tree(response: Response) -> Any:
    """Return the root of the tree, the very one that the spider gets; None for JSON that calls itself HTML."""
    root = cast("HtmlResponse", response).selector.root
    return root if hasattr(root, "iter") else None


def _language(response: Response) -> str:
    return (response.headers.get(b"Content-Language") or b"").decode("latin-1")
