"""The spiders of the tests about marks in items and about what is dropped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.logformatter import LogFormatter

from tests.crawls.spiders import Follower, Visitor, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


@dataclass
class WithDefault:
    """An item class whose field for the mark has a default of its type."""

    path: str
    near_duplicate: dict[str, Any] = field(default_factory=dict)


class FailingLogFormatter(LogFormatter):
    """Fails at each dropped item."""

    def dropped(self, *arguments: Any) -> Any:
        raise KeyError("url")


class Filler(Visitor):
    """Yields of each page an item with a value of its own in the fields ``url`` and ``note``, if there is a note."""

    name = "filler"

    def __init__(self, notes_of: dict[str, Any] | None = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.notes_of = notes_of or {}

    def parse(self, response: Response) -> Iterator[Any]:
        path = path_of(response.url)
        item = {"path": path, "url": response.url, "title": "Kettle"}
        yield {**item, "note": self.notes_of[path]} if path in self.notes_of else item


class Defaulting(Visitor):
    """Yields items whose field for the mark is an empty dictionary by default."""

    name = "defaulting"

    def parse(self, response: Response) -> Iterator[Any]:
        yield WithDefault(path_of(response.url))


class Reuser(Visitor):
    """Yields one and the same item from each page, twice, and then asks for the next page."""

    name = "reuser"

    async def start(self) -> Any:
        yield self.request(self.urls[0], callback=self.pass_on, cb_kwargs={"item": {}, "number": 0})

    def pass_on(self, response: Response, item: dict[str, Any], number: int) -> Iterator[Any]:
        item["path"] = path_of(response.url)
        yield item
        yield item
        if number + 1 < len(self.urls):
            arguments = {"item": item, "number": number + 1}
            yield self.request(self.urls[number + 1], callback=self.pass_on, cb_kwargs=arguments)


class Beginner(Visitor):
    """Yields an item from ``start()``, before there is a page."""

    name = "beginner"

    async def start(self) -> Any:
        yield {"path": "/start"}
        async for request in super().start():
            yield request


class Hearer(Follower):
    """Notes what Scrapy's signal ``item_dropped`` says, in a handler of the *style* given."""

    name = "hearer"

    def __init__(self, style: str = "function", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.style = style

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **keywords: Any) -> Hearer:
        spider = super().from_crawler(crawler, *arguments, **keywords)
        heard = spider.heard if spider.style == "function" else spider.heard_later
        crawler.signals.connect(heard, signal=signals.item_dropped)
        return spider

    def heard(
        self, item: Any, response: Response, exception: scrapy.exceptions.DropItem, spider: scrapy.Spider
    ) -> None:
        self.notes.append(
            {
                "item": item,
                "page": path_of(response.url),
                "reason": type(exception).__name__,
                "attributes": {name: value for name, value in vars(exception).items() if name != "log_level"},
                "spider": spider.name,
            }
        )

    async def heard_later(self, item: Any, response: Response, exception: Exception) -> None:
        await asyncio.sleep(0.05)
        self.notes.append(item["path"])
