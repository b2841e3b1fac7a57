"""Item pipeline: marks or drops items that repeat an earlier item; and marks in a field of items."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from scrapy_simhash import names
from scrapy_simhash.crawl.counts import summary_of_items
from scrapy_simhash.crawl.drops import NearDuplicatePageItem, UnchangedPageItem
from scrapy_simhash.crawl.items.checker import InFlight, ItemChecker, Ruling
from scrapy_simhash.crawl.items.fingerprint import item_header
from scrapy_simhash.crawl.marks import ItemMarks
from scrapy_simhash.crawl.store_factory import ITEMS
from scrapy_simhash.crawl.store_session import StoreSession, told_in_a_sentence
from scrapy_simhash.crawling import NO_MORE, Once, config_of, counted, stats_of
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.signals import near_duplicate_item_found
from scrapy_simhash.verdict import Status, Verdict
from scrapy_simhash.waiting import finished

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class NearDuplicateItem(DropItem):
    """An item was dropped because it repeats another one."""

    def __init__(self, verdict: Verdict, log_level: str | None = None) -> None:
        self.duplicate_of = verdict.duplicate_of
        self.distance = verdict.distance
        self.similarity = verdict.similarity
        super().__init__(f"is a near-duplicate of {_evidence(verdict)}", log_level=log_level)


class SimhashItemPipeline:
    """Compares items by ``SIMHASH_ITEM_FIELDS``, and marks or drops those that repeat an earlier item."""

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler.settings)
        if not config.item_fields:
            raise NotConfigured("SIMHASH_ITEM_FIELDS is not set")
        # The text of a field does not depend on the site it was found on; and no item is dropped as a revisit.
        self.config = replace(config, scope="crawl")
        self.crawler = crawler
        self._session = StoreSession(crawler, self.config, header=item_header(self.config), part=ITEMS)
        self._drops = self._session.is_crawl and config.item_action == "drop_items"
        self._store = self._session.detector.store
        self._checker = ItemChecker(
            self._session.detector, remembers=self._session.remembers, drops=self._drops
        )
        self._in_flight = InFlight()
        self._once = Once(crawler, logger, names.ITEMS_ERRORS)
        self._count = stats_of(crawler).inc_value
        self._marks = ItemMarks(crawler, config.item_mark, "SIMHASH_ITEM_MARK")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of *crawler*.

        Raises SettingError for a bad setting, and StoreError for a store that cannot be used; both stop the crawl.
        """
        told_in_a_sentence()
        pipeline = cls(crawler)
        crawler.signals.connect(pipeline.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(pipeline.item_scraped, signal=signals.item_scraped)
        crawler.signals.connect(pipeline.item_lost, signal=signals.item_error)
        crawler.signals.connect(pipeline.item_lost, signal=signals.item_dropped)
        return pipeline

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_item(self, item: Any, spider: Spider | None = None) -> Any | Coroutine[Any, Any, Any]:
        """Return *item*, or raise NearDuplicateItem; with a remote store, return a coroutine that does.

        An error in here is counted and logged, and the item is returned.
        """
        processing = self._process(item)
        return processing if self._store.is_remote else finished(processing)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the fields, the action and the store."""
        action = self.config.item_action
        logger.info(
            "Comparing items by %(fields)s, action: %(action)s, store: %(store)s",
            {
                "fields": ", ".join(
                    f"{field} (weight {weight})" for field, weight in self.config.item_fields
                ),
                "action": action if self._session.is_crawl else "mark (this command does not crawl)",
                "store": self._session.described,
            },
            extra={"spider": spider},
        )
        self._session.log_absence(spider)

    def spider_closed(self, spider: Spider) -> None:
        """Log one line that counts what was found, and warn if no item has the fields that the settings name."""
        stats = stats_of(self.crawler)
        logger.info("%(summary)s", {"summary": summary_of_items(stats)}, extra={"spider": spider})
        all_items = (*_STAT_OF.values(), names.ITEMS_ERRORS)
        items = sum(stats.get_value(stat, 0) for stat in all_items)
        if items and items == stats.get_value(names.ITEMS_SKIPPED, 0):
            logger.warning(
                "None of %(items)s has text in SIMHASH_ITEM_FIELDS (%(fields)s): check the field names",
                {"items": counted(items, "item"), "fields": ", ".join(dict(self.config.item_fields))},
                extra={"spider": spider},
            )
        elif items and self.config.item_key is not None and not self._checker.has_met_key:
            logger.warning(
                "None of %(items)s has a value in SIMHASH_ITEM_KEY (%(key)s), so an item that is scraped again counts"
                " as a near-duplicate of itself: check the field name",
                {"items": counted(items, "item"), "key": self.config.item_key},
                extra={"spider": spider},
            )

    def item_scraped(self, item: Any) -> None:
        """Note that all pipelines have passed *item*."""
        self._in_flight.arrive(item)

    def item_lost(self, item: Any, exception: Exception | None = None) -> None:
        """Note that a later pipeline failed or dropped *item*, so that items that repeat it are not dropped."""
        # Those that are dropped because of their page have never been here.
        if isinstance(exception, NearDuplicateItem | NearDuplicatePageItem | UnchangedPageItem):
            return
        # What cannot be read has been counted when it could not be checked.
        with suppress(Exception):
            key = self._in_flight.lose(item, self._checker.key_of)
            if key is not None:
                self._checker.lose(key)

    async def _process(self, item: Any) -> Any:
        try:
            ruling = await self._checker.check(item)
        except Exception as error:
            self._give_up(error, item)
            return item
        return self._settle(ruling, item)

    def _settle(self, ruling: Ruling, item: Any) -> Any:
        """Count, announce and mark the verdict, and return *item*; raise NearDuplicateItem if it is to be dropped."""
        verdict = ruling.verdict
        self._count(_STAT_OF[verdict.status])
        if verdict.status is Status.SKIPPED:
            self._marks.write(item, None)
            return item
        self._session.answered()
        if verdict.is_exact and verdict.status is Status.NEAR_DUPLICATE:
            self._count(names.STAT_ITEMS_EXACT)
        if verdict.is_duplicate:
            self._announce(verdict, item)
        if verdict.is_duplicate and self._drops and ruling.is_dispensable:
            self._count(names.STAT_ITEMS_DROPPED)
            raise NearDuplicateItem(verdict, "DEBUG")
        if ruling.key is not None:
            self._in_flight.add(item, ruling.key)
        self._marks.write(item, None if verdict.status is Status.NEW else verdict.to_dict())
        return item

    def _announce(self, verdict: Verdict, item: Any) -> None:
        # Scrapy logs each item that is dropped.
        if not self._drops and (self._once.is_first("duplicate") or self.config.debug):
            logger.debug(
                "An item is a near-duplicate of %(evidence)s%(hint)s",
                {"evidence": _evidence(verdict), "hint": "" if self.config.debug else NO_MORE},
                extra={"spider": self.crawler.spider},
            )
        self.crawler.signals.send_catch_log(
            near_duplicate_item_found, item=item, verdict=verdict, spider=self.crawler.spider
        )

    def _give_up(self, error: Exception, item: Any) -> None:
        """Count an item that could not be checked; call it where the exception is handled."""
        if isinstance(error, StoreError):
            self._session.failed(error)
            self._count(names.ITEMS_ERRORS)
            self._marks.write(item, None)
            # It may have been stored all the same: then it matters if a later pipeline loses it.
            with suppress(Exception):
                key = self._checker.key_of(item)
                if key is not None:
                    self._in_flight.add(item, key)
            return
        self._once.tell(
            "Error while comparing an item (%(about)s) with earlier items: the item is kept, unmarked",
            type(item).__qualname__,
        )


_STAT_OF = {
    Status.NEW: names.ITEMS_NEW,
    Status.NEAR_DUPLICATE: names.ITEMS_NEAR_DUPLICATES,
    Status.REVISIT: names.ITEMS_REVISITS,
    Status.SKIPPED: names.ITEMS_SKIPPED,
}


def _evidence(verdict: Verdict) -> str:
    if verdict.is_exact:
        return f"{verdict.duplicate_of} (exactly)"
    return f"{verdict.duplicate_of} (distance {verdict.distance}, similarity {verdict.similarity or 0.0:.2f})"
