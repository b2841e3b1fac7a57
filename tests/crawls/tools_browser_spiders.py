"""A spider whose pages scrapy-playwright renders in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals

from tests.crawls.spiders import Visitor, path_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import scrapy
    from scrapy.http import Response


class Keeper(Visitor):
    """Receives the browser page with each response, and closes it; records the pages that are open at the
    end.

    For *careful* paths, an errback closes the browser pages of dropped responses, too.
    """

    name = "keeper"
    handlers = (("count", signals.spider_idle), ("receive", signals.response_received))

    def __init__(self, careful: list[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self.careful = careful
        self.pages: dict[str, Any] = {}

    def request(self, url: str, **arguments: Any) -> scrapy.Request:
        errback = self.failed if path_of(url) in self.careful else None
        return super().request(url, errback=errback, **arguments)

    def receive(self, response: Response, request: scrapy.Request) -> None:
        self.pages[path_of(response.url)] = request.meta["playwright_page"]

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        yield {"path": path_of(response.url)}
        await response.meta["playwright_page"].close()

    async def failed(self, failure: Any) -> None:
        await failure.request.meta["playwright_page"].close()

    def count(self) -> None:
        self.notes = [path for path, page in self.pages.items() if not page.is_closed()]
