"""A cyclic hash over a moving window of tokens: the features of simhash-cpp's generator.

The hash of a window is kept by one rotation and two exclusive ors for each token, however long the window is:

    hash = rotate(hash, 1) ^ rotate(token that leaves, length) ^ token that comes

The windows run over the whole text, paragraphs do not part them, and the first ones hold fewer tokens. The generator
counts its bits from the other end, so all hashes are reversed here, those of the tokens to begin with, and rotated to
the other side: the fingerprints are those that it has published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_simhash.page.schemes.hashes import JENKINS, FeatureHash
from scrapy_simhash.page.schemes.kinds.feature_kind import Page
from scrapy_simhash.page.schemes.kinds.runs import Tokenizer
from scrapy_simhash.page.schemes.tokenizers import letters

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
        tokens = self.tokenizer(page.document.text)
        coming = {token: _reversed(self.token_hash.of(token) & _MASK) for token in set(tokens)}
        going = {token: _rotated(bits, self.length % 64) for token, bits in coming.items()}
        value = 0
        for place, token in enumerate(tokens):
            value = _rotated(value, 1) ^ coming[token]
            if place >= self.length:
                value ^= going[tokens[place - self.length]]
            yield value


def _reversed(value: int) -> int:
    return int(f"{value:064b}"[::-1], 2)


def _rotated(value: int, bits: int) -> int:
    return value >> bits | value << 64 - bits & _MASK
