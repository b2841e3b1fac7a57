"""Two middlewares for pages that an earlier crawl has read: one next to the network, one next to the spider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured

from scrapy_simhash import names
from scrapy_simhash.crawling import asks_again, shared
from scrapy_simhash.observers.recrawl.recrawling import Recrawling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class _Middleware:
    """A part of the one `Recrawling` of a crawl."""

    def __init__(self, recrawling: Recrawling) -> None:
        self._recrawling = recrawling

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*; raise NotConfigured if it keeps and asks nothing."""
        recrawling = shared(crawler, Recrawling)
        if recrawling is None:
            raise NotConfigured
        return cls(recrawling)


class SimhashValidatorsMiddleware(_Middleware):
    """Puts ETag and date of a page on what is really sent, and takes them off before anybody sends it elsewhere.

    It stands behind Scrapy's HTTP cache, which may have the page, and before redirects and retries on the way back.
    """

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Put the validators on."""
        self._recrawling.add_headers(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Take them off, and mark a 304."""
        self._recrawling.hear(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Take them off."""
        self._recrawling.hear(request, None)


class SimhashLinksMiddleware(_Middleware):
    """Keeps the requests of a page for the time when its server says that it has not changed."""

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield all of *result*."""
        request = response.request
        if request is None or not self._recrawling.waits_for_requests(request):
            dates = self._recrawling.dates_of(response)
            async for one in result:
                if isinstance(one, Request) and one.url in dates:
                    asked = one.meta.get(names.META)
                    if asked is None or isinstance(asked, dict):
                        one.meta[names.META] = {"lastmod": dates[one.url], **(asked or {})}
                yield one
            return
        async for one in result:
            if isinstance(one, Request):
                self._recrawling.take_down(one, request, not (one.dont_filter and asks_again(one, response)))
            yield one
        self._recrawling.keep(request)
