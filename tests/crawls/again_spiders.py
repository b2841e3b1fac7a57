"""Spiders for crawls that come again."""

import os
import signal
from collections.abc import Iterator
from enum import Enum
from typing import Any

import scrapy
from scrapy.http import Response, TextResponse
from scrapy.spiders import SitemapSpider

from scrapy_simhash.signals import request_not_due
from tests.crawls.spiders import Follower, path_of


class Known(Follower):
    """Follows links with an errback, and notes whose errback is called, and what was not due.

    A *loose* one has functions as its callbacks. *kill* is a path whose callback kills the process, *broken* one
    whose callback fails, *odd* one whose links have meta that is no JSON. All requests have the same meta, so that a
    start page that is linked is read for the same.
    """

    name = "known"

    def __init__(
        self, loose: bool = False, kill: str = "", broken: str = "", odd: str = "", **arguments: Any
    ) -> None:
        super().__init__(meta={"place": [1, 2]}, **arguments)
        self.loose = loose
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
        callback = (lambda page: self.parse(page)) if self.loose else self.parse
        yield from response.follow_all(css="a", callback=callback, meta=meta, errback=self.failed)

    def failed(self, failure: Any) -> None:
        self.notes.append(f"errback {path_of(failure.request.url)} {type(failure.value).__name__}")


class Kind(str, Enum):
    """What a page is."""

    ARTICLE = "article"


class Kinds(Follower):
    """Scrapes the pages that it is told to be articles, by a member of an Enum."""

    name = "kinds"

    def parse(self, response: Response, kind: Kind | None = None) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        if kind is None or kind is Kind.ARTICLE:
            yield {"path": path_of(response.url)}
        if kind is None:
            yield from response.follow_all(css="a", cb_kwargs={"kind": Kind.ARTICLE})


class Deep(Follower):
    """Follows links to a depth that it counts in its own meta, and begins at *level*."""

    name = "deep"

    def __init__(self, level: int, **arguments: Any) -> None:
        super().__init__(meta={"level": level}, **arguments)

    def parse(self, response: Response) -> Iterator[Any]:
        level = response.meta["level"]
        yield {"path": path_of(response.url)}
        assert isinstance(response, TextResponse)
        if level < 2:
            yield from response.follow_all(css="a", meta={"level": level + 1})


class LoggedIn(Follower):
    """Sends a form, with the token that the login page has, and follows links from there."""

    name = "logged_in"

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        token = response.css("form::attr(data-token)").get("")
        yield scrapy.FormRequest(
            response.urljoin("/in?" + token), self.inside, formdata={"password": "secret"}
        )

    def inside(self, response: Response) -> Iterator[Any]:
        yield {"path": path_of(response.url)}


class Listed(SitemapSpider):
    """Scrapes the pages of a sitemap."""

    name = "listed"

    def __init__(self, urls: list[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.sitemap_urls = urls

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": path_of(response.url)}
