"""Spiders whose callbacks are given page objects by scrapy-poet."""

# No `from __future__ import annotations`: scrapy-poet reads what callbacks are annotated with.
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import scrapy
from scrapy.http import Response
from scrapy_poet.api import callback_for
from web_poet import WebPage, field
from web_poet.exceptions import Retry

from tests.crawls.spiders import Visitor, path_of


class Article(WebPage[dict[str, Any]]):
    """What is read from a page."""

    @field
    def path(self) -> str:
        return path_of(str(self.response.url))

    @field
    def title(self) -> str | None:
        return self.response.css("title::text").get()


class Summary(WebPage[dict[str, Any]]):
    """Something else that is read from the same page."""

    @field
    def path(self) -> str:
        return f"summary of {path_of(str(self.response.url))}"


class Patient(Article):
    """Asks for its page once more before it gives an item."""

    asked: ClassVar[Counter[str]] = Counter()

    async def to_item(self) -> dict[str, Any]:
        url = str(self.response.url)
        self.asked[url] += 1
        if self.asked[url] == 1:
            raise Retry
        return await super().to_item()


class Asker(Visitor):
    """Asks for pages whose callback is given page objects."""

    parse_page: Any

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        return super().request(url, callback=self.parse_page, errback=self.failed, **arguments)

    def failed(self, failure: Any) -> None:
        self.notes.append([type(failure.value).__name__, path_of(failure.value.response.url)])


class Objective(Asker):
    """Has its items made by page objects; notes the verdict that its callback sees."""

    name = "objective"

    async def parse_page(self, response: Response, page: Article) -> AsyncIterator[Any]:
        self.notes.append([path_of(response.url), response.meta["simhash_result"]["status"]])
        yield await page.to_item()


class InShort(Asker):
    """Has its callback written by scrapy-poet."""

    name = "in-short"
    parse_page = callback_for(Article)


class Asking(Asker):
    """Has page objects that ask for their page once more."""

    name = "asking"

    async def parse_page(self, response: Response, page: Patient) -> AsyncIterator[Any]:
        yield await page.to_item()


class Twofold(Objective):
    """Asks for each page once more, for the sake of another page object, and not to have it compared again."""

    name = "twofold"

    async def start(self) -> AsyncIterator[Any]:
        async for request in super().start():
            yield request
            meta = {"simhash": False}
            yield scrapy.Request(request.url, self.parse_summary, meta=meta, priority=-len(self.urls))

    async def parse_summary(self, response: Response, page: Summary) -> AsyncIterator[Any]:
        yield await page.to_item()
