"""Item pipeline: drop items that are near-duplicates of earlier items, or send a signal for them."""

from __future__ import annotations

import logging
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from scrapy_simhash import names
from scrapy_simhash.crawl.counts import summary_of_items
from scrapy_simhash.crawl.drops import NearDuplicatePageItem, UnchangedPageItem
from scrapy_simhash.crawl.items import ItemFingerprinter, ItemReading, TooLarge, item_header
from scrapy_simhash.crawl.store_session import ITEMS, StoreSession
from scrapy_simhash.crawling import Once, config_of, counted, stats_of
from scrapy_simhash.detector import NO_TEXT, verdict_of
from scrapy_simhash.exceptions import StoreError
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.recent import Recent
from scrapy_simhash.signals import near_duplicate_item_found
from scrapy_simhash.store import Posting
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import run_sync

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Max compared items in later pipelines. If a pipeline returns a different object with different values, the signals
#: do not identify the compared item, and it is not removed.
MAX_IN_FLIGHT = 1_000


class NearDuplicateItem(DropItem):
    """An item was dropped because it is a near-duplicate of an earlier item."""

    def __init__(self, verdict: Verdict, log_level: str | None = None) -> None:
        self.duplicate_of = verdict.duplicate_of
        self.distance = verdict.distance
        self.similarity = verdict.similarity
        super().__init__(f"is a near-duplicate of {_evidence(verdict)}", log_level=log_level)


