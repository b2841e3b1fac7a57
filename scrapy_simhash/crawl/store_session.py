"""StoreSession: the store of one crawl, from opening to closing."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_simhash import names
from scrapy_simhash.config import FORGETS
from scrapy_simhash.crawl.store_factory import open_store
from scrapy_simhash.crawling import counted, is_crawl, stats_of
from scrapy_simhash.detector import NearDuplicateDetector
from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.waiting import awaited, finished

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.store import Header, Page

logger = logging.getLogger(__name__)


class StoreSession:
    """Opens a store, and closes it after the last item was exported, or if the crawl never starts.

    Create it while the components of a crawl are built, and keep a reference: Scrapy's signals hold weak ones.
    *header* and *part* are as for ``open_store``, *fingerprinter* as for the detector. Raises the errors of
    ``open_store``.
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
        _close_failed()
        store = open_store(crawler, config, not self.is_crawl, header=header, part=part)
        self.detector = NearDuplicateDetector(config, store, fingerprinter=fingerprinter)
        #: Whether the store ends with the crawl.
        self.forgets = store.is_memory
        #: Whether pages are stored: commands such as scrapy shell only read the store of a crawl.
        self.remembers = self.is_crawl or self.forgets
        #: Whether later crawls know which pages this one has delivered.
        self.keeps_deliveries = self.is_crawl and not self.forgets
        #: Number of pages or items that were not compared since the last answer of the store.
        self.missed = 0
        self._noun, self._stat_missed = ("item", names.ITEMS_ERRORS) if part else ("page", names.ERRORS_STORE)
        #: Called before the store is closed; must not raise.
        self.last_step: Callable[[], Awaitable[None]] | None = None
        self._began = int(time.time())
        # Number of known pages when this run began, if the store was available.
        self._former = 0 if self.forgets or store.absence is not None else len(store)
        self._close_reason = "finished"
        if self.is_crawl and not self.forgets:
            _opened.append(self)
        crawler.signals.connect(self._engine_started, signal=signals.engine_started)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    def note_delivered(self, key: bytes, page_hash: int | None) -> None:
        """Record that an item of the page *key* was delivered. Deliveries are stored in batches."""
        self.detector.deliver(key, page_hash)

    async def is_delivered(self, key: bytes) -> bool:
        """Return whether the page *key*, which did not come in this crawl, counts as delivered.

        True if an earlier crawl delivered it (with ``SIMHASH_REVISIT_ACTION``), or another crawler in this crawl.
        Raises StoreError.
        """
        counts = self.detector.config.revisit_action != "mark"
        if self.forgets or not (counts or self.detector.store.is_remote):
            return False
        page = await awaited(self.detector.store.get(key))
        return page is not None and page.posting.is_delivered and (counts or self._is_of_this_run(page))

    def _is_of_this_run(self, page: Page) -> bool:
        """Return whether this run, or a concurrent one, saw a page last."""
        # Timestamps have one-second resolution, and clocks may be wrong.
        seen = page.posting.seen
        return self._began < seen <= time.time() or (seen == self._began and page.number >= self._former)

    @property
    def described(self) -> str:
        """The name of the store in the log, with its number of pages or items."""
        store = self.detector.store
        if self.forgets:
            return "memory"
        place = str(store).removeprefix("the store ")
        if store.absence is not None:
            return f"{place} (not connected)"
        known = f"{counted(len(store), self._noun)} known"
        if not self.remembers:
            known += ", read-only"
        elif self.detector.config.reset:
            known += ", SIMHASH_RESET is True"
        return f"{place} ({known})"

    @property
    def lacks(self) -> set[str]:
        """Capabilities that the store lacks and that settings may need."""
        return {FORGETS} if self.forgets else set()

    def log_absence(self, spider: Spider) -> None:
        """Log one line if the store is unavailable at the start."""
        absence = self.detector.store.absence
        if absence is not None:
            logger.info(
                "%(what)s are not compared (status unknown) while %(absence)s%(hint)s",
                {
                    "what": f"{self._noun.capitalize()}s",
                    "absence": str(absence).rstrip("."),
                    "hint": ". To stop the crawl instead, add required=true to SIMHASH_STORE"
                    if self.is_crawl
                    else "",
                },
                extra={"spider": spider},
            )

    def failed(self, error: StoreError) -> None:
        """Count a page or item without an answer of the store; log the first one since the last answer."""
        # The store has logged the damaged record, and answers for all others.
        if isinstance(error, RecordDamaged):
            return
        self.missed += 1
        if self.missed == 1:
            logger.warning(
                "%(what)s are not compared (status unknown, counted in the stat %(stat)s) until the store answers"
                " again: %(error)s",
                {"what": f"{self._noun.capitalize()}s", "stat": self._stat_missed, "error": error},
                extra={"spider": self.crawler.spider},
            )

    def answered(self) -> None:
        """Record that the store has answered, and log it after an outage."""
        if self.missed:
            logger.info(
                "The store answers again; %(missed)s not compared in the meantime",
                {"missed": counted(self.missed, self._noun)},
                extra={"spider": self.crawler.spider},
            )
            self.missed = 0

    def _engine_started(self) -> None:
        """Record that the engine has started, so that its stop closes the store."""
        if self in _opened:
            _opened.remove(self)

    async def _spider_closed(self, reason: str) -> None:
        """Remember the reason; close the store at once if the engine has not started."""
        self._close_reason = reason
        if damaged := self.detector.store.damaged:
            stats_of(self.crawler).inc_value(names.ERRORS_RECORD, damaged)
        if self in _opened:
            _opened.remove(self)
            await self._engine_stopped()

    async def _engine_stopped(self) -> None:
        """Close the store, after the last item was exported to the feeds."""
        store = self.detector.store
        if self.last_step is not None:
            await self.last_step()
        try:
            await self.detector.flush_async()
        except Exception as error:
            stats_of(self.crawler).inc_value(names.ERRORS_ACTION)
            logger.warning(
                "Deliveries of this crawl were not stored, so the next crawl delivers these pages again: %s",
                error,
            )
        try:
            await awaited(store.close(self._close_reason))
        except Exception as error:
            stats_of(self.crawler).inc_value(names.ERRORS_ACTION)
            logger.warning("%s", error)


#: Sessions of crawls whose engine has not started. A started engine signals its stop. Before that, a component or a
#: pipeline may fail, and the next crawl in the same process needs the file.
_opened: list[StoreSession] = []


def _close_failed() -> None:
    """Close the stores of crawls that will never start. Remote stores hold nothing before the first page."""
    for session in list(_opened):
        if not session.crawler.crawling:
            _opened.remove(session)
            store = session.detector.store
            if not store.is_remote:
                try:
                    finished(awaited(store.close("failed")))
                except StoreError as error:
                    logger.warning("%s", error)
