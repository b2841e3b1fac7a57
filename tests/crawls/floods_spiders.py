"""The spiders of the tests about floods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_simhash.observers.floods import Flood
from scrapy_simhash.signals import flood_found
from tests.crawls.spiders import Follower, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Wanderer(Follower):
    """Follows all links, and notes the floods that the signal tells of."""

    name = "wanderer"

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **keywords: Any) -> Wanderer:
        spider = super().from_crawler(crawler, *arguments, **keywords)
        crawler.signals.connect(spider.note_flood, signal=flood_found)
        return spider

    def note_flood(self, flood: Flood, spider: Any) -> None:
        self.notes.append(
            {
                "kind": flood.kind.value,
                "host": flood.host,
                "size": flood.size,
                "group": flood.group,
                "urls": [path_of(url) for url in flood.urls],
            }
        )


class Bearer(Wanderer):
    """Passes its meta on, and with it whence a page was redirected."""

    name = "bearer"

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            if isinstance(found, dict):
                yield found
            else:
                yield found.replace(meta=dict(response.meta))


class Stubborn(Wanderer):
    """Opts out of everything for the pages below /calendar."""

    name = "stubborn"

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            if not isinstance(found, dict) and "/calendar/" in found.url:
                found.meta["simhash"] = False
            yield found


class Unjudged(Wanderer):
    """Asks for stories in a way that nobody judges: *way* says which."""

    name = "unjudged"
    way = ""

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            if not isinstance(found, dict) and "/story/" in found.url:
                found = found.replace(method="POST") if self.way == "POST" else found
                found.meta["simhash"] = self.way != "opted out"
            yield found


class Deaf(Follower):
    """Hears of floods with a handler that fails."""

    name = "deaf"

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **keywords: Any) -> Deaf:
        spider = super().from_crawler(crawler, *arguments, **keywords)
        crawler.signals.connect(spider.fail, signal=flood_found)
        return spider

    def fail(self) -> None:
        raise RuntimeError("cannot hear")
