"""Downloader middleware: compares every response with earlier pages, writes the verdict into ``request.meta``."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_simhash import kernel, names
from scrapy_simhash.config import Config, idle_settings, unknown_settings, unused_settings
from scrapy_simhash.crawl.consequences import Consequences
from scrapy_simhash.crawl.counts import summary_of_pages
from scrapy_simhash.crawl.drops import advice_of
from scrapy_simhash.crawl.marks import erase_marks
from scrapy_simhash.crawl.page_checker import PageChecker
from scrapy_simhash.crawl.store_session import StoreSession, told_in_a_sentence
from scrapy_simhash.crawling import Checked, is_crawl, stats_of
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.values import ACTION_SETTINGS
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_simhash.observers.recrawl.recrawling import Recrawling


logger = logging.getLogger(__name__)


class SimhashDownloaderMiddleware:
    """Compares each response with earlier pages before the spider gets it. Drops no response, and changes none."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = Config.from_settings(crawler.settings)
        if not self.config.enabled:
            raise NotConfigured("SIMHASH_ENABLED is off")
        for unknown, resembled in unknown_settings(crawler.settings).items():
            hint = f"; did you mean {resembled}?" if resembled else ""
            logger.warning("%s is not a setting of scrapy-simhash%s", unknown, hint)
        for sentence in unused_settings(crawler.settings).values():
            logger.warning("%s", sentence)
        self.crawler = crawler
        self._stats = stats_of(crawler)
        self._is_crawl = is_crawl(crawler)
        # Before a store is opened: what is wrong with a setting leaves none behind.
        fingerprinter = PageFingerprinter(self.config)
        self._consequences = Consequences(crawler, fingerprinter, self._is_crawl)
        self._session = StoreSession(crawler, self.config, fingerprinter=fingerprinter)
        self.detector = self._session.detector
        self._consequences.keep_in(self._session)
        self._slow_pages = SlowPages(crawler)
        self._checker = PageChecker(crawler, self.detector, remembers=self._session.remembers)
        self._recrawling = _recrawling(crawler, self.config, self._session, self._consequences.is_gone)
        # Scrapy calls it for every request if it is there.
        self.process_request: Any
        if self._recrawling is not None:
            self.process_request = self._screen_known
        elif self.config.url_rules == "skip":
            self.process_request = self._screen
        if self.config.changes is not None and self._is_crawl:
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
        crawler.signals.connect(middleware.outcome_lost, signal=signals.spider_error)
        crawler.signals.connect(middleware.outcome_lost, signal=signals.item_error)
        return middleware

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def _screen(self, request: Request, spider: Spider | None = None) -> Request | None:
        """Raise IgnoreRequest for a request that is not to be sent, which the errback, if any, gets.

        Return a request that is to be sent later; Scrapy puts it back into the queue.
        """
        return self._consequences.screen(request)

    async def _screen_known(
        self, request: Request, spider: Spider | None = None
    ) -> Request | Response | None:
        """Do the same, and skip known pages that are not due: return a response with their kept requests, if any."""
        later = self._consequences.screen(request)
        if later is not None or self._recrawling is None:
            return later
        return await self._recrawling.screen(request)

    def _note_failure(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Take note of a request that has no answer, after all retries."""
        self._consequences.failed(request, exception)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, with the verdict in ``request.meta`` and ``response.flags``.

        With conditional requests, return a request in place of a 304 whose page is to be fetched in full.

        Returns a coroutine if the page is read in a thread or the store is remote; Scrapy awaits it.
        """
        erase_marks(request)
        if self._recrawling is not None and not _WITHOUT_PAGE.isdisjoint(response.flags):
            return self._process_not_modified(self._recrawling, request, response)
        reason = self._checker.reason_to_skip(request, response)
        # robots.txt and media files have no callback: neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            return self._settle(Checked(Verdict(Status.SKIPPED, reason=reason)), request, response)
        checking = self._checker.check(request, response)
        if self._checker.must_wait(response):
            return self._process_waiting(checking, request, response)
        return self._settle(finished(checking), request, response)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the rule, the scope, the actions and the store."""
        self._consequences.spider_opened(spider)
        config = self.config
        action = config.action if self._is_crawl else "mark (this command does not crawl)"
        if self._is_crawl and config.exact_action is not None:
            action += f", exact action: {config.exact_action}"
        if self._is_crawl and not self._session.forgets and config.revisit_action != "mark":
            action += f", revisit action: {config.revisit_action}"
            if self._session.sees_live_crawlers:
                action += f", revisit live: {config.revisit_live} s"
        logger.info(
            "Marking near-duplicates: %(rule)s, scope: %(scope)s, action: %(action)s, store: %(store)s"
            " (scheme %(scheme)s, kernel %(kernel)s)",
            {
                "rule": self.detector.fingerprinter.rule,
                "scheme": self.detector.fingerprinter.scheme,
                "kernel": kernel.NAME,
                "scope": config.scope,
                "action": action,
                "store": self._session.described("page"),
            },
            extra={"spider": spider},
        )
        self._session.log_absence("Pages", spider)
        if self._is_crawl:
            idle = idle_settings(
                config,
                forgets=self._session.forgets,
                keeps_answers=self._recrawling is not None,
                is_redis=self._session.is_redis,
            )
            for sentence in idle:
                logger.warning("%s", sentence, extra={"spider": spider})

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Log one line that counts what was found and what was dropped."""
        self._consequences.spider_closed(spider, reason)
        if self.detector.sites is not None and (known := self.detector.sites.known):
            self._stats.set_value(names.STAT_HOSTS_KNOWN, known)
        asks_for_drops = any(getattr(self.config, name) not in (None, "mark") for name in ACTION_SETTINGS)
        logger.info(
            "%(summary)s",
            {"summary": summary_of_pages(self._stats, self._is_crawl and asks_for_drops)},
            extra={"spider": spider},
        )
        if command := advice_of(self.crawler).on_crawl():
            logger.info(
                "To see which page repeats which: %(command)s", {"command": command}, extra={"spider": spider}
            )
        self._slow_pages.spider_closed(spider)
        if self._recrawling is not None:
            self._recrawling.spider_closed(spider)

    def outcome_lost(self, response: Response | None) -> None:
        """Tell the store that a callback or a pipeline failed: the next crawl delivers the page."""
        if response is not None and response.request is not None:
            self._session.unsettle(self._checker.key_of(response.request))
            self._consequences.outcome_lost(response.request)

    async def _process_waiting(
        self, checking: Coroutine[Any, Any, Checked], request: Request, response: Response
    ) -> Response:
        checked = await checking
        erase_marks(request)  # a request that was sent twice may have been marked meanwhile
        return self._settle(checked, request, response)

    def _process_not_modified(
        self, recrawling: Recrawling, request: Request, response: Response
    ) -> Request | Response:
        verdict, again = recrawling.not_modified(request, response)
        if verdict is not None:
            self._consequences.not_modified(verdict, request, response)
        return response if again is None else again

    def _settle(self, checked: Checked, request: Request, response: Response) -> Response:
        """Act on the verdict and return *response*."""
        decision = self._consequences.draw(checked, request, response)
        if checked.key is not None and checked.verdict.status is not Status.SKIPPED:
            self._stats.set_value(names.STAT_INDEX_SIZE, self.detector.store.index_size)
            if decision.loses_items:
                self._session.unsettle(checked.key)
        if self._recrawling is not None:
            self._recrawling.note(checked, request, response, decision.loses_links)
        if checked.since is not None:
            self._slow_pages.note(response.url, perf_counter() - checked.since)
        return response


def _recrawling(
    crawler: Crawler, config: Config, session: StoreSession, is_gone: Callable[[Request], bool]
) -> Recrawling | None:
    """Return the one of *crawler*, None if the settings do not ask for it or the store cannot keep answers."""
    is_asked = config.conditional or config.recrawl or config.recrawl_budget
    if not is_asked or session.forgets or not session.is_crawl:
        return None
    from scrapy_simhash.observers.recrawl.recrawling import Recrawling

    recrawling = Recrawling.opened(crawler, config, session.detector.store, is_gone)
    if recrawling is not None:
        session.last_steps.append(recrawling.finish)
    return recrawling


_WITHOUT_PAGE = frozenset((names.FLAG_NOT_MODIFIED, names.FLAG_NOT_DUE))


#: Seconds that the work on one page may take.
BUDGET = 0.05


class SlowPages:
    """Counts the pages above `BUDGET`, and remembers the slowest."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = stats_of(crawler)
        self._longest = BUDGET
        self._slowest: str | None = None

    def note(self, url: str, seconds: float) -> None:
        """Take note of a page that took *seconds* of the loop's time; waits and Scrapy's parse are none of it."""
        if seconds <= BUDGET:
            return
        self._stats.inc_value(names.STAT_SLOW_PAGES)
        if seconds > self._longest:
            self._longest, self._slowest = seconds, url

    def spider_closed(self, spider: Spider) -> None:
        """Log the slowest page, if any was slow."""
        if self._slowest is None:
            return
        logger.info(
            "Pages that took more than %(budget)d ms of the event loop: %(pages)d (stat %(stat)s); the slowest took"
            " %(longest)d ms: %(url)s",
            {
                "budget": BUDGET * 1000,
                "pages": self._stats.get_value(names.STAT_SLOW_PAGES),
                "stat": names.STAT_SLOW_PAGES,
                "longest": self._longest * 1000,
                "url": self._slowest,
            },
            extra={"spider": spider},
        )
