"""The spiders of crawls of made-up sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from scrapy.spiders import SitemapSpider

from tests.crawls.floods_spiders import Bearer, Wanderer
from tests.crawls.spiders import Ruled, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Response

__all__ = ["Bearer", "Mapped", "Ranked", "Ruled", "Wanderer"]


class Ranked(Wanderer):
    """Gives each request a priority of its own."""

    name = "ranked"

    def parse(self, response: Response) -> Iterator[Any]:
        for found in super().parse(response):
            is_item = isinstance(found, dict)
            yield found if is_item else found.replace(priority=crc32(found.url.encode()) % 7 - 3)


class Mapped(SitemapSpider):
    """Begins with a sitemap, and follows links."""

    name = "mapped"

    def __init__(self, urls: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.sitemap_urls = [f"{url}sitemap.xml" for url in urls]
        self.notes: list[Any] = []

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"path": path_of(response.url)}
        yield from response.follow_all(css="a")
