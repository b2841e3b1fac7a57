"""Acts: does about a page what was decided, before the spider sees it or when its items and links come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.delivery import OWED, Deliveries, Flight, carries_item
from scrapy_simhash.crawl.drops import Drops, NearDuplicate
from scrapy_simhash.crawl.marks import ItemMarks, erase_result, note_parent, result_of
from scrapy_simhash.crawling import asks_again, config_of, shared
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
        # The downloader middleware, which is made first, shares it.
        self._deliveries = shared(crawler, Deliveries)
        if self._deliveries is not None:
            self._deliveries.drop = self._drops.item
        self._notes_parents = config.url_rules != "off"
        self._marks_items = config.item_field is not None
        self._item_marks = ItemMarks(crawler, config.item_field, "SIMHASH_ITEM_FIELD")

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped: its callback is not called, its errback is."""
        deliveries = self._deliveries
        result = None if response.request is None else response.request.meta.get(names.META_RESULT)
        if not isinstance(result, dict):
            return
        # Of most pages nothing was decided, and no function is called.
        action = None if result.get("action") is None else _action_on(response)
        is_page = action == Action.DROP_PAGE
        if deliveries is not None:
            if action is None or action == Action.MARK:
                deliveries.take_off(response, result)
            elif deliveries.is_asked_for(response) or (
                self._waits(response)
                and (
                    deliveries.is_owed(response, is_page)
                    or (is_page and not deliveries.keep_request(response))
                )
            ):
                deliveries.take_off(response, result)
                return
        if is_page:
            # Counted here and not below: an errback, and each rule of a CrawlSpider has one, ends the matter.
            raise self._drops.page(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterable[Any] | None:
        """Let the NearDuplicate of a page without an errback end quietly."""
        if self._deliveries is not None and (flight := self._deliveries.flight_of(response)) is not None:
            self._deliveries.end_of_callback(flight, has_raised=True)
        return () if isinstance(exception, NearDuplicate) else None

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield what is left of *result*: links and items that are not dropped, items of copies if they are owed."""
        flight = self._flight_of(response)
        kept: list[Any] | None = (
            [] if flight is None and response is not None and self._waits(response) else None
        )
        error: Exception | None = None
        try:
            async for one in result:
                if isinstance(one, Request):
                    one = self.get_processed_request(one, response)
                elif flight is not None and one is not None:
                    flight.open += 1
                    flight.items += 1
                    if self._marks_items:
                        self._item_marks.write(one, _mark(response))
                elif kept is not None and one is not None and _action_on(response) in _WITHOUT_ITEMS:
                    kept.append(one)
                    continue
                else:
                    one = self.get_processed_item(one, response)
                if one is not None:
                    yield one
        except Exception as raised:
            error = raised
        if kept and response is not None:
            for item in self._keep(response, kept):
                yield item
            # There is one by now if they are delivered.
            flight = self._flight_of(response)
        if flight is not None and self._deliveries is not None:
            self._deliveries.end_of_callback(flight, has_raised=error is not None)
        if error is not None:
            raise error

    def _flight_of(self, response: Response | None) -> Flight | None:
        return None if self._deliveries is None else self._deliveries.flight_of(response)

    def _waits(self, response: Response) -> bool:
        """Tell whether a page loses what it loses as a copy of a text that is not known to be delivered."""
        result = result_of(response)
        return (
            self._deliveries is not None
            and result.get("action") not in (None, "mark")
            and result.get("dropped_as") != "unchanged"
            and self._deliveries.waits(response)
        )

    def _keep(self, response: Response, items: list[Any]) -> list[Any]:
        """Keep the items of a copy; return those that are delivered now: its text has failed, or there is no room."""
        if self._marks_items:
            for item in items:
                self._item_marks.write(item, _mark(response))
        # Its text may have been settled while the callback ran.
        if self._deliveries is None or not self._waits(response):
            for item in items:
                self._drops.item(item, response)
            return []
        if not self._deliveries.is_owed(response) and self._deliveries.keep_items(response, items):
            return []
        self._deliveries.take_off(response, result_of(response))
        if (flight := self._flight_of(response)) is not None:
            flight.open = flight.items = len(items)
        return items

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, with its mark if the settings name a field for it; None when it is to be dropped."""
        if item is None:  # a callback may yield None
            return None
        # What an errback yields for a page that was dropped is its own: that page has had its action.
        if response is not None and _action_on(response) in _WITHOUT_ITEMS:
            self._drops.item(item, response)
            return None
        if self._marks_items:
            self._item_marks.write(item, _mark(response))
        return item

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* without the result of the page it came from; None when it is to be dropped."""
        if (
            response is not None
            and _action_on(response) in _WITHOUT_LINKS
            and not asks_again(request, response)
            and self._is_link_known(request, response)
        ):
            self._drops.request(request, response)
            return None
        # A spider that passes `response.meta` on hands over our result as well. The request of the page itself,
        # yielded again as a retry, keeps it: the callback may still read it.
        if response is None or request is not response.request:
            erase_result(request)
            if response is not None and names.META_OWN in request.meta:
                own = request.meta.pop(names.META_OWN)
                if asks_again(request, response) and (kept := OWED.intersection(own)):
                    request.meta[names.META_OWN] = {name: own[name] for name in kept}
        if self._notes_parents and response is not None:
            note_parent(request, response)
        if self._deliveries is not None and response is not None:
            self._deliveries.note_request(request, response, self._deliveries.flight_of(response))
        return request

    def _is_link_known(self, request: Request, response: Response) -> bool:
        """Tell whether a link may be dropped: the callback of a page with this text came to its end.

        One that carries an item is dropped only if the text is delivered.
        """
        if self._deliveries is None or not self._waits(response):
            return True
        return self._deliveries.has_ended(response) and not carries_item(request)


# DROP_PAGE is neither: it is done before there are items and links.
_WITHOUT_ITEMS = (Action.DROP_ITEMS, Action.DROP_ITEMS | Action.DROP_LINKS)
_WITHOUT_LINKS = (Action.DROP_LINKS, Action.DROP_ITEMS | Action.DROP_LINKS)


def _action_on(response: Response | None) -> Action | None:
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
