"""Acts: does about a page what was decided, before the spider sees it or when its items and links come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.config import Config
from scrapy_simhash.crawl.drops import Drops, NearDuplicate
from scrapy_simhash.crawl.marks import ItemMarks, erase_marks, note_parent
from scrapy_simhash.crawling import asks_again
from scrapy_simhash.verdict import Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class SimhashSpiderMiddleware(BaseSpiderMiddleware):
    """Does what :class:`~scrapy_simhash.SimhashDownloaderMiddleware` decided."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = Config.from_settings(crawler.settings)
        if not config.enabled:
            raise NotConfigured("SIMHASH_ENABLED is off")
        self._drops = Drops(crawler, config)
        self._notes_parents = config.url_rules != "off"
        self._item_marks = (
            ItemMarks(crawler, config.item_field, "SIMHASH_ITEM_FIELD", names.STAT_ITEMS_UNMARKED)
            if config.item_field is not None
            else None
        )

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped: its callback is not called, its errback is."""
        # Of most pages nothing was decided.
        if response.request is None or names.META_DONE not in response.request.meta:
            return
        if _action_on(response) == Action.DROP_PAGE:
            # Counted here and not below: an errback, and each rule of a CrawlSpider has one, ends the matter.
            raise self._drops.page(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterable[Any] | None:
        """Let the NearDuplicate of a page without an errback end quietly."""
        return () if isinstance(exception, NearDuplicate) else None

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield what is left of *result*, as the base class does; that one has a generator more around each item."""
        asked = None if response is None else response.request
        async for one in result:
            if isinstance(one, Request):
                one = self.get_processed_request(one, response)
            elif self._item_marks is not None or (asked is not None and names.META_DONE in asked.meta):
                one = self.get_processed_item(one, response)
            if one is not None:
                yield one

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, with its mark if the settings name a field for it; None when it is to be dropped."""
        if item is None:  # a callback may yield None
            return None
        # What an errback yields for a page that was dropped is its own: that page has had its action.
        if response is not None and _action_on(response) in _WITHOUT_ITEMS:
            self._drops.item(item, response)
            return None
        if self._item_marks is not None:
            self._item_marks.write(item, _mark(response))
        return item

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* without the marks of the page it came from; None when it is to be dropped."""
        if (
            response is not None
            and _action_on(response) in _WITHOUT_LINKS
            and not asks_again(request, response)
        ):
            self._drops.request(request, response)
            return None
        # A spider that passes `response.meta` on hands over our marks as well. The request of the page itself,
        # yielded again as a retry, keeps them: the callback may still read them.
        if response is None or request is not response.request:
            erase_marks(request)
        if self._notes_parents and response is not None:
            note_parent(request, response)
        return request


# DROP_PAGE is neither: it is done before there are items and links.
_WITHOUT_ITEMS = (Action.DROP_ITEMS, Action.DROP_ITEMS | Action.DROP_LINKS)
_WITHOUT_LINKS = (Action.DROP_LINKS, Action.DROP_ITEMS | Action.DROP_LINKS)


def _action_on(response: Response) -> Action:
    """Return what is to be done about *response*: what was decided, unless the callback has changed it since."""
    if response.request is None:
        return Action.MARK
    words = response.request.meta.get(names.META_DONE)
    try:
        return Action.MARK if words is None else Action.named(words)
    except (ValueError, TypeError):
        return Action.MARK


def _mark(response: Response | None) -> dict[str, Any] | None:
    """Return the mark of an item of *response*.

    None if there is nothing to say: its page repeats no other, was not seen before, and changes are not told.
    """
    if response is None or response.request is None:
        return None
    meta = response.meta
    is_revisit = meta.get(names.META_STATUS) == Status.REVISIT.value
    change = meta.get(names.META_CHANGE)
    if names.META_DUPLICATE_OF not in meta and not is_revisit and change is None:
        return None
    mark = {
        "status": meta.get(names.META_STATUS),
        "duplicate_of": meta.get(names.META_DUPLICATE_OF),
        "distance": meta.get(names.META_DISTANCE),
        "similarity": meta.get(names.META_SIMILARITY),
        "cluster": meta.get(names.META_CLUSTER),
    }
    if is_revisit:
        mark |= {"reason": meta.get(names.META_REASON), "last_seen": meta.get(names.META_LAST_SEEN)}
    if change is not None:
        mark["change"] = change
    return mark
