"""Spider middleware next to the spider: notes which requests it yields, to know which pages are no longer linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_simhash.config import Config
from scrapy_simhash.crawl.change_reporter import reporter_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class SimhashYieldsMiddleware(BaseSpiderMiddleware):
    """Sees all requests as the spider yields them, before any middleware drops one. Changes nothing."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if Config.from_settings(crawler.settings).changes is None:
            raise NotConfigured("SIMHASH_CHANGES is not set")

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        """Return *request*, noted as one that came from no page: it is called for start requests."""
        reporter = reporter_of(self.crawler)
        if reporter is not None:
            reporter.linked(request)
        return request

    # Scrapy 2.13 passes the spider, later versions warn of methods that require it.
    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """Yield *result*, and note the requests in it when it has ended."""
        requests: list[Request] = []
        is_complete = False
        try:
            for one in result:
                if isinstance(one, Request):
                    requests.append(one)
                yield one
            is_complete = True
        finally:
            self._note(response, requests, is_complete)

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Do what ``process_spider_output`` does."""
        requests: list[Request] = []
        is_complete = False
        try:
            async for one in result:
                if isinstance(one, Request):
                    requests.append(one)
                yield one
            is_complete = True
        finally:
            self._note(response, requests, is_complete)

    def _note(self, response: Response | None, requests: list[Request], is_complete: bool) -> None:
        reporter = reporter_of(self.crawler)
        if reporter is not None and response is not None:
            # What did not change leads to what it led to before, whether or not that is yielded again.
            reporter.read(response, requests, is_complete=is_complete and response.status != 304)
