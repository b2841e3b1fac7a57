"""Spiders for repeated crawls."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from scrapy.http import Response, TextResponse

from scrapy_simhash.observers.recrawl import middleware
from tests.crawls.spiders import Follower, Mapped, path_of


class Again(Follower):
    """Checks 304 responses only if *checks* is set."""

    name = "again"
    has_errback = True

    def __init__(self, checks: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)
        if not checks:
            vars(middleware)["random"] = SimpleNamespace(random=lambda: 1.0)


class NewCode(Again):
    """`Again` after a code change: follows only /b, and scrapes other items."""

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"path": path_of(response.url), "title": response.css("title::text").get()}
        yield from response.follow_all(css="a[href='/b']", callback=self.parse)


class Cookies(Again):
    """Sends its own cookie with every link."""

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"path": path_of(response.url)}
        yield from response.follow_all(css="a", callback=self.parse, cookies={"who": "me"})


class Listed(Mapped):
    """Checks no 304 responses."""

    name = "listed"

    def __init__(self, urls: list[str], **arguments: Any) -> None:
        super().__init__(urls, **arguments)
        vars(middleware)["random"] = SimpleNamespace(random=lambda: 1.0)
