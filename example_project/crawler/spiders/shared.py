"""Two spiders that share a queue, with `crawler.shared_settings`: either takes what the other found.

Ordinary spiders do. A request in the queue says by name which method of its spider is to be called, so both have the
same methods.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from crawler.spiders.pages import PagesSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

#: Seconds after which the queue of a crawl that has begun is not empty.
HEAD_START = 1.0


class HarbourSpider(PagesSpider):
    """``scrapy crawl harbour -a start=http://127.0.0.1:8000/``: begins with the magazine."""

    name = "harbour"

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first request, and look at the queue once more before it is given up."""
        async for request in super().start():
            yield request
        # The other spider may have been quicker and taken it. One that finds the queue empty ends, but not before
        # this method does.
        await asyncio.sleep(HEAD_START)

    def item(self, response: Response) -> dict[str, Any]:
        """Return the page with what was concluded about it; those that repeat another get the field as well."""
        return super().item(response) | {"status": response.meta["simhash_result"]["status"]}


class EstuarySpider(HarbourSpider):
    """``scrapy crawl estuary -a start=http://localhost:8000/``: begins with the partner."""

    name = "estuary"
