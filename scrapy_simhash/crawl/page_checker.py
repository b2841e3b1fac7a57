"""PageChecker: a response in, a verdict out, at once or when it has been waited for; never an exception.

A large page is read in a thread. A store that stops answering is told once, and once more when it answers again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_simhash import names
from scrapy_simhash.crawling import Once, counted, language_of, tree_of
from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.crawl.store_session import StoreSession
    from scrapy_simhash.crawling import JudgedPage


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


logger = logging.getLogger(__name__)

#: Bytes of a body beyond which a page is read in a thread. To pass it on takes some 50 microseconds, to read 256 KiB
#: of prose 80 milliseconds in pure Python.
THREAD_SIZE = 256 * 1024


class StoreOutage:
    """Logs when the store stops answering, and when it answers again."""

    def __init__(self, what: str = "page", stat: str = names.ERRORS_STORE) -> None:
        """*what* is ``page`` or ``item``; those that are not compared are counted in *stat*."""
        self._what = what
        self._stat = stat
        #: Pages or items that were not compared since the store has answered last.
        self.missed = 0

    def failed(self, error: Exception, spider: Spider | None) -> None:
        """Note that the store did not answer for one page or item."""
        self.missed += 1
        if self.missed == 1:
            logger.warning(
                "%(what)s are not compared (status unknown, counted in the stat %(stat)s) until the store answers"
                " again: %(error)s",
                {"what": f"{self._what.capitalize()}s", "stat": self._stat, "error": error},
                extra={"spider": spider},
            )

    def answered(self, spider: Spider | None) -> None:
        """Note an answer."""
        if self.missed:
            logger.info(
                "The store answers again; %(missed)s not compared in the meantime",
                {"missed": counted(self.missed, self._what)},
                extra={"spider": spider},
            )
            self.missed = 0


#: Flags by which Scrapy says that a body is not complete. ("partial" says only that the server closed the
#: connection where others tell the length beforehand: the way of HTTP/1.0, and nothing is known to be missing.)
_INCOMPLETE = frozenset(("dataloss", "download_stopped"))


class PageChecker:
    """Runs the detector on responses. Whatever goes wrong costs a stat and a warning, never the page."""

    def __init__(self, crawler: Crawler, session: StoreSession) -> None:
        """Pages are claimed if *session* remembers them; else they are only looked up."""
        self._crawler = crawler
        self._session = session
        self._detector = session.detector
        self._is_remote = self._detector.store.is_remote
        self._remembers = session.remembers
        self._config = self._detector.config
        self._store_outage = StoreOutage()
        # Counted with the verdict.
        self._once = Once(crawler, logger, names.ERRORS_COMPARE)

    def reason_to_skip(self, request: Request, response: Response) -> Reason | None:
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
        if 0 < self._config.maxsize < len(body):
            return Reason.TOO_LARGE
        return None

    async def check(self, page: JudgedPage, *, is_large: bool) -> None:
        """Find the verdict on *page*: one that *is_large* is read in a thread, a remote store is waited for.

        Of any other page and store there is nothing to wait for.

        Waiting pages stay among the downloader's active requests, so ``CONCURRENT_REQUESTS`` bounds how many there
        are, and the memory they take; the loop's pool of threads bounds how many of them are read at once.
        """
        response, detector = page.response, self._detector
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
            # As `key_of` has it, without a call of it for every page.
            fingerprinter = self._crawler.request_fingerprinter
            assert fingerprinter is not None  # there is one before the first page
            key, asked = fingerprinter.fingerprint(page.request), perf_counter()
            verdict = await detector.conclude_async(reading, url, key=key, remember=self._remembers)
            if self._is_remote:
                since += perf_counter() - asked
            # A page that says nothing asks nothing, whatever the store would answer. Of several servers one may be
            # away.
            is_answer = self._store_outage.missed and verdict.status is not Status.SKIPPED
            if is_answer and detector.store.absence is None:
                self._store_outage.answered(self._crawler.spider)
            if is_large and self._is_read_again(verdict):
                asked = perf_counter()
                # The verdict stands. What goes wrong here goes wrong again, and is told, where the text is asked for.
                with suppress(Exception):
                    page.document = await self._in_thread(partial(page.text, detector.fingerprinter))
                since += perf_counter() - asked
            if verdict.duplicate_of is not None:  # no call of a property for every page
                page.stands_in = await self._session.stands_in(verdict, key)
            page.verdict, page.reading, page.key, page.since = verdict, reading, key, since
        except Exception as error:
            page.verdict = self._give_up(error, response)

    def _is_read_again(self, verdict: Verdict) -> bool:
        """Tell whether somebody may ask for the text of a page: whether it protects the page, or what has changed."""
        config = self._config
        if config.changes is not None and verdict.reason in _HAS_CHANGED:
            return True
        return (
            verdict.is_duplicate
            and not verdict.is_exact
            and (config.action != "mark" or config.url_rules == "skip")
            and "product" in config.protect
        )

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
        # The store has named it in the log, and answers for all others.
        if isinstance(error, RecordDamaged):
            return _NOT_ASKED
        if isinstance(error, StoreError):
            self._store_outage.failed(error, self._crawler.spider)
            return _NOT_ASKED
        self._once.tell(
            "Error while comparing %(about)s with earlier pages: the page is kept, unmarked", response
        )
        return Verdict(Status.UNKNOWN)


_HAS_CHANGED = frozenset((Reason.CHANGED, Reason.SMALL_CHANGE, Reason.NOW_NEAR_DUPLICATE))
_NOT_HTML = Verdict(Status.SKIPPED, reason=Reason.NOT_HTML)
_NOT_ASKED = Verdict(Status.UNKNOWN, reason=Reason.STORE)
