"""Spider middleware: drop pages, items and links according to the result in ``request.meta``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import arg_to_iter

from scrapy_simhash import names
from scrapy_simhash.action import Action
from scrapy_simhash.crawl.delivery import CARRIED, Deliveries, OpenPage, carries_item
from scrapy_simhash.crawl.drops import NearDuplicate
from scrapy_simhash.crawl.marks import ItemMarks, note_parent, result_of
from scrapy_simhash.crawling import asks_again, config_of, shared
from scrapy_simhash.verdict import Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class SimhashSpiderMiddleware:
    """Applies the decisions of :class:`~scrapy_simhash.SimhashDownloaderMiddleware`."""

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler.settings)
        # Created by the downloader middleware, which is always created first.
        deliveries = shared(crawler, Deliveries)
        if deliveries is None:
            raise NotConfigured("SimhashDownloaderMiddleware is not enabled, so pages have no result")
        self._deliveries = deliveries
        self._drops = deliveries.drops
        self._notes_parents = config.url_rules != "off"
        self._marks = None if config.result_field is None else ItemMarks(crawler, config.result_field)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        return cls(crawler)

    # Scrapy 2.13 passes the spider; later versions warn of methods that require it.
    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Raise NearDuplicate for a page to be dropped, so that its errback is called instead of its callback."""
        request, deliveries = response.request, self._deliveries
        result = None if request is None else request.meta.get(names.META_RESULT)
        if request is None or not isinstance(result, dict):
            return
        action = None if result.get("action") is None else _action_in(result)
        if not action or (names.META_INTERNAL in request.meta and deliveries.is_carrying(request)):
            deliveries.begin(response, result)
            return
        is_page = action == Action.DROP_PAGE
        if deliveries.waits(result):
            if not deliveries.has_failed(result):
                if is_page:
                    # Call the callback, and keep its items until the text is delivered or has failed.
                    result["action"] = str(Action.DROP_ITEMS | Action.DROP_LINKS)
                return
            if not is_page or not deliveries.yields_nothing(request, result):
                deliveries.begin(response, result)
                return
        if is_page:
            # The page is counted here, because process_spider_exception is not called if there is an errback, which
            # each rule of a CrawlSpider has.
            raise self._drops.page(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> Iterable[Any] | None:
        """Handle the NearDuplicate of a page without an errback, so that it is not logged as an error."""
        self._deliveries.end(response, has_raised=True)
        return () if isinstance(exception, NearDuplicate) else None

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """Yield links and items of *result* that are not dropped, and waiting items that are delivered now."""
        page, error = self._deliveries.pages.get(id(response)), None
        waiting: list[Any] | None = None if page or not self._deliveries.waits(result_of(response)) else []
        try:
            for one in result:
                if (one := self._left_of(one, response, page, waiting)) is not None:
                    yield one
        except Exception as raised:
            error = raised
        if waiting:
            yield from self._left_of_waiting(response, waiting)
        self._deliveries.end(response, has_raised=error is not None)
        if error is not None:
            raise error

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Asynchronous version of ``process_spider_output``."""
        page, error = self._deliveries.pages.get(id(response)), None
        waiting: list[Any] | None = None if page or not self._deliveries.waits(result_of(response)) else []
        try:
            async for one in result:
                if (one := self._left_of(one, response, page, waiting)) is not None:
                    yield one
        except Exception as raised:
            error = raised
        for one in self._left_of_waiting(response, waiting) if waiting else ():
            yield one
        self._deliveries.end(response, has_raised=error is not None)
        if error is not None:
            raise error

    def _left_of(
        self, one: Any, response: Response, page: OpenPage | None, waiting: list[Any] | None
    ) -> Any | None:
        """Return the request or item to pass on; None if it is dropped, or waits in *waiting*."""
        if isinstance(one, Request):
            return self._left_request(one, response, page)
        if one is None:  # a callback may yield None
            return None
        # A callback may set an action for its later output. Items of an errback are kept, because its page was
        # already dropped. Most pages have no action, so no function is called for them.
        may_drop = page is None or (page.result.get("action") is not None and not page.is_in_place)
        if may_drop and _action_in(result := result_of(response)) in _WITHOUT_ITEMS:
            if waiting is None:
                self._drops.item(one, response, result)
            else:
                waiting.append(one)
            return None
        if page is not None:
            page.open += 1
            page.items += 1
        if self._marks is not None:
            self._marks.write(one, _mark(result_of(response)))
        return one

    def _left_request(self, request: Request, response: Response, page: OpenPage | None) -> Request | None:
        """Return *request* without the result of the page that yielded it; None if it is dropped."""
        result = result_of(response)
        if (
            result.get("action") is not None
            and _action_in(result) in _WITHOUT_LINKS
            and not asks_again(request, response)
            and self._may_drop_link(request, result)
        ):
            self._drops.request(request, response)
            return None
        if page is not None:
            if asks_again(request, response):
                page.is_retried = True
            else:
                page.has_requests = True
        may_carry = request.cb_kwargs or request.meta
        # A spider that passes on `response.meta` also passes on the result. If the request of the page itself is
        # yielded again as a retry, it keeps the result, because the callback may still read it.
        if request is not response.request:
            request.meta.pop(names.META_RESULT, None)
            if names.META_INTERNAL in request.meta:
                own = request.meta.pop(names.META_INTERNAL)
                if asks_again(request, response) and (kept := own.keys() & CARRIED):
                    request.meta[names.META_INTERNAL] = {name: own[name] for name in kept}
        if self._notes_parents:
            note_parent(request, response)
        if may_carry:
            self._deliveries.note_request(request, response, page)
        return request

    def _may_drop_link(self, request: Request, result: Mapping[str, Any]) -> bool:
        """Return whether a link may be dropped: the callback of a page with this text has ended.

        A request that passes on an item is dropped only if an item of this text is delivered.
        """
        if not self._deliveries.waits(result):
            return True
        return self._deliveries.has_ended(result) and not carries_item(request)

    def _left_of_waiting(self, response: Response, items: list[Any]) -> list[Any]:
        """Return the items of a waiting copy that are delivered now; the other items are dropped, or wait."""
        deliveries, result = self._deliveries, result_of(response)
        if self._marks is not None:
            for item in items:
                self._marks.write(item, _mark(result))
        # The text may have been confirmed while the callback ran.
        if not deliveries.waits(result):
            for item in items:
                self._drops.item(item, response, result)
            return []
        if deliveries.add_waiting(response, result, items):
            return []
        deliveries.begin(response, result, len(items))
        return items


# Neither action includes DROP_PAGE, which applies before there are items and links.
_WITHOUT_ITEMS = (Action.DROP_ITEMS, Action.DROP_ITEMS | Action.DROP_LINKS)
_WITHOUT_LINKS = (Action.DROP_LINKS, Action.DROP_ITEMS | Action.DROP_LINKS)


def _action_in(result: Mapping[str, Any]) -> Action | None:
    """Return the action in *result*, which the callback may have changed."""
    words = result.get("action")
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


def _mark(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return *result* as the mark of an item; None for a new page without a reported change."""
    is_revisit = result.get("status") == Status.REVISIT.value
    is_marked = is_revisit or result.get("duplicate_of") is not None or result.get("change") is not None
    return result if is_marked else None
