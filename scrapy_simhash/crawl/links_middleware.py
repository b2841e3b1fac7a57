"""Spider middleware next to the spider: takes down what callbacks yield, before anybody has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured

from scrapy_simhash.crawl.crawling import shared
from scrapy_simhash.crawl.http import asks_again
from scrapy_simhash.crawl.recrawling import Recrawling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class SimhashLinksMiddleware:
    """Keeps the requests of a page for the time when its server says that it has not changed."""

    def __init__(self, recrawling: Recrawling) -> None:
        self._recrawling = recrawling

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*; raise NotConfigured if nothing is kept."""
        recrawling = shared(crawler, Recrawling)
        if recrawling is None:
            raise NotConfigured
        return cls(recrawling)

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield all of *result*."""
        request = response.request
        if request is None or not self._recrawling.waits_for_requests(request):
            dates = self._recrawling.dates_of(response)
            async for one in result:
                if dates is not None and isinstance(one, Request):
                    dates.write(one)
                yield one
            return
        async for one in result:
            if isinstance(one, Request):
                self._recrawling.take_down(one, request, not (one.dont_filter and asks_again(one, response)))
            yield one
        self._recrawling.keep(request)
