"""Spider middleware: drops pages, items and links according to the result in ``request.meta``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.misc import arg_to_iter

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.delivery import OWED, Deliveries, carries_item
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
    """Applies the decisions of :class:`~scrapy_simhash.SimhashDownloaderMiddleware`."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = config_of(crawler.settings)
        self._drops = Drops(crawler, config)
        # The downloader middleware, which is created first, shares it.
        self.deliveries = shared(crawler, Deliveries)
        if self.deliveries is not None:
            self.deliveries.drop = self.drop
        self._notes_parents = config.url_rules != "off"
        self.marks_items = config.result_field is not None
        self._item_marks = ItemMarks(crawler, config.result_field)

    def drop(self, item: Any, response: Response) -> None:
        """Drop an item of a copy or of an unchanged page."""
        self._drops.item(item, response)

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped: its callback is not called, its errback is."""
        deliveries = self.deliveries
        result = None if response.request is None else response.request.meta.get(names.META_RESULT)
        if not isinstance(result, dict):
            return
        # No function is called for most pages, which have no action.
        action = None if result.get("action") is None else _action_on(response)
        is_page = action == Action.DROP_PAGE
        if deliveries is not None and (
            action is None
            or action == Action.MARK
            or self._is_delivered_anyway(deliveries, response, is_page=is_page)
        ):
            deliveries.take_off(response, result)
            return
        if is_page:
            # Counted here and not below, since an errback, which each rule of a CrawlSpider has, handles the
            # exception.
            raise self._drops.page(response)

    def _is_delivered_anyway(self, deliveries: Deliveries, response: Response, *, is_page: bool) -> bool:
        """Return whether a page to be dropped goes to its callback: its text is needed, or it cannot wait."""
        if deliveries.is_asked_for(response):
            return True
        if not self.waits(response):
            return False
        return deliveries.is_owed(response, is_page) or (is_page and not deliveries.keep_request(response))

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterable[Any] | None:
        """Let the NearDuplicate of a page without an errback end quietly."""
        if self.deliveries is not None and (flight := self.deliveries.flight_of(response)) is not None:
            self.deliveries.end_of_callback(flight, has_raised=True)
        return () if isinstance(exception, NearDuplicate) else None

    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """Yield links and items of *result* that are not dropped, and kept items that are delivered now."""
        output, error = _Output(self, response), None
        try:
            for one in result:
                if (one := output.left_of(one)) is not None:
                    yield one
        except Exception as raised:
            error = raised
        yield from output.end(error)
        if error is not None:
            raise error

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Do what ``process_spider_output`` does."""
        output, error = _Output(self, response), None
        try:
            async for one in result:
                if (one := output.left_of(one)) is not None:
                    yield one
        except Exception as raised:
            error = raised
        for one in output.end(error):
            yield one
        if error is not None:
            raise error

    def waits(self, response: Response) -> bool:
        """Return whether a page has an action as a copy of a text that is not known to be delivered."""
        result = result_of(response)
        return (
            self.deliveries is not None
            and result.get("action") not in (None, "mark")
            and result.get("dropped_as") != "unchanged"
            and self.deliveries.waits(response)
        )

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, marked if the settings name a field; None if it is dropped."""
        if item is None:  # a callback may yield None
            return None
        # Items of an errback are kept, since its page was dropped already.
        if response is not None and _action_on(response) in _WITHOUT_ITEMS:
            self.drop(item, response)
            return None
        if self.marks_items:
            self.mark(item, response)
        return item

    def mark(self, item: Any, response: Response | None) -> None:
        """Write the mark of the page of *response* into *item*."""
        self._item_marks.write(item, _mark(response))

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* without the result of the page that yielded it; None if it is dropped."""
        if (
            response is not None
            and _action_on(response) in _WITHOUT_LINKS
            and not asks_again(request, response)
            and self._is_link_known(request, response)
        ):
            self._drops.request(request, response)
            return None
        # A spider that passes `response.meta` on also passes the result. The request of the page itself, yielded
        # again as a retry, keeps the result, since the callback may still read it.
        if response is None or request is not response.request:
            erase_result(request)
            if response is not None and names.META_OWN in request.meta:
                own = request.meta.pop(names.META_OWN)
                if asks_again(request, response) and (kept := OWED.intersection(own)):
                    request.meta[names.META_OWN] = {name: own[name] for name in kept}
        if self._notes_parents and response is not None:
            note_parent(request, response)
        if self.deliveries is not None and response is not None:
            self.deliveries.note_request(request, response, self.deliveries.flight_of(response))
        return request

    def _is_link_known(self, request: Request, response: Response) -> bool:
        """Return whether a link may be dropped: the callback of a page with this text has ended.

        A link that carries an item is dropped only if the text is delivered.
        """
        if self.deliveries is None or not self.waits(response):
            return True
        return self.deliveries.has_ended(response) and not carries_item(request)


