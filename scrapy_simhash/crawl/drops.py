"""Drops: count, log and signal pages, items and requests that are dropped because of their page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.log import logformatter_adapter

from scrapy_simhash import names
from scrapy_simhash.crawl.marks import UNCHANGED, result_of
from scrapy_simhash.crawling import Once, stats_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred


logger = logging.getLogger(__name__)


class NearDuplicate(IgnoreRequest):
    """A page was dropped because it is a near-duplicate or unchanged. The errback gets this exception."""

    def __init__(self, response: Response, duplicate_of: str | None, distance: int | None) -> None:
        measured = "" if distance is None else f" (distance {distance})"
        super().__init__(f"{response.url} {_why(result_of(response))}{measured}")
        self.response = response
        self.duplicate_of = duplicate_of
        self.distance = distance


class NearDuplicatePageItem(DropItem):
    """An item was dropped because its page, at ``url``, is a near-duplicate of the page at ``duplicate_of``.

    ``duplicate_of`` is None if the page is not a near-duplicate and its callback wrote the action into
    ``simhash_result``.
    """

    def __init__(self, response: Response, log_level: str | None = None) -> None:
        result = result_of(response)
        super().__init__(f"its page {response.url} {_why(result)}", log_level=log_level)
        self.url = response.url
        self.duplicate_of: str | None = result.get("duplicate_of")
        self.distance: int | None = result.get("distance")


class UnchangedPageItem(NearDuplicatePageItem):
    """An item was dropped because its page, at ``url``, is unchanged since an earlier crawl delivered it."""


class Drops:
    """Counts and logs every page, item and request that is dropped because of its page.

    Items are dropped as in Scrapy: logged by the log formatter of the crawl, and sent with the signal
    ``item_dropped``, which Scrapy's stats count. The first page and the first request are logged; with
    ``SIMHASH_DEBUG``, all are.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = stats_of(crawler)
        self._once = Once(crawler, logger)
        self._sending: set[Deferred[Any]] = set()
        crawler.signals.connect(self.finish, signal=signals.spider_closed)

    def page(self, response: Response) -> NearDuplicate:
        """Return the exception for a page that is dropped."""
        result = result_of(response)
        self._count("page", result)
        self._log("page", response.url, response)
        return NearDuplicate(response, result.get("duplicate_of"), result.get("distance"))

    def request(self, request: Request, response: Response) -> None:
        """Count and log a request that is dropped."""
        self._count("request", result_of(response))
        self._log("request", request.url, response)

    def item(self, item: Any, response: Response, result: Mapping[str, Any]) -> None:
        """Count, log and signal an item that is dropped; *result* is that of its page.

        `finish` waits for handlers that are coroutines.
        """
        is_unchanged = self._count("item", result)
        crawler, spider = self._crawler, self._crawler.spider
        error = (UnchangedPageItem if is_unchanged else NearDuplicatePageItem)(response, "DEBUG")
        if spider is None or crawler.logformatter is None:
            raise RuntimeError("the crawler has no spider yet")
        try:
            entry = crawler.logformatter.dropped(item, error, response, spider)
            if entry is not None:
                logger.log(*logformatter_adapter(entry), extra={"spider": spider, "item": item})
        except Exception:  # otherwise the links of the page would be lost
            logger.exception(
                "LOG_FORMATTER raised an exception for a dropped item, which is not logged",
                extra={"spider": spider},
            )
        about = {"item": item, "response": response, "spider": spider, "exception": error}
        if hasattr(crawler.signals, "send_catch_log_async"):
            sending = deferred_from_coro(crawler.signals.send_catch_log_async(signals.item_dropped, **about))
        else:  # Scrapy 2.13
            sending = crawler.signals.send_catch_log_deferred(signals.item_dropped, **about)
        self._sending.add(sending)
        sending.addBoth(lambda _: self._sending.discard(sending))

    async def finish(self) -> None:
        """Wait until all handlers of the signal have ended."""
        for sending in tuple(self._sending):
            await maybe_deferred_to_future(sending)

    def _count(self, what: str, result: Mapping[str, Any]) -> bool:
        """Count a drop of the kind *what*, and return whether the page is unchanged."""
        stat = f"{names.STAT_DROPPED}/{what}s"
        self._stats.inc_value(stat)
        is_unchanged = result.get("dropped_as") == UNCHANGED
        if is_unchanged:
            self._stats.inc_value(f"{stat}/unchanged")
        return is_unchanged

    def _log(self, what: str, url: str, response: Response) -> None:
        values = {"what": what, "url": url, "page": response.url, "why": _why(result_of(response))}
        self._once.show(what, "Dropped the %(what)s %(url)s: its page %(page)s %(why)s", values)


def _why(result: Mapping[str, Any]) -> str:
    """Return why the page with *result* is dropped."""
    if result.get("dropped_as") == UNCHANGED:
        return "is unchanged since an earlier crawl"
    if (original := result.get("duplicate_of")) is not None:
        return f"is a near-duplicate of {original}"
    # The callback set the action in the result.
    return f"has the action {result.get('action')} in {names.META_RESULT}"
