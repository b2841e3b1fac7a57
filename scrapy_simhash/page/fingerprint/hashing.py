"""A feature to 64 bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from xxhash import xxh3_64_digest, xxh3_64_intdigest


def digest(feature: str) -> bytes:
    """Return the 8-byte XXH3 digest, seed 0, of the UTF-8 form of *feature*, big endian.

    Cheap, not cryptographic, and the same on every platform: Python's own ``hash`` is neither stable nor
    seeded alike in two processes. Source: the XXH3 specification.

    >>> digest("the sea is").hex()
    'e1f29f16c0725867'
    """
    return xxh3_64_digest(feature.encode("utf-8", "replace"))


def number(feature: str) -> int:
    """Return the digest of *feature* as an integer of 64 bits.

    >>> f"{number('the sea is'):x}"
    'e1f29f16c0725867'
    """
    return xxh3_64_intdigest(feature.encode("utf-8", "replace"))


#: What the hash of a further occurrence is multiplied with: odd and without pattern, 2**64 over the golden ratio.
SCATTER = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


def occurrences(counts: Mapping[str, int]) -> Iterator[int]:
    """Return a 64-bit hash for every occurrence of every feature; the same feature once more is another one.

    *counts* says how often each occurs, at least once.
    """
    firsts = [number(feature) for feature in counts]
    again = [
        (first + occurrence) * SCATTER & _MASK
        for first, count in zip(firsts, counts.values(), strict=True)
        if count > 1
        for occurrence in range(1, count)
    ]
    return chain(firsts, again)
