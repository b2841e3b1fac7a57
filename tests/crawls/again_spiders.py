"""Spiders for crawls that come again."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response, TextResponse
from scrapy.spiders import SitemapSpider

from scrapy_simhash.signals import request_not_due
from tests.crawls.spiders import Follower, path_of


class Known(Follower):
    """Follows links with an errback, and notes whose errback is called, and what was not due.

    *kill* is a path whose callback kills the process, *broken* one whose callback fails, *odd* one whose links have
    meta that is no JSON.
    """

    name = "known"

    def __init__(self, kill: str = "", broken: str = "", odd: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.kill, self.broken, self.odd = kill, broken, odd

    async def start(self) -> Any:
        self.crawler.signals.connect(self.not_due, signal=request_not_due)
        async for request in super().start():
            yield request

    def not_due(self, request: scrapy.Request, key: bytes, reason: str, spider: scrapy.Spider) -> None:
        assert len(key) == 20
        self.notes.append(f"{reason} {path_of(request.url)}")

    def parse(self, response: Response) -> Iterator[Any]:
        path = path_of(response.url)
        yield {"path": path}
        assert isinstance(response, TextResponse)
        if path == self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if path == self.broken:
            raise ValueError(path)
        meta = {"place": (1, 2)} if path == self.odd else {"place": [1, 2]}
        yield from response.follow_all(css="a", meta=meta, errback=self.failed)

    def failed(self, failure: Any) -> None:
        self.notes.append(f"errback {path_of(failure.request.url)} {type(failure.value).__name__}")


class Listed(SitemapSpider):
    """Scrapes the pages of a sitemap."""

    name = "listed"

    def __init__(self, urls: list[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.sitemap_urls = urls

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": path_of(response.url)}
