"""Spiders for repeated crawls."""

from types import SimpleNamespace
from typing import Any

from scrapy import Request
from scrapy.http import Response

from scrapy_simhash.observers.recrawl import middleware
from tests.crawls.spiders import Follower, Mapped


def draw(number: float) -> None:
    """Draw *number* for each 304 response of this process, not a random number: 1 never checks a response."""
    vars(middleware)["random"] = SimpleNamespace(random=lambda: number)


class Again(Follower):
    """Draws the number *drawn* for each 304 response, or a random number for None."""

    name = "again"
    has_errback = True

    def __init__(self, drawn: float | None = 1, **arguments: Any) -> None:
        super().__init__(**arguments)
        if drawn is not None:
            draw(drawn)


class Cookies(Again):
    """Sends its own cookie with every link."""

    def link(self, request: Request, response: Response) -> Request:
        return request.replace(cookies={"who": "me"})


class Listed(Mapped):
    """Checks no 304 responses."""

    name = "listed"

    def __init__(self, urls: list[str], **arguments: Any) -> None:
        super().__init__(urls, **arguments)
        draw(1)
