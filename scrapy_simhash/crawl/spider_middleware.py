"""Acts: does about a page what was decided, before the spider sees it or when its items and links come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.drops import Drops, NearDuplicate
from scrapy_simhash.crawl.marks import ItemMarks, erase_result, note_parent, result_of
from scrapy_simhash.crawling import asks_again, config_of
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
        config = config_of(crawler.settings)
        self._drops = Drops(crawler, config)
        self._notes_parents = config.url_rules != "off"
        self._marks_items = config.item_field is not None
        self._item_marks = ItemMarks(crawler, config.item_field, "SIMHASH_ITEM_FIELD")

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped: its callback is not called, its errback is."""
        result = None if response.request is None else response.request.meta.get(names.META_RESULT)
        # Of most pages nothing was decided, and no function is called.
        is_decided = isinstance(result, dict) and result.get("action") is not None
        if is_decided and _action_on(response) == Action.DROP_PAGE:
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
        # As `result_of` finds it; of most pages nothing was decided, and no function is called.
        asked = None if response is None else response.request
        found = None if asked is None else asked.meta.get(names.META_RESULT)
        async for one in result:
            if isinstance(one, Request):
                one = self.get_processed_request(one, response)
            elif self._marks_items or (isinstance(found, dict) and found.get("action")):
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
        self._item_marks.write(item, _mark(response))
        return item

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* without the result of the page it came from; None when it is to be dropped."""
        if (
            response is not None
            and _action_on(response) in _WITHOUT_LINKS
            and not asks_again(request, response)
        ):
            self._drops.request(request, response)
            return None
        # A spider that passes `response.meta` on hands over our result as well. The request of the page itself,
        # yielded again as a retry, keeps it: the callback may still read it.
        if response is None or request is not response.request:
            erase_result(request)
            if response is not None:
                request.meta.pop(names.META_OWN, None)
        if self._notes_parents and response is not None:
            note_parent(request, response)
        return request


# DROP_PAGE is neither: it is done before there are items and links.
_WITHOUT_ITEMS = (Action.DROP_ITEMS, Action.DROP_ITEMS | Action.DROP_LINKS)
_WITHOUT_LINKS = (Action.DROP_LINKS, Action.DROP_ITEMS | Action.DROP_LINKS)


def _action_on(response: Response) -> Action | None:
    """Return what is to be done about *response*: what was decided, unless the callback has changed it since."""
    words = result_of(response).get("action")
    # Of most pages nothing was decided.
    if words is None:
        return None
    try:
        return Action.named(words)
    except (ValueError, TypeError):
        return None


def _mark(response: Response | None) -> dict[str, Any] | None:
    """Return the mark of an item of *response*.

    None if there is nothing to say: its page repeats no other, was not seen before, and changes are not told.
    """
    result = result_of(response)
    is_told = (
        result.get("duplicate_of") is not None
        or result.get("change") is not None
        or result.get("status") == Status.REVISIT.value
    )
    return result if is_told else None