class _Output:
    """The output of the callback of one page."""

    __slots__ = ("_flight", "_kept", "_middleware", "_response")

    def __init__(self, middleware: SimhashSpiderMiddleware, response: Response | None) -> None:
        self._middleware = middleware
        self._response = response
        deliveries = middleware.deliveries
        self._flight = None if deliveries is None else deliveries.flight_of(response)
        # Items of a waiting copy.
        self._kept: list[Any] | None = None
        if self._flight is None and response is not None and middleware.waits(response):
            self._kept = []

    def left_of(self, one: Any) -> Any:
        """Return the request or item to pass on; None if it is dropped or waits."""
        middleware, response = self._middleware, self._response
        if isinstance(one, Request):
            return middleware.get_processed_request(one, response)
        flight = self._flight
        # A callback may set an action for its later output. No function is called for most pages, which have no
        # action.
        is_written = flight is not None and not flight.is_in_place and flight.result.get("action") is not None
        if flight is not None and one is not None and not (is_written and self._drops_items()):
            flight.open += 1
            flight.items += 1
            if middleware.marks_items:
                middleware.mark(one, response)
            return one
        if self._kept is not None and one is not None and self._drops_items():
            self._kept.append(one)
            return None
        return middleware.get_processed_item(one, response)

    def _drops_items(self) -> bool:
        return _action_on(self._response) in _WITHOUT_ITEMS

    def end(self, error: Exception | None) -> Iterable[Any]:
        """Return the kept items that are delivered, now that the callback has ended."""
        deliveries, response = self._middleware.deliveries, self._response
        if deliveries is None or response is None:
            return ()
        items = self._owed(deliveries, response, self._kept) if self._kept else ()
        # It exists now if the items are delivered.
        if (flight := deliveries.flight_of(response)) is not None:
            deliveries.end_of_callback(flight, has_raised=error is not None)
        return items

    def _owed(self, deliveries: Deliveries, response: Response, items: list[Any]) -> Iterable[Any]:
        """Keep the items of a copy; return them if they are delivered now: its text failed, or there is no room."""
        middleware = self._middleware
        if middleware.marks_items:
            for item in items:
                middleware.mark(item, response)
        # Its text may have been confirmed while the callback ran.
        if not middleware.waits(response):
            for item in items:
                middleware.drop(item, response)
            return ()
        if not deliveries.is_owed(response) and deliveries.keep_items(response, items):
            return ()
        deliveries.take_off(response, result_of(response))
        if (flight := deliveries.flight_of(response)) is not None:
            flight.open = flight.items = len(items)
        return items


# Neither includes DROP_PAGE, which applies before there are items and links.
_WITHOUT_ITEMS = (Action.DROP_ITEMS, Action.DROP_ITEMS | Action.DROP_LINKS)
_WITHOUT_LINKS = (Action.DROP_LINKS, Action.DROP_ITEMS | Action.DROP_LINKS)


def _action_on(response: Response | None) -> Action | None:
    """Return the action for *response*, which its callback may have changed."""
    words = result_of(response).get("action")
    # Most pages have no action.
    if words is None:
        return None
    return _named(words) if isinstance(words, str) else _named(",".join(map(str, arg_to_iter(words))))


@lru_cache(maxsize=64)
def _named(words: str) -> Action | None:
    try:
        return Action.named(words)
    except ValueError:
        return None


def _mark(response: Response | None) -> dict[str, Any] | None:
    """Return the mark of an item of *response*.

    None if the page is no near-duplicate, was not seen before, and has no reported change.
    """
    result = result_of(response)
    is_marked = (
        result.get("duplicate_of") is not None
        or result.get("change") is not None
        or result.get("status") == Status.REVISIT.value
    )
    return result if is_marked else None