class SimhashItemPipeline:
    """Compares items by ``SIMHASH_ITEM_FIELDS``, and drops near-duplicates or sends a signal."""

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler.settings)
        if not config.item_fields:
            raise NotConfigured("SIMHASH_ITEM_FIELDS is not set")
        # Item fields contain no boilerplate, and no item is dropped as a revisit.
        self.config = replace(config, scope="crawl")
        self.crawler = crawler
        self._session = StoreSession(crawler, self.config, header=item_header(self.config), part=ITEMS)
        self._drops = self._session.is_crawl and config.item_action == "drop_items"
        self._store = self._session.detector.store
        self._rule = self._session.detector.fingerprinter.rule
        self._fingerprinter = ItemFingerprinter(self.config)
        self._has_seen_key = False
        # Compared items in later pipelines, which are stored when they are scraped. The keys are ids of objects,
        # which are unique while the item is referenced here. The last value is true if an error was counted.
        self._in_flight: Recent[int, tuple[Any, Posting, bool]] = Recent(MAX_IN_FLIGHT)
        # Number of items that a remote store is looking up, and the items scraped meanwhile, which the replies may
        # not include.
        self._looking = 0
        self._scraped: deque[Posting] = deque(maxlen=MAX_IN_FLIGHT)
        self._once = Once(crawler, logger, names.ITEMS_ERRORS)
        self._count = stats_of(crawler).inc_value

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline of *crawler*.

        Raises SettingError for a bad setting, and StoreError for a store that cannot be used; both stop the crawl.
        """
        pipeline = cls(crawler)
        crawler.signals.connect(pipeline.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(pipeline.spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(pipeline.item_scraped, signal=signals.item_scraped)
        crawler.signals.connect(pipeline.item_lost, signal=signals.item_error)
        crawler.signals.connect(pipeline.item_lost, signal=signals.item_dropped)
        return pipeline

    # Scrapy 2.13 passes the spider; later versions warn of methods that require it.
    def process_item(self, item: Any, spider: Spider | None = None) -> Any | Coroutine[Any, Any, Any]:
        """Return *item*, or raise NearDuplicateItem; with a remote store, return a coroutine that does.

        An error in this method is counted and logged, and the item is returned.
        """
        processing = self._process(item)
        return processing if self._store.is_remote else run_sync(processing)

    def spider_opened(self, spider: Spider) -> None:
        """Log one line with the fields, the action and the store."""
        fields = ", ".join(f"{field} (weight {weight})" for field, weight in self.config.item_fields)
        action = self.config.item_action if self._session.is_crawl else "mark (this command does not crawl)"
        message = "Comparing items by %s, action: %s, store: %s"
        logger.info(message, fields, action, self._session.described, extra={"spider": spider})
        self._session.log_absence()

    def spider_closed(self, spider: Spider) -> None:
        """Log the counts in one line, and warn if no item has the fields in the settings."""
        stats, config = stats_of(self.crawler), self.config
        logger.info("%s", summary_of_items(stats), extra={"spider": spider})
        items = sum(stats.get_value(stat, 0) for stat in (*_STAT_OF.values(), names.ITEMS_ERRORS))
        number = counted(items, "item")
        if self._in_flight:
            logger.warning(
                "Later crawls will not recognise %s: a later pipeline returned other objects with other values in"
                " SIMHASH_ITEM_FIELDS. Move SimhashItemPipeline after that pipeline",
                counted(len(self._in_flight), "item"),
            )
        if items and items == stats.get_value(names.ITEMS_SKIPPED, 0):
            message = "None of %s has text in SIMHASH_ITEM_FIELDS (%s): check the field names"
            logger.warning(message, number, ", ".join(dict(config.item_fields)))
        elif items and config.item_key is not None and not self._has_seen_key:
            logger.warning(
                "None of %s has a value in SIMHASH_ITEM_KEY (%s), so an item that is scraped again counts as a"
                " near-duplicate of itself: check the field name",
                number,
                config.item_key,
            )

    def item_scraped(self, item: Any) -> Coroutine[Any, Any, None] | None:
        """Store *item*, which all pipelines have passed; with a remote store, return a coroutine that does."""
        number = self._find(item)
        if number is None or not self._session.remembers:
            return None
        remembering = self._remember(number)
        return remembering if self._store.is_remote else run_sync(remembering)

    def item_lost(self, item: Any, exception: Exception | None = None) -> None:
        """Forget *item*, which a later pipeline dropped or failed on, so that similar items are not dropped."""
        # Items that are dropped because of their page never reach this pipeline.
        if not isinstance(exception, NearDuplicateItem | NearDuplicatePageItem | UnchangedPageItem):
            number = self._find(item)
            if number is not None:
                del self._in_flight[number]

    async def _process(self, item: Any) -> Any:
        reading = None
        try:
            reading = self._fingerprinter.read(item, int(time.time()))
            verdict = NO_TEXT if reading is None else await self._compare(reading)
        except TooLarge:
            verdict = Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE)
        except StoreError as error:
            self._session.failed(error)
            self._count(names.ITEMS_ERRORS)
            return self._pass_on(item, reading, has_failed=True)
        except Exception:
            message = "Error while comparing an item (%(about)s) with earlier items: the item is kept"
            self._once.log_exception(message, type(item).__qualname__)
            return self._pass_on(item, reading, has_failed=True)
        self._count(_STAT_OF[verdict.status])
        if verdict.is_exact and verdict.status is Status.NEAR_DUPLICATE:
            self._count(names.STAT_ITEMS_EXACT)
        if verdict.is_duplicate:
            spider = self.crawler.spider
            self.crawler.signals.send_catch_log(
                near_duplicate_item_found, item=item, verdict=verdict, spider=spider
            )
            # Scrapy logs each item that is dropped.
            if self._drops:
                self._count(names.STAT_ITEMS_DROPPED)
                raise NearDuplicateItem(verdict, "DEBUG")
            message = "An item is a near-duplicate of %(evidence)s"
            self._once.show("duplicate", message, {"evidence": _evidence(verdict)})
        return self._pass_on(item, reading)

    def _pass_on(self, item: Any, reading: ItemReading | None, *, has_failed: bool = False) -> Any:
        if reading is not None:
            self._in_flight[id(item)] = (item, reading.posting, has_failed)
        return item

    async def _compare(self, reading: ItemReading) -> Verdict:
        """Return the verdict on an item, which is stored when it has passed all pipelines. Raises StoreError."""
        posting = reading.posting
        self._has_seen_key |= reading.has_identity
        self._looking += 1
        try:
            claim = await self._session.detector.claim(posting, remember=False)
            in_flight = None if claim.original else self._original_in_flight(reading)
        finally:
            self._looking -= 1
            if not self._looking:
                self._scraped.clear()
        self._session.answered()
        verdict = verdict_of(posting._replace(is_short=False), claim)
        distance = claim.distance
        if claim.original is None:
            # An item without a key that is scraped again counts as a near-duplicate of itself.
            is_known = claim.former is not None and not reading.has_identity
            found = (posting, 1.0) if is_known else in_flight
            if found is not None:
                other, similarity = found
                is_exact = posting.page_hash == other.page_hash
                distance = hamming_distance(posting.fingerprint.value, other.fingerprint.value)
                verdict = replace(verdict, duplicate_of=other.url, similarity=similarity, is_exact=is_exact)
        is_revisit = claim.former is not None and reading.has_identity
        if verdict.is_duplicate and not is_revisit:
            verdict = replace(verdict, status=Status.NEAR_DUPLICATE, distance=distance, reason=None)
        if posting.is_short:
            reason = verdict.reason if is_revisit else Reason.SHORT_TEXT
            verdict = replace(verdict, fingerprint=None, distance=distance, reason=reason)
        return verdict

    def _original_in_flight(self, reading: ItemReading) -> tuple[Posting, float] | None:
        """Return the first near-duplicate of *reading* that may not be stored yet, and the similarity of the two."""
        one = reading.posting
        for other in (*self._scraped, *(posting for _, posting, _ in self._in_flight.values())):
            if one.is_short or other.is_short:
                is_same = (one.is_short, one.page_hash) == (other.is_short, other.page_hash)
                similarity = 1.0 if is_same else None
            else:
                similarity = self._rule.similarity(one.fingerprint, other.fingerprint)
            if similarity is not None and not (reading.has_identity and one.key == other.key):
                return other, similarity
        return None

    def _find(self, item: Any) -> int | None:
        """Return the key in ``_in_flight`` of an item that was scraped or lost; None if the item was not compared.

        Signals of lost items pass the object that the spider yielded; signals of scraped items pass the one that the
        last pipeline returned. If this is a different object, its key identifies the item.
        """
        if id(item) in self._in_flight:
            return id(item)
        # Unreadable items were not compared.
        with suppress(Exception):
            if (reading := self._fingerprinter.read(item)) is not None:
                key = reading.posting.key
                return next(
                    (number for number, (_, other, _) in self._in_flight.items() if other.key == key), None
                )
        return None

    async def _remember(self, number: int) -> None:
        _, posting, has_failed = self._in_flight[number]
        try:
            await self._session.detector.claim(posting)
        except StoreError as error:
            self._session.failed(error)
            self._count(names.ITEMS_ERRORS, not has_failed)
        except Exception:
            message = "Error while storing an item (%(about)s): later crawls will not recognise it"
            self._once.log_exception(message, posting.url)
        finally:
            self._in_flight.pop(number, None)
            if self._looking:
                self._scraped.append(posting)


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
