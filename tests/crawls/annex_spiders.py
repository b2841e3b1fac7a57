"""Two spiders for the annex: one yields an item a page, the other the cards of the slip board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from crawler.spiders.pages import PagesSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from parsel import Selector
    from scrapy.http import Response


class Annex(PagesSpider):
    """An item a page, from *start*; several starts have spaces between them."""

    name = "annex"

    def __init__(self, start: str, **arguments: Any) -> None:
        starts = start.split()
        super().__init__(starts[0], **arguments)
        self.start_urls = starts

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first requests as any other: all pages link back to them, and each is to be fetched once."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def item(self, response: Response) -> dict[str, Any]:
        """Return what is kept of a page."""
        return super().item(response) | {"depth": response.meta.get("depth", 0)}


class Cards(Annex):
    """The same way through the annex, but what it keeps is what is for sale."""

    name = "cards"

    def items(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yield every card on the page: one on a page of its own, several on those that read the board aloud."""
        for card in response.css("section.card") or response.css("main"):
            if card.css(".price"):
                yield self.card(response, card)

    def card(self, response: Response, card: Selector) -> dict[str, Any]:
        """Return a card by its fields."""
        fields = {"title": "h1::text, h2::text", "price": ".price::text", "body": ".body::text"}
        return {"url": response.url} | {name: card.css(query).get() for name, query in fields.items()}
