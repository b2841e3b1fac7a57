"""Acts: does to a page that repeats another one what ``SIMHASH_ACTION`` says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash import names
from scrapy_simhash.config import ACTIONS, Config
from scrapy_simhash.crawling import is_crawl
from scrapy_simhash.marks import erase_marks
from scrapy_simhash.verdict import Reason, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


class NearDuplicate(IgnoreRequest):
    """A page was dropped because it repeats another one. An errback, if the request has one, receives it."""

    def __init__(self, response: Response, duplicate_of: str, distance: int | None) -> None:
        super().__init__(f"{response.url} repeats {duplicate_of} (distance {distance})")
        self.response = response
        self.duplicate_of = duplicate_of
        self.distance = distance


class SimhashSpiderMiddleware(BaseSpiderMiddleware):
    """Reads the marks that :class:`~scrapy_simhash.SimhashDownloaderMiddleware` wrote, and acts on them."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = Config.from_settings(crawler.settings)
        if not config.enabled:
            raise NotConfigured("SIMHASH_ENABLED is off")
        self._item_field = config.item_field
        self._acts = is_crawl(crawler)
        self._action = config.action
        self._drops_unchanged = config.revisit_action == "drop_items"
        self._has_warned: set[str] = set()

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped: its callback is not called, its errback is."""
        self._check_action(response)
        if self._action_on(response) == "drop_page":
            # Counted here and not below: an errback, and each rule of a CrawlSpider has one, ends the matter.
            self._stats.inc_value(names.STAT_PAGES_DROPPED)
            meta = response.meta
            raise NearDuplicate(response, meta[names.META_DUPLICATE_OF], meta.get(names.META_DISTANCE))

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterable[Any] | None:
        """Let the NearDuplicate of a page without an errback end quietly."""
        return () if isinstance(exception, NearDuplicate) else None

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, marked if the settings name a field for it; None when it is to be dropped."""
        if response is None or response.request is None or item is None:  # a callback may yield None
            return item
        if self._action_on(response) == "drop_items" or self._has_this_already(response):
            self._stats.inc_value(names.STAT_ITEMS_DROPPED)
            return None
        if self._item_field is not None and _has_a_tale(response):
            self._mark(item, self._item_field, response)
        return item

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* without the marks of the page it came from; None when it is to be dropped."""
        if self._action_on(response) == "drop_links" and not _asks_again(request, response):
            self._stats.inc_value(names.STAT_REQUESTS_DROPPED)
            return None
        # A spider that passes `response.meta` on hands over our marks as well. The request of the page itself,
        # yielded again as a retry, keeps them: the callback may still read them.
        if response is None or request is not response.request:
            erase_marks(request)
        return request

    @property
    def _stats(self) -> StatsCollector:
        stats = self.crawler.stats
        if stats is None:
            raise RuntimeError("the crawler has no stats collector yet")
        return stats

    def _action_on(self, response: Response | None) -> str | None:
        """Return what is to be done about *response*, None for a page that repeats no other."""
        if response is None or response.request is None:
            return None
        meta = response.request.meta
        if names.META_DUPLICATE_OF not in meta:
            return None
        if not self._acts:
            return "mark"
        action = meta.get(names.META_ACTION)
        return str(action) if action in ACTIONS else self._action

    def _has_this_already(self, response: Response) -> bool:
        """Tell whether an earlier crawl, which ended in order, made its items of the very text of this page."""
        meta = response.meta
        return (
            self._drops_unchanged
            and self._acts
            and meta.get(names.META_REASON) == Reason.UNCHANGED.value
            and meta.get(names.META_SETTLED) is True
        )

    def _check_action(self, response: Response) -> None:
        """Count and warn of an action that there is not, on whatever page: it must not wait for a duplicate."""
        action = response.meta.get(names.META_ACTION)
        if action is not None and action not in ACTIONS:
            self._stats.inc_value(names.STAT_BAD_ACTION)
            self._warn_once(
                names.META_ACTION,
                f"{names.META_ACTION} must be one of {', '.join(ACTIONS)}, got {action!r} for {response.url}:"
                f" SIMHASH_ACTION ({self._action}) is used",
            )

    def _mark(self, item: Any, field: str, response: Response) -> None:
        """Put the verdict under *field* of *item*; an item that cannot hold it goes on without."""
        meta = response.meta
        verdict = {
            "status": meta.get(names.META_STATUS),
            "duplicate_of": meta.get(names.META_DUPLICATE_OF),
            "distance": meta.get(names.META_DISTANCE),
            "similarity": meta.get(names.META_SIMILARITY),
            "cluster": meta.get(names.META_CLUSTER),
        }
        if verdict["status"] == Status.REVISIT.value:
            verdict |= {
                "reason": meta.get(names.META_REASON),
                "last_seen": meta.get(names.META_LAST_SEEN),
            }
        try:
            ItemAdapter(item)[field] = verdict
        except Exception:  # an undeclared field, a frozen item, an object that is no item
            self._stats.inc_value(names.STAT_ITEMS_UNMARKED)
            self._warn_once(
                field,
                f"{type(item).__qualname__} has no field {field!r} (SIMHASH_ITEM_FIELD): items go on unmarked",
            )

    def _warn_once(self, about: str, message: str) -> None:
        if about not in self._has_warned:
            self._has_warned.add(about)
            logger.warning(message, extra={"spider": self.crawler.spider})


def _has_a_tale(response: Response) -> bool:
    """Tell whether there is something to say about the page: it repeats another one, or was seen before."""
    meta = response.meta
    return names.META_DUPLICATE_OF in meta or meta.get(names.META_STATUS) == Status.REVISIT.value


def _asks_again(request: Request, response: Response | None) -> bool:
    """Tell whether *request* asks for the page of *response* once more: a retry is no link."""
    if response is None or response.request is None:
        return False
    asked = response.request
    return (request.method, request.url, request.body) == (asked.method, asked.url, asked.body)
