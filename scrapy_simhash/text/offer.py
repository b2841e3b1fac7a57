"""Offers: which blocks name a thing on sale and its price.

Variants of a product share their description word for word and differ in a size and a price: nine words in ten
agree, and yet a shop sells them apart. What tells them is the name and the price, so on a page that makes an
offer those blocks become a zone of their own, which features/ weighs more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scrapy_simhash.text.outline import Block

#: Characters up to which a block with a price is an offer: a price in a sentence is a remark.
OFFER_LENGTH = 60
#: Characters of prose beyond which a page is an article, whatever is advertised beside it.
LONGEST_DESCRIPTION = 2_000

_CURRENCY = (
    r"(?:[$€£¥₹₽₩₺₫฿₴₪₦]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|RUB|BRL|CAD|AUD|PLN|SEK|NOK|DKK|CZK|HUF)\b)"
)
_AMOUNT = r"\d[\d.,'’ ]*"
# Case matters: 20 Ft are forints, 20 ft are feet.
PRICE = re.compile(
    rf"{_CURRENCY}\s?{_AMOUNT}|{_AMOUNT}(?:{_CURRENCY}|元(?!旦)|円|원|zł\b|kr\b|Kč\b|Ft\b|lei\b|лв\b|руб|грн)"
)
# No price is without one, and most short blocks are.
_DIGIT = re.compile(r"\d")


def offer_blocks(blocks: Sequence[Block], kept: Sequence[int], prose: Sequence[bool]) -> list[int]:
    """Return which of the *kept* blocks are the offer of the page: the first heading and every price.

    Empty when there is no price outside sentences, or more prose than a description has. O(characters).
    """
    prices = [
        i
        for i in kept
        if not prose[i]
        and len(text := blocks[i].text) <= OFFER_LENGTH
        and _DIGIT.search(text)
        and PRICE.search(text)
    ]
    if not prices or sum(len(blocks[i].text) for i in kept if prose[i]) > LONGEST_DESCRIPTION:
        return []
    name = next((i for i in kept if blocks[i].zone == "heading"), None)
    return prices if name is None else sorted({name, *prices})
