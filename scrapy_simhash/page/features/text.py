"""All that a page says, to be compared as it is: whether it is unchanged, and whether two short ones are equal."""

from __future__ import annotations

from itertools import chain

from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text import Document

#: Tokens of main text below which a page says nothing, unless it has a fingerprint all the same.
LEAST_TOKENS = 3


def whole_text(document: Document) -> str:
    """Return the tokens of title and main text, a line each.

    Two pages have the same whole text exactly when they have the same words in the same order: case, punctuation,
    and where a paragraph ends make no difference. Numbers stand as they are; ``mask_digits`` is about features.
    O(tokens).
    """
    main = chain.from_iterable(paragraph.tokens for paragraph in document.main)
    return "\n".join((" ".join(tokenize(normalize(document.title))), " ".join(main)))


def says_something(document: Document) -> bool:
    """Tell whether there are ``LEAST_TOKENS`` tokens of main text: pages that say nothing do not say the same."""
    return sum(len(paragraph.tokens) for paragraph in document.main) >= LEAST_TOKENS
