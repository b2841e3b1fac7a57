"""The headings of a page, as a zone of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_simhash.page.features import shingle
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.text.subject import UNNAMED


@dataclass(frozen=True)
class Headings:
    """The shingles of every heading but those of navigation and of lists of links.

    The headline of an article is no main text to the filters: ``Shingles(zone="heading")`` has only those between
    the sentences.
    """

    size: int = 3
    """Tokens of a shingle; 1 for words."""

    def __call__(self, page: Page) -> Iterator[str]:
        """Yield the shingles, in order."""
        for paragraph in page.document.paragraphs:
            if paragraph.zone == "heading" and paragraph.boilerplate not in UNNAMED:
                yield from shingle(paragraph.tokens, self.size)
