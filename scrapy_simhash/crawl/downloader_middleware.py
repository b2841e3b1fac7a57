"""Downloader middleware: compares every response with earlier pages, writes the verdict into ``request.meta``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured

from scrapy_simhash import kernel, names
from scrapy_simhash.config import ACTION_SETTINGS, Config, unknown_settings, unused_settings
from scrapy_simhash.crawl import page_checker
from scrapy_simhash.crawl.consequences import Consequences, observers_of
from scrapy_simhash.crawl.counts import summary_of_pages
from scrapy_simhash.crawl.drops import advice_of
from scrapy_simhash.crawl.marks import erase_result
from scrapy_simhash.crawl.page_checker import PageChecker
from scrapy_simhash.crawl.store_session import StoreSession, told_in_a_sentence
from scrapy_simhash.crawling import (
    Depths,
    JudgedPage,
    Observers,
    asked_without_us,
    is_crawl,
    key_of,
    share,
    stats_of,
)
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import awaited, finished

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


logger = logging.getLogger(__name__)


class SimhashDownloaderMiddleware:
    """Compares each response with earlier pages before the spider gets it. Drops no response, and changes none."""

    def __init__(self, crawler: Crawler) -> None:
        self.config = Config.from_settings(crawler.settings)
        if not self.config.enabled:
            raise NotConfigured("SIMHASH_ENABLED is off")
        for sentence in unknown_settings(crawler.settings).values():
            logger.warning("%s", sentence)
        self.crawler = crawler
        self._stats = stats_of(crawler)
        self._depths = Depths(crawler.settings)
        self._is_crawl = is_crawl(crawler)
        # Before a store is opened: what is wrong with a setting leaves none behind.
        fingerprinter = PageFingerprinter(self.config)
        asked_for = observers_of(crawler, fingerprinter)
        self._session = StoreSession(crawler, self.config, fingerprinter=fingerprinter)
        self.detector = self._session.detector
        kept = [one for one in asked_for if one.keep_in(self.detector.store)]
        self._observers = share(crawler, Observers(crawler, kept))
        self._session.last_step = self._observers.finish
        self._consequences = Consequences(crawler, self._session, self._observers)
        self._checker = PageChecker(crawler, self._session)
        self._screens = self._observers.hooks("screen")
        self._without_page = self._observers.hooks("without_page")
        # Scrapy calls them for every request and every failure if they are there.
        self.process_request: Any
        if self._screens:
            self.process_request = self._screen
        if self._observers.hooks("failed"):
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
    async def _screen(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Return what takes the place of a request that is not to be sent now, None for one that is.

        Raises IgnoreRequest for one that is not to be sent at all, which the errback, if any, gets.
        """
        for screen in self._screens:
            instead: Request | Response | None = None
            try:
                instead = await awaited(screen(request))
            except IgnoreRequest:
                raise
            except Exception:
                self._observers.give_up("Error while asking whether to send %(about)s: it is sent", request)
            if instead is not None:
                return instead
        return None

    def _note_failure(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Take note of a request that has no answer, after all retries."""
        self._observers.tell("failed", request, exception)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, with the verdict in ``request.meta`` and ``response.flags``.

        With conditional requests, return a request in place of a 304 whose page is to be fetched in full.

        Returns a coroutine if the page is read in a thread or the store is remote; Scrapy awaits it.
        """
        if not names.META_OUT.isdisjoint(request.meta):
            erase_result(request)
        page = JudgedPage(request, response, self._depths)
        for without_page in self._without_page:
            instead: Request | Response | Verdict | None = None
            try:
                instead = without_page(request, response)
            except Exception:
                self._observers.give_up("Error in without_page of %(about)s", response)
                if names.FLAG_NOT_MODIFIED in response.flags:
                    return asked_without_us(request)
            if isinstance(instead, Verdict):
                page.verdict = instead
                return self._consequences.follow(page, decides=False)
            if instead is not None:
                return instead
        reason = self._checker.reason_to_skip(request, response)
        # robots.txt and media files have no callback: neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            page.verdict = Verdict(Status.SKIPPED, reason=reason)
            return self._consequences.follow(page)
        is_large = len(response.body) > page_checker.THREAD_SIZE
        checking = self._checker.check(page, is_large=is_large)
        if is_large or self.detector.store.is_remote:
            return self._process_waiting(checking, page)
        finished(checking)
        return self._consequences.follow(page)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the rule, the scope, the actions and the store."""
        self._observers.tell("spider_opened", spider)
        config = self.config
        action = config.action if self._is_crawl else "mark (this command does not crawl)"
        if self._is_crawl and config.exact_action is not None:
            action += f", exact action: {config.exact_action}"
        if self._is_crawl and not self._session.forgets and config.revisit_action != "mark":
            action += f", revisit action: {config.revisit_action}"
            if self._session.sees_live_crawlers:
                action += ", also for pages of live crawlers"
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
            for sentence in unused_settings(self.crawler.settings, self._session.lacks).values():
                logger.warning("%s", sentence, extra={"spider": spider})

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Log one line that counts what was found and what was dropped."""
        self._observers.tell("spider_closed", spider, reason)
        asks_for_drops = any(getattr(self.config, name) not in (None, "mark") for name in ACTION_SETTINGS)
        logger.info(
            "%(summary)s",
            {"summary": summary_of_pages(self._stats, self._is_crawl and asks_for_drops)},
            extra={"spider": spider},
        )
        if command := advice_of(self.crawler).on_crawl():
            logger.info(
                "To see which pages are near-duplicates of which: %(command)s",
                {"command": command},
                extra={"spider": spider},
            )
        self._consequences.slow_pages.spider_closed(spider)

    def outcome_lost(self, response: Response | None) -> None:
        """Tell the store that a callback or a pipeline failed: the next crawl delivers the page."""
        if response is not None and (request := response.request) is not None:
            try:
                self._session.unsettle(key_of(self.crawler, request))
            except Exception:
                self._observers.give_up("Error while noting that the items of %(about)s are lost", request)
            self._observers.tell("outcome_lost", request)

    async def _process_waiting(self, checking: Coroutine[Any, Any, None], page: JudgedPage) -> Response:
        await checking
        erase_result(page.request)  # a request that was sent twice may have been marked meanwhile
        return self._consequences.follow(page)
