"""Spiders for the crawls of test_changes.py: what they are told of the text of a page, and of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.exceptions import NotSupported

from scrapy_simhash.signals import page_changed
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

    from scrapy_simhash.observers.changes import PageChange


class Reader(Follower):
    """Notes what meta and signal say of each page; its callback fails at *failing*, before it follows a link."""

    name = "reader"
    hears = (("page_changed", page_changed),)

    def __init__(self, failing: str = "", asks_again: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.failing = failing
        self.asks_again = asks_again

    def page_changed(self, change: PageChange) -> None:
        self.notes.append({"signal": path_of(change.url), "change": change.change.value})

    def parse(self, response: Response) -> Iterator[Any]:
        path, meta = path_of(response.url), response.meta
        if self.failing and path == self.failing:
            raise NotSupported("It fails.")
        self.notes.append({"path": path, "change": meta["simhash_result"]["change"]})
        if self.asks_again and path == self.asks_again and "again" not in meta:
            # It waits in a queue with all that its meta has.
            again = response.request
            assert again is not None
            again.meta["again"] = True
            yield again.replace(dont_filter=True)
        yield from super().parse(response)


class Jumper(scrapy.Spider):
    """Follows the links of its first page with the meta of that page, as many spiders do."""

    name = "jumper"
    urls: list[str]
    notes: list[Any]

    async def start(self) -> Any:
        self.notes = []
        yield scrapy.Request(self.urls[0])

    def parse(self, response: Any) -> Iterator[Any]:
        self.notes.append(sorted(key for key in response.meta if key.startswith("simhash_")))
        yield from response.follow_all(css="a", meta=response.meta)
