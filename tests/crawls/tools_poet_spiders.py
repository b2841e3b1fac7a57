"""Spiders whose callbacks receive page objects from scrapy-poet."""

# No `from __future__ import annotations`: scrapy-poet reads the annotations of callbacks.
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import scrapy
from scrapy.http import Response
from web_poet import WebPage, field
from web_poet.exceptions import Retry

from tests.crawls.spiders import Visitor, path_of


class Article(WebPage[dict[str, Any]]):
    """A page object with some fields of a page."""

    @field
    def path(self) -> str:
        return path_of(str(self.response.url))

    @field
    def title(self) -> str | None:
        return self.response.css("title::text").get()


class Patient(Article):
    """Requests its page a second time before it returns an item."""

    asked: ClassVar[Counter[str]] = Counter()

    async def to_item(self) -> dict[str, Any]:
        url = str(self.response.url)
        self.asked[url] += 1
        if self.asked[url] == 1:
            raise Retry
        return await super().to_item()


class Asker(Visitor):
    """Requests pages whose callback receives page objects."""

    parse_page: Any

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        return super().request(url, callback=self.parse_page, errback=self.failed, **arguments)

    def failed(self, failure: Any) -> None:
        self.notes.append([type(failure.value).__name__, path_of(failure.value.response.url)])


class Objective(Asker):
    """Receives items from page objects; records the verdict that its callback sees."""

    name = "objective"

    async def parse_page(self, response: Response, page: Article) -> AsyncIterator[Any]:
        self.notes.append([path_of(response.url), response.meta["simhash_result"]["status"]])
        yield await page.to_item()


class Asking(Asker):
    """Uses page objects that request their page a second time."""

    name = "asking"

    async def parse_page(self, response: Response, page: Patient) -> AsyncIterator[Any]:
        yield await page.to_item()
