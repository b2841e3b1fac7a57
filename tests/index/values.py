"""Fingerprints for tests: random ones, some near each other, and some that an index might miss."""

from __future__ import annotations

import random
from collections.abc import Iterable

from hypothesis import strategies as st

from scrapy_simhash.index.plans import partition

ALL_ONES = 2**64 - 1

bit = st.integers(0, 63)
fingerprints = st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, ALL_ONES - 1, ALL_ONES]) | st.integers(
    0, ALL_ONES
)

#: The bits of keys that consist of whole blocks.
key_masks = st.integers(1, 64).flatmap(lambda blocks: st.sets(st.sampled_from(partition(blocks))).map(sum))


def flipped(value: int, bits: Iterable[int]) -> int:
    """Return *value* with each of *bits* flipped, several times if repeated."""
    for number in bits:
        value ^= 1 << number
    return value


def values_of_every_kind(draw: random.Random, most: int, blocks: int) -> list[int]:
    """Return about 300 values, shuffled, with copies up to *most* bits away."""
    originals = [draw.getrandbits(64) for _ in range(5)]
    value = draw.getrandbits(64)
    borders = {(block & -block).bit_length() - 1 for block in partition(blocks)}
    near_ends = [draw.sample(range(64), draw.randint(0, most // 2)) for _ in range(20)]
    values = [
        *(draw.getrandbits(64) for _ in range(80)),
        # Copies of a few originals.
        *(flipped(draw.choice(originals), draw.sample(range(64), draw.randint(0, most))) for _ in range(80)),
        # Equal leading bits.
        *(0xDEADBEEF << 32 | draw.getrandbits(32) & draw.getrandbits(32) for _ in range(80)),
        # One value with one or two bits flipped at the borders of blocks.
        *(flipped(value, {bit, (bit - 1) % 64}) for bit in borders),
        *(value ^ 1 << bit for bit in borders),
        # Nearly no bits set, or nearly all.
        *(0, ALL_ONES),
        *(flipped(end, bits) for end in (0, ALL_ONES) for bits in near_ends),
    ]
    draw.shuffle(values)
    return values
