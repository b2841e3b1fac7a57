"""Downloader middleware next to the network: asks whether a known page has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_simhash.crawl.crawling import shared
from scrapy_simhash.crawl.recrawling import Recrawling

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class SimhashValidatorsMiddleware:
    """Puts ETag and date of a page on what is really sent, and takes them off before anybody sends it elsewhere.

    It stands behind Scrapy's HTTP cache, which may have the page, and before redirects and retries on the way back.
    """

    def __init__(self, recrawling: Recrawling) -> None:
        self._recrawling = recrawling

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*; raise NotConfigured if it sends no conditional requests."""
        recrawling = shared(crawler, Recrawling)
        if recrawling is None:
            raise NotConfigured
        return cls(recrawling)

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
