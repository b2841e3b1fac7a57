"""All that a page says, to be compared as it is: whether it is unchanged, and whether two pages are equal."""

from __future__ import annotations

from scrapy_simhash.page.fingerprint.hashing import number
from scrapy_simhash.page.text import Document, compared

#: Tokens of main text below which a page says nothing, unless it has a fingerprint all the same.
LEAST_TOKENS = 3


def whole_text(document: Document) -> str:
    """Return the title and the text that :func:`~scrapy_simhash.page.text.compared` chooses, a line each.

    Two pages have the same whole text exactly when they say the same, sign for sign: only white space, and where a
    paragraph ends, make no difference. O(characters).
    """
    text = " ".join(paragraph.text for paragraph in compared(document))
    return f"{document.title}\n{text}"


def with_offer(text_hash: int | None, offer: str) -> int | None:
    """Return the hash of a text and of what structured data say about the price; None if there is no text.

    >>> with_offer(number("A kettle"), "price 19") == with_offer(number("A kettle"), "price 21")
    False
    """
    return text_hash ^ number(offer) if text_hash is not None and offer else text_hash


def says_something(document: Document) -> bool:
    """Tell whether there are ``LEAST_TOKENS`` tokens of main text: pages that say nothing do not say the same."""
    return sum(len(paragraph.tokens) for paragraph in document.main) >= LEAST_TOKENS
