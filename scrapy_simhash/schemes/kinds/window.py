"""A cyclic hash over a moving window of tokens: the features of simhash-cpp's generator.

The hash of a window is kept by one rotation and two exclusive ors for each token, however long the window is:

    hash = rotate(hash, 1) ^ rotate(token that leaves, length) ^ token that comes

The windows run over the whole text, paragraphs do not part them, and the first ones hold fewer tokens. The generator
counts its bits from the other end, so all hashes are reversed here: the fingerprints are those that it has published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_simhash.schemes.hashes import JENKINS, FeatureHash
from scrapy_simhash.schemes.kinds.feature_kind import Page
from scrapy_simhash.schemes.kinds.runs import Tokenizer
from scrapy_simhash.schemes.tokenizers import letters

_MASK = 2**64 - 1


@dataclass(frozen=True)
class CyclicWindows:
    """The hash of every window of *length* tokens."""

    length: int = 3
    tokenizer: Tokenizer = letters
    token_hash: FeatureHash = JENKINS
    """64 bits or more."""

    def __call__(self, page: Page) -> Iterator[int]:
        """Yield the hash of the window that ends with each token."""
        length, hashes = self.length, self.token_hash.of
        window, known, value = [0] * length, dict[str, int](), 0
        for place, token in enumerate(self.tokenizer(page.document.text)):
            if token not in known:
                known[token] = hashes(token) & _MASK
            gone, window[place % length] = window[place % length], known[token]
            value = _rotated(value, 1) ^ _rotated(gone, length) ^ known[token]
            yield int(f"{value:064b}"[::-1], 2)


def _rotated(value: int, bits: int) -> int:
    bits %= 64
    return (value << bits | value >> (64 - bits)) & _MASK
