"""Jenkins: lookup3 by Bob Jenkins (2006, public domain), the default hash of simhash-cpp's generator.

Its ``hashlittle2`` makes two numbers of 32 bits; simhash-cpp puts the first, the better mixed one, above the second.
"""

from __future__ import annotations

from struct import iter_unpack

from scrapy_simhash.page.schemes.hashes.feature_hash import FeatureHash

_MASK = 0xFFFFFFFF
_START = 0xDEADBEEF


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK


def lookup3(data: bytes, first: int = 0, second: int = 0) -> tuple[int, int]:
    """Return two hashes of 32 bits of *data*; *first* and *second* are seeds.

    >>> [f"{half:08x}" for half in lookup3(b"Four score and seven years ago")]
    ['17770551', 'ce7226e6']
    """
    a = b = c = (_START + len(data) + first) & _MASK
    c = (c + second) & _MASK
    if not data:
        return c, b
    # The last block, of 1 to 12 bytes, is filled up with zeros and mixed in another way.
    blocks = list(iter_unpack("<3I", data + b"\0" * (-len(data) % 12)))
    for x, y, z in blocks[:-1]:
        a, b, c = _mixed((a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK)
    x, y, z = blocks[-1]
    return _finished((a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK)


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    for first, second in ((4, 6), (8, 16), (19, 4)):
        a = (a - c & _MASK) ^ _rotated(c, first)
        c = (c + b) & _MASK
        b = (b - a & _MASK) ^ _rotated(a, second)
        a = (a + c) & _MASK
        # What was a, b, c is now c, a, b: six steps of one kind, each on the next letter.
        a, b, c = c, a, b
    return a, b, c


def _finished(a: int, b: int, c: int) -> tuple[int, int]:
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _rotated(b, bits)) & _MASK
        a, b, c = b, c, a
    return b, a


def _jenkins(feature: str) -> int:
    first, second = lookup3(feature.encode("utf-8", "replace"))
    return first << 32 | second


JENKINS = FeatureHash("jenkins", 64, _jenkins)
