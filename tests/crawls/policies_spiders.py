"""The spider of the tests about policies, and the classes of one's own that decide for it."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import scrapy

from scrapy_simhash.signals import cluster_closed
from tests.crawls.annex_spiders import Annex
from tests.crawls.spiders import path_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_simhash import Verdict
    from scrapy_simhash.clusters import Cluster


class Part(Annex):
    """Stays below the paths *within*, and asks by *metas*, by what paths begin with; notes clusters at their end.

    With a *seed* it asks in an order of its own.
    """

    name = "part"

    def __init__(
        self,
        within: str = "/",
        metas: dict[str, dict[str, Any]] | None = None,
        seed: int | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.order = None if seed is None else random.Random(seed)
        self.within = tuple(within.split())
        self.metas = metas or {}
        self.notes: list[Any] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        crawler.signals.connect(spider.cluster_closed, signal=cluster_closed)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield self.asking(request)

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            if not isinstance(found, scrapy.Request):
                yield found
            elif path_of(found.url).startswith(self.within):
                yield self.asking(found)

    def asking(self, request: scrapy.Request) -> scrapy.Request:
        for beginning, meta in self.metas.items():
            if path_of(request.url).startswith(beginning):
                request.meta.update(meta)
        if self.order is not None:
            request.priority = self.order.randrange(1_000)
        return request

    def cluster_closed(self, cluster: Cluster) -> None:
        self.notes.append(asdict(cluster))


class KeepSome:
    """Keeps what the setting ``TO_KEEP`` occurs in, and drops of everything else what repeats it to the letter."""

    def __init__(self, to_keep: str) -> None:
        self.to_keep = to_keep

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["TO_KEEP"])

    def decide(self, verdict: Verdict, request: scrapy.Request, response: Response) -> str | list[str]:
        if self.to_keep in response.url:
            return "mark"
        return "drop_page" if verdict.is_exact else ["drop_items", "drop_links"]


class Failing:
    """Fails at every page."""

    def decide(self, verdict: Verdict, request: scrapy.Request, response: Response) -> str:
        raise RuntimeError("undecided")


class Mumbling:
    """Answers with no action."""

    def decide(self, verdict: Verdict, request: scrapy.Request, response: Response) -> str:
        return "drop"
