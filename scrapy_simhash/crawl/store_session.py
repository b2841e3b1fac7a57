"""StoreSession: a store of one crawl, from its opening to its end."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_simhash.crawl import failed_starts
from scrapy_simhash.crawl.crawling import is_crawl
from scrapy_simhash.crawl.store_factory import kind_of_store, open_store
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.store import Header

logger = logging.getLogger(__name__)


class StoreSession:
    """Opens a store, says so in the log, and closes it: after all that is handed on, or if nothing ever starts.

    To be made while the components of a crawl are built, and to be held: signals hold nobody. *header* and *part* are
    as for ``open_store``, *fingerprinter* as for the detector. Raises what ``open_store`` does.
    """

    def __init__(
        self,
        crawler: Crawler,
        config: Config,
        *,
        header: Header | None = None,
        part: str = "",
        fingerprinter: PageFingerprinter | None = None,
    ) -> None:
        self.crawler = crawler
        self.is_crawl = is_crawl(crawler)
        failed_starts.close_failed()
        store = open_store(crawler, config, not self.is_crawl, header=header, part=part)
        self.detector = NearDuplicateDetector(config, store, fingerprinter=fingerprinter)
        #: Whether nothing outlives the crawl. What somebody made of a store in memory may last.
        self.forgets = type(store) is MemoryStore
        #: Who looks at single pages leaves no trace in what crawls remember.
        self.remembers = self.is_crawl or self.forgets
        self.is_redis = kind_of_store(config, crawler.settings) == "redis"
        #: Whether pages may be dropped since another crawler at work has handed them on.
        self.sees_live_crawlers = self.is_redis and config.revisit_live > 0
        self._telling: asyncio.Task[None] | None = None
        self._awaits_start = self.is_crawl and not self.forgets
        self._close_reason = "finished"
        if self._awaits_start:
            failed_starts.note(crawler, store)
        crawler.signals.connect(self._engine_started, signal=signals.engine_started)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    def unsettle(self, key: bytes) -> None:
        """Note that the items of the page *key* were dropped or lost: this crawl does not settle it.

        With SIMHASH_REVISIT_LIVE the store is told at once, since other crawlers drop what this one has handed on.
        """
        if not self.remembers or self.forgets:
            return
        self.detector.unsettle(key)
        if self.sees_live_crawlers and (self._telling is None or self._telling.done()):
            self._telling = asyncio.create_task(self._tell())

    def log(self, what: str, spider: Spider) -> None:
        """Log one line that says where *what* is kept, and how much there is, or why that cannot be asked.

        Nothing if it is not kept.
        """
        if self.forgets:
            return
        config, store = self.detector.config, self.detector.store
        absence: StoreError | None = getattr(store, "absence", None)
        if absence is not None:
            logger.info(
                "%(what)s go on unmarked (status unknown) while %(absence)s%(hint)s",
                {
                    "what": what,
                    "absence": str(absence).rstrip("."),
                    "hint": ". SIMHASH_REDIS_REQUIRED = True would stop the crawl" if self.is_crawl else "",
                },
                extra={"spider": spider},
            )
            return
        logger.info(
            "%(what)s are %(kept)s in %(store)s: %(count)d known%(hint)s",
            {
                "what": what,
                "kept": "kept" if self.remembers else "looked up",
                "store": store,
                "count": len(store),
                "hint": ", for SIMHASH_RESET is on" if self.is_crawl and config.reset else "",
            },
            extra={"spider": spider},
        )

    async def _tell(self) -> None:
        # What cannot be told now is told with the next page, or at the end.
        with suppress(StoreError):
            await self.detector.flush_async()

    def _engine_started(self) -> None:
        """Take note that there will be an end."""
        failed_starts.forget(self.crawler)
        self._awaits_start = False

    async def _spider_closed(self, reason: str) -> None:
        """Remember the reason, and close the store of a spider that is closed before the engine has started."""
        self._close_reason = reason
        if self._awaits_start:
            failed_starts.forget(self.crawler)
            await self._engine_stopped()

    async def _engine_stopped(self) -> None:
        """Close the store: later than anything that a page or an item is handed on to, feeds among them."""
        store = self.detector.store
        end: Callable[[], Awaitable[None] | None] = partial(store.close, self._close_reason)
        try:
            await self.detector.flush_async()
        except StoreError as error:
            logger.warning("Pages of this crawl will come again in the next one: %s", error)
            # What could not be told would make pages look settled that are not.
            end = store.abandon
        try:
            waiting = end()
            if waiting is not None:
                await waiting
        except StoreError as error:
            logger.warning("%s", error)
