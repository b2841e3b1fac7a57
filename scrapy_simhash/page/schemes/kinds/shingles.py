"""Shingles: runs of words, as in the English article among the documents, and in the default scheme."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from scrapy_simhash.page.features.shingles import selects_prose, shingle, with_stopword
from scrapy_simhash.page.language import stopwords
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.schemes.kinds.runs import Tokenizer, runs
from scrapy_simhash.page.text.document import Zone


@dataclass(frozen=True)
class Shingles:
    """Every run of *size* tokens inside a paragraph of the main text.

    >>> from scrapy_simhash.page.text import plain_text
    >>> list(Shingles(2)(Page(plain_text("The fog, the sea."))))
    ['the fog', 'fog the', 'the sea']
    """

    size: int = 3
    """Tokens of a shingle; a shorter paragraph is one shorter shingle."""
    stopwords: Literal["ignored", "required"] = "ignored"
    """``required`` leaves only shingles with a stopword, on pages where the default scheme does so too: their
    language has a list, at least 30 distinct shingles are left, and the page makes no offer."""
    zone: Zone | None = None
    """``heading``, ``body`` or ``offer``; None for all."""
    tokenizer: Tokenizer | None = None
    """None for the words of the package."""

    def __call__(self, page: Page) -> Iterable[str]:
        """Return the shingles, in order."""
        texts = runs(page, self.zone, self.tokenizer)
        if self.stopwords == "required" and self._selects_prose(page):
            known = stopwords(page.document.language)
            return chain.from_iterable(with_stopword(tokens, self.size, known) for tokens in texts)
        return chain.from_iterable(shingle(tokens, self.size) for tokens in texts)

    def _selects_prose(self, page: Page) -> bool:
        """Tell whether only shingles with a stopword count; by the whole page, whatever the zone."""
        known = stopwords(page.document.language)
        prose = (with_stopword(tokens, self.size, known) for tokens in runs(page, None, self.tokenizer))
        distinct = len(set(chain.from_iterable(prose))) if known else 0
        has_offer = any(paragraph.zone == "offer" for paragraph in page.document.main)
        return selects_prose(bool(known), has_offer, self.size, distinct)
