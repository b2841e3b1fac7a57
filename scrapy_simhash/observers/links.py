"""The middleware next to the spider: listeners see what its callbacks yield, before any other middleware does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash.crawl.listeners import Listeners
from scrapy_simhash.crawling import shared

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: What is called with each request that a callback yields, and with whether that was all when it has ended.
Reader: TypeAlias = tuple[Callable[[Request], object], Callable[[bool], None]]


class SimhashLinksMiddleware(BaseSpiderMiddleware):
    """Shows listeners all requests as the spider yields them, before any middleware changes or drops one.

    By these, the requests of a page are kept for the time when its server says that it has not changed, and pages are
    found to be gone that nothing leads to any more.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        listeners = shared(crawler, Listeners)
        if listeners is None:
            raise NotConfigured
        self._started, self._readers_of = listeners.former("started"), listeners.former("reader_of")
        if not self._started and not self._readers_of:
            raise NotConfigured
        self._give_up = listeners.give_up

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        """Return *request*, shown as one that came from no page: it is called for start requests."""
        for started in self._started:
            try:
                started(request)
            except Exception:
                self._give_up("Error while noting the start of %(about)s", request)
        return request

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """Yield *result*, and show the requests in it."""
        with self._reading(response) as note:
            for one in result:
                note(one)
                yield one

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Do what ``process_spider_output`` does."""
        with self._reading(response) as note:
            async for one in result:
                note(one)
                yield one

    @contextmanager
    def _reading(self, response: Response | None) -> Iterator[Callable[[Any], None]]:
        """Yield what is called with all that a callback yields, and tell at the end whether that was all."""
        readers: list[Reader] = []
        for reader_of in self._readers_of if response is not None else ():
            try:
                reader = reader_of(response)
            except Exception:
                self._give_up("Error while noting what %(about)s leads to", response)
            else:
                readers += [reader] if reader is not None else []
        is_complete = False

        def note(one: Any) -> None:
            if isinstance(one, Request):
                for take, _ in readers:
                    try:
                        take(one)
                    except Exception:
                        self._give_up("Error while noting %(about)s", one)

        try:
            yield note
            is_complete = True
        finally:
            for _, end in readers:
                try:
                    end(is_complete)
                except Exception:
                    self._give_up("Error while noting what %(about)s leads to", response)
