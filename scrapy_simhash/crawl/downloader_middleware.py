"""Marks: judges every response on its way to the spider and writes what was found into its request's meta."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured

from scrapy_simhash import kernel, names
from scrapy_simhash.config import Config, unknown_settings, unused_settings
from scrapy_simhash.crawl.consequences import Consequences
from scrapy_simhash.crawl.crawling import is_crawl
from scrapy_simhash.crawl.judge import Judge, Judgement
from scrapy_simhash.crawl.meta import erase_marks
from scrapy_simhash.crawl.stats import stats_of
from scrapy_simhash.crawl.store_session import StoreSession
from scrapy_simhash.crawl.summary import summary_of_pages
from scrapy_simhash.fingerprinter import SCHEME, PageFingerprinter
from scrapy_simhash.values import ACTION_SETTINGS
from scrapy_simhash.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class SimhashDownloaderMiddleware:
    """Judges what the spider is about to get. Drops no response, and changes none."""

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
        self._is_crawl = is_crawl(crawler)
        # Before a store is opened: what is wrong with a setting leaves none behind.
        fingerprinter = PageFingerprinter(self.config)
        self._consequences = Consequences(crawler, fingerprinter, self._is_crawl)
        self._session = StoreSession(crawler, self.config, fingerprinter=fingerprinter)
        self.detector = self._session.detector
        self._judge = Judge(crawler, self.detector, remembers=self._session.remembers)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*.

        What stops the crawl: SettingError for a bad setting, StoreError for a store that cannot be used.
        """
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(middleware.outcome_lost, signal=signals.spider_error)
        crawler.signals.connect(middleware.outcome_lost, signal=signals.item_error)
        return middleware

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Raise IgnoreRequest for what ``SIMHASH_FLOOD_ACTION`` has stopped; an errback, if there is one, gets it."""
        if self._consequences.refuses(request):
            raise IgnoreRequest(f"{request.url} would be one more address of a page that floods the crawl")

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response | Coroutine[Any, Any, Response]:
        """Return *response* itself, judged: see ``request.meta`` and ``response.flags``.

        For a page to be read in a thread, or a store to be waited for, a coroutine that returns it: Scrapy awaits
        what can be awaited.
        """
        erase_marks(request)
        reason = self._judge.reason_to_skip(request, response)
        # robots.txt and media files are nobody's page: neither marked nor counted.
        if reason is Reason.NO_CALLBACK:
            return response
        if reason is not None:
            return self._settle(Judgement(Verdict(Status.SKIPPED, reason=reason)), request, response)
        if self._judge.must_wait(response):
            return self._process_waiting(request, response)
        return self._settle(self._judge.judge(request, response), request, response)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line that says what will be done."""
        self._consequences.spider_opened()
        config = self.config
        action = config.action if self._is_crawl else "mark, for this is a look at single pages"
        if self._is_crawl and config.exact_action is not None:
            action += f"; exact copies: {config.exact_action}"
        if self._is_crawl and not self._session.forgets and config.revisit_action != "mark":
            action += f"; unchanged pages: {config.revisit_action}"
            if self._session.sees_live_crawlers:
                action += ", also if another live crawler has handed them on"
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
        self._session.log("Pages", spider)
        if self._is_crawl:
            self._warn_of_idle_settings(spider)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """Log one line that says what was found, and what was dropped."""
        self._consequences.spider_closed(spider)
        asks_for_drops = any(getattr(self.config, name) not in (None, "mark") for name in ACTION_SETTINGS)
        logger.info(
            "%(summary)s",
            {"summary": summary_of_pages(stats_of(self.crawler), self._is_crawl and asks_for_drops)},
            extra={"spider": spider},
        )

    def outcome_lost(self, response: Response | None) -> None:
        """Note that a callback failed, or a pipeline: the page is not to be left out next time as if it were done."""
        if response is not None and response.request is not None:
            self._session.unsettle(self._judge.key_of(response.request))

    def _warn_of_idle_settings(self, spider: Spider) -> None:
        """Warn of settings that ask for something which the others leave no way to do."""
        config = self.config
        idle = (
            (
                "SIMHASH_REVISIT_ACTION",
                config.revisit_action,
                config.revisit_action != "mark" and self._session.forgets,
                "without a store that outlives the crawl: set SIMHASH_DIR",
            ),
            (
                "SIMHASH_REDIS_REQUIRED",
                config.redis_required,
                config.redis_required and not self._session.is_redis,
                "without a store in Redis: set SIMHASH_STORE to redis",
            ),
            (
                "SIMHASH_REVISIT_LIVE",
                config.revisit_live,
                config.revisit_live and not self._session.is_redis,
                "without a store in Redis, where other crawlers are: set SIMHASH_STORE to redis",
            ),
            (
                "SIMHASH_REVISIT_LIVE",
                config.revisit_live,
                self._session.sees_live_crawlers and config.revisit_action == "mark",
                "while SIMHASH_REVISIT_ACTION is mark, except for requests with simhash_revisit_action: set"
                " SIMHASH_REVISIT_ACTION",
            ),
            (
                "SIMHASH_ITEM_ACTION",
                config.item_action,
                config.item_action != "mark" and not config.item_fields,
                "without fields to compare: set SIMHASH_ITEM_FIELDS",
            ),
            *(
                (
                    name,
                    field,
                    field is not None and not config.item_fields,
                    "without fields to compare: set SIMHASH_ITEM_FIELDS",
                )
                for name, field in (
                    ("SIMHASH_ITEM_MARK", config.item_mark),
                    ("SIMHASH_ITEM_KEY", config.item_key),
                )
            ),
            (
                "SIMHASH_FLOOD_ACTION",
                config.flood_action,
                config.flood_action != "report" and not config.flood_size,
                "without a watch: set SIMHASH_FLOOD_SIZE",
            ),
            (
                "SIMHASH_ACROSS_SCOPES",
                config.across_scopes,
                config.across_scopes and config.scope == "crawl",
                "while all pages are in one scope: set SIMHASH_SCOPE",
            ),
        )
        for name, value, is_idle, reason in idle:
            if is_idle:
                logger.warning(
                    "%(name)s (%(value)s) does nothing %(reason)s",
                    {"name": name, "value": value, "reason": reason},
                    extra={"spider": spider},
                )

    async def _process_waiting(self, request: Request, response: Response) -> Response:
        judgement = await self._judge.judge_waiting(request, response)
        erase_marks(request)  # a request that was sent twice may have been marked meanwhile
        return self._settle(judgement, request, response)

    def _settle(self, judgement: Judgement, request: Request, response: Response) -> Response:
        """Return *response*, all that follows from its verdict done."""
        decision = self._consequences.draw(judgement, request, response)
        if judgement.key is not None and judgement.verdict.status is not Status.SKIPPED:
            stats_of(self.crawler).set_value(names.STAT_INDEX_SIZE, self.detector.store.index_size)
            if decision.loses_items:
                self._session.unsettle(judgement.key)
        return response
