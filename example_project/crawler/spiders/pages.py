"""A spider that follows every link of the two sites, and yields an item per page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import scrapy
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class PagesSpider(scrapy.Spider):
    """``scrapy crawl pages -a start=http://127.0.0.1:8000/``; links lead to the partner's site."""

    name = "pages"
    links = LinkExtractor()

    def __init__(self, start: str = "http://127.0.0.1:8000/", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        # Both sites are on this machine; crawl nothing else.
        self.allowed_domains = ["127.0.0.1", "localhost"]
        self.port = urlsplit(start).port

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the item of the page, then follow its links."""
        if not isinstance(response, HtmlResponse):
            return
        yield self.item(response)
        for link in self.links.extract_links(response):
            if urlsplit(link.url).port == self.port:
                yield response.follow(link)

    def item(self, response: Response) -> dict[str, Any]:
        """Return the item of a page."""
        return {"url": response.url, "title": (response.css("title::text").get() or "").strip()}
