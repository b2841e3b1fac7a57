"""One spider: follow every link of the two sites, yield an item a page."""

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
    """``scrapy crawl pages -a start=http://127.0.0.1:8000/``; the partner site is found by its links."""

    name = "pages"
    links = LinkExtractor()

    def __init__(self, start: str = "http://127.0.0.1:8000/", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        # Both sites live on this machine; nothing else is to be crawled.
        self.allowed_domains = ["127.0.0.1", "localhost"]
        self.port = urlsplit(start).port

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the page, then follow its links."""
        if not isinstance(response, HtmlResponse):
            return
        yield self.item(response)
        for link in self.links.extract_links(response):
            if urlsplit(link.url).port == self.port:
                yield response.follow(link)

    def item(self, response: Response) -> dict[str, Any]:
        """Return what is kept of a page."""
        return {"url": response.url, "title": (response.css("title::text").get() or "").strip()}
