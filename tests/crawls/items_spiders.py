"""The spiders of the item tests, and the pipelines before and after the plugin's."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import scrapy
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem

from scrapy_simhash import NearDuplicateItem, Verdict
from scrapy_simhash.signals import near_duplicate_item_found
from tests.crawls.spiders import Visitor, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Shop(Visitor):
    """Yields title and text of each page as an item, and records the signals."""

    name = "shop"
    handlers = (("found", near_duplicate_item_found), ("dropped", signals.item_dropped))

    def __init__(self, times: int = 1, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.times = times

    def parse(self, response: Response) -> Iterator[Any]:
        title = response.css("h1::text").get()
        for _ in range(self.times):
            yield {"path": path_of(response.url), "title": title, "body": response.css("p").getall()}

    def found(self, item: Any, verdict: Verdict, spider: scrapy.Spider) -> None:
        self.notes.append(
            {"item": ItemAdapter(item)["path"], "repeats": verdict.duplicate_of, "exact": verdict.is_exact}
        )

    def dropped(self, item: Any, exception: DropItem) -> None:
        if isinstance(exception, NearDuplicateItem):
            self.notes.append(
                {
                    "dropped": ItemAdapter(item)["path"],
                    "duplicate_of": exception.duplicate_of,
                    "evidence": [exception.distance, exception.similarity],
                }
            )


class Leak:
    """A pipeline that raises *error* for the item of /first."""

    error: type[Exception] = RuntimeError

    def process_item(self, item: Any, spider: Any = None) -> Any:
        if ItemAdapter(item)["path"] == "/first":
            raise self.error("leaked")
        return item


class Kill:
    """A pipeline that kills the process when it gets the item of /other."""

    def process_item(self, item: Any, spider: Any = None) -> Any:
        if ItemAdapter(item)["path"] == "/other":
            os.kill(os.getpid(), signal.SIGKILL)
        return item


class Slow:
    """A pipeline that waits, as for a database."""

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        await asyncio.sleep(0.1)
        return item


class Refusal(Leak):
    """A pipeline that drops the item of /first."""

    error = DropItem
