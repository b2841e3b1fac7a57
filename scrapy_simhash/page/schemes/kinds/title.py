"""The title of a page, as a zone of its own."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_simhash.page.features import shingle
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.schemes.kinds.feature_kind import Page


@dataclass(frozen=True)
class Title:
    """The shingles of the ``title`` element.

    >>> from scrapy_simhash.page.text import Document
    >>> Title(2)(Page(Document("The last ferry", "en", (), ())))
    ['the last', 'last ferry']
    """

    size: int = 3
    """Tokens of a shingle; 1 for words."""

    def __call__(self, page: Page) -> list[str]:
        """Return the shingles, in order; none for a page without a title."""
        return shingle(tokenize(normalize(page.document.title)), self.size)
