"""What a page says that is too short to have features: all of it, to be compared as it is."""

from __future__ import annotations

from scrapy_simhash.language import normalize, tokenize
from scrapy_simhash.text import Document

#: Tokens of main text below which not even equal pages are called duplicates.
LEAST_TOKENS = 3


def short_text(document: Document) -> str | None:
    """Return the tokens of title and main text, a line each.

    None with fewer than ``LEAST_TOKENS`` tokens of main text: pages that say nothing do not say the same.
    """
    tokens = [token for paragraph in document.main for token in paragraph.tokens]
    if len(tokens) < LEAST_TOKENS:
        return None
    return "\n".join((" ".join(tokenize(normalize(document.title))), " ".join(tokens)))
