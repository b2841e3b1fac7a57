"""Spiders for repeated crawls."""

import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from scrapy.http import Response, TextResponse

from scrapy_simhash.observers.recrawl import recrawling
from tests.crawls.spiders import Follower, Mapped, path_of


class Again(Follower):
    """Follows links with an errback, and records the requests whose errback is called.

    With *checks*, the spider checks 304 responses. The callback of the path *kill* kills the process, that of
    *broken* raises.
    """

    name = "again"

    def __init__(self, checks: bool = False, kill: str = "", broken: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.kill, self.broken = kill, broken
        if not checks:
            vars(recrawling)["random"] = SimpleNamespace(random=lambda: 1.0)

    def parse(self, response: Response) -> Iterator[Any]:
        path = path_of(response.url)
        assert isinstance(response, TextResponse)
        if path == self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if path == self.broken:
            raise ValueError(path)
        yield {"path": path}
        yield from response.follow_all(css="a", callback=self.parse, errback=self.failed)

    def failed(self, failure: Any) -> None:
        self.notes.append(f"errback {path_of(failure.request.url)} {type(failure.value).__name__}")


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
        vars(recrawling)["random"] = SimpleNamespace(random=lambda: 1.0)
