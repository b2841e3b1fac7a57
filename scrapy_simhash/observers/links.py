"""The middleware next to the spider: observers see what its callbacks yield, before any other middleware does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash.crawling import Observers, shared

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.crawling import Reader


class SimhashLinksMiddleware(BaseSpiderMiddleware):
    """Shows observers all requests as the spider yields them, before any middleware changes or drops one.

    By these, the requests of a page are kept for the time when its server says that it has not changed, and pages are
    found to be gone that nothing leads to any more.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        observers = shared(crawler, Observers)
        if observers is None:
            raise NotConfigured
        if not observers.hooks("started") and not observers.hooks("reader_of"):
            raise NotConfigured
        self._observers = observers

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        """Return *request*, shown as one that came from no page: it is called for start requests."""
        self._observers.tell("started", request)
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
        found = [] if response is None else self._observers.tell("reader_of", response)
        readers: list[Reader] = [reader for reader in found if reader is not None]
        is_complete = False

        def note(one: Any) -> None:
            if isinstance(one, Request):
                for take, _ in readers:
                    try:
                        take(one)
                    except Exception:
                        self._observers.give_up("Error while noting %(about)s", one)

        try:
            yield note
            is_complete = True
        finally:
            for _, end in readers:
                try:
                    end(is_complete)
                except Exception:
                    self._observers.give_up("Error while noting what %(about)s leads to", response)
