"""Spiders whose callbacks receive page objects from scrapy-poet."""

# No `from __future__ import annotations`: scrapy-poet reads the annotations of callbacks.
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from scrapy.http import Response
from web_poet import WebPage, field

from tests.crawls.spiders import Visitor, path_of


class Article(WebPage[dict[str, Any]]):
    """A page object with some fields of a page."""

    @field
    def path(self) -> str:
        return path_of(str(self.response.url))

    @field
    def title(self) -> str | None:
        return self.response.css("title::text").get()


class Objective(Visitor):
    """Receives items from page objects; records the verdict that its callback sees."""

    name = "objective"

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        return super().request(url, callback=self.parse_page, errback=self.failed, **arguments)

    async def parse_page(self, response: Response, page: Article) -> AsyncIterator[Any]:
        self.notes.append([path_of(response.url), response.meta["simhash_result"]["status"]])
        yield await page.to_item()

    def failed(self, failure: Any) -> None:
        self.notes.append([type(failure.value).__name__, path_of(failure.value.response.url)])
