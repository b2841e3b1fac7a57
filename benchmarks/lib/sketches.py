"""Sketches of made-up pages, for what only keeps them."""

from __future__ import annotations

import random

from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import LINE, WORD_BITS, packed

#: Facts of a page: 78 bytes with them, as real pages have on average.
FACTS = 25


def random_sketch(draw: random.Random) -> bytes:
    """Return the sketch of a page that has nothing in common with any other: random bytes, with so many facts."""
    words = draw.sample(range(1 << WORD_BITS), FACTS)
    return draw.randbytes(FACTS_AT) + packed(1, dict.fromkeys(words, LINE))
