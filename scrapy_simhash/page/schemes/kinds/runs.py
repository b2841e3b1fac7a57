"""The paragraphs that a kind reads, as tokens: of the whole main text or of one zone, by any tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.text.document import Zone

#: A text to its tokens.
Tokenizer = Callable[[str], Sequence[str]]


def runs(page: Page, zone: Zone | None, tokenizer: Tokenizer | None) -> Iterator[Sequence[str]]:
    """Yield the tokens of each paragraph of the main text; those of the package if there is no *tokenizer*."""
    for paragraph in page.document.main:
        if zone is None or paragraph.zone == zone:
            yield paragraph.tokens if tokenizer is None else tokenizer(paragraph.text)
