"""Prose: which blocks read like sentences."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_simhash.text.outline import Block

#: A block with this share of link characters is a link.
LINKED = 0.6
#: Tokens and share of stopwords from which a block is prose.
PROSE_TOKENS = 12
PROSE_DENSITY = 0.15
#: What ends a sentence in languages without a stopword list. Thai and Lao use spaces only: there length decides.
SENTENCE_MARKS = frozenset("。．！？｡।॥។။.!?")
LONG_TOKENS = 40


def is_link(block: Block) -> bool:
    """Tell whether *block* is mostly links. The first heading of a page may link to the page itself."""
    return not block.path.endswith("/h1") and block.link_length >= LINKED * len(block.text)


def is_prose(block: Block, tokens: Sequence[str], stopword_density: float, has_stopwords: bool) -> bool:
    """Tell whether *block* reads like sentences.

    Where the language has no stopword list (*has_stopwords* false), sentence marks stand in for them.
    """
    if len(tokens) < PROSE_TOKENS or block.zone == "heading" or is_link(block):
        return False
    if has_stopwords:
        return stopword_density >= PROSE_DENSITY
    return not SENTENCE_MARKS.isdisjoint(block.text) or len(tokens) >= LONG_TOKENS
