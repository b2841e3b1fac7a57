"""Spiders of the kinds that Scrapy ships, with other features of Scrapy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.crawls.spiders import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Response


class Ruled(CrawlSpider):
    """A CrawlSpider with different rules: articles have an errback, lists are only followed."""

    name = "ruled"
    rules = (
        Rule(LinkExtractor(allow="/article"), callback="parse_article", errback="failed", follow=True),
        Rule(LinkExtractor(allow="/list")),
    )

    def __init__(self, urls: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = list(urls)
        self.notes: list[Any] = []

    def parse_article(self, response: Response) -> Iterator[Any]:
        yield {"path": path_of(response.url)}

    def failed(self, failure: Any) -> None:
        self.notes.append([type(failure.value).__name__, path_of(failure.value.response.url)])
