"""Which blocks lead which table, and the proof that no near fingerprint escapes.

Fingerprints within *k* bits differ in at most *k* of the *m* blocks. A table finds them if none of those
blocks is in its key. So a list of keys is exact when, **for every set of k blocks, some key avoids all of
them**. The
classic list takes every choice of *m - k* blocks, one of which is always what the *k* blocks leave over::

    m = 6, k = 3, twenty tables          the bits differ in     B     D  E
      A B C | D E F                      the table that finds   A  C  F | B  D  E
      A B D | C E F
      ...                                the key is what stands before the bar
      D E F | A B C

Other lists are as exact with fewer tables; a plan does not ask where its keys come from, it checks them.

Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_blocks, checked_distance
from scrapy_simhash.index.blocks import Block, partition

#: Every table holds every fingerprint: beyond this a linear scan is both faster and smaller.
MAX_TABLES = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """An exact list of tables for one distance. A plan that can be made is exact.

    *keys* has one tuple per table: the numbers of the blocks in its key, rising, the most significant block
    of the fingerprint being 0. Raises ValueError if a key names no block of ours, if there are more than
    1,000 tables, or if the list has a hole, naming it.

    >>> Plan(max_distance=1, blocks=partition(3), keys=((0,), (1,), (2,))).key_bits
    (22, 21, 21)
    >>> Plan(max_distance=1, blocks=partition(3), keys=((0, 1), (1, 2)))
    Traceback (most recent call last):
        ...
    ValueError: these keys miss pairs that differ in blocks (1,): every key has one of them
    """

    max_distance: int
    blocks: tuple[Block, ...]
    keys: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Refuse a plan that is malformed or would miss a match."""
        if not self.keys:
            raise ValueError("a plan needs at least one key")
        if len(self.keys) > MAX_TABLES:
            raise ValueError(_too_many(len(self.keys)))
        for key in self.keys:
            if list(key) != sorted(set(key) & set(range(len(self.blocks)))):
                raise ValueError(f"a key must be rising block numbers below {len(self.blocks)}, got {key}")
        hole = find_hole(self.keys, len(self.blocks), self.max_distance)
        if hole is not None:
            raise ValueError(f"these keys miss pairs that differ in blocks {hole}: every key has one of them")

    @classmethod
    def classic(cls, max_distance: SupportsIndex = 3, blocks: SupportsIndex = 6) -> Plan:
        """Return the plan of Manku et al.: a table for every choice of *blocks - max_distance* blocks.

        Raises ValueError unless 0 <= *max_distance* < *blocks* <= 64, or if that makes more than 1,000
        tables.

        >>> plan = Plan.classic(max_distance=3, blocks=6)
        >>> len(plan.keys), plan.keys[0], plan.keys[-1]
        (20, (0, 1, 2), (3, 4, 5))
        >>> ["ABCDEF"[a] + "ABCDEF"[b] + "ABCDEF"[c] for a, b, c in plan.keys if not {a, b, c} & {1, 3, 4}]
        ['ACF']
        """
        k = checked_distance(max_distance)
        m = checked_blocks(blocks, k)
        tables = comb(m, k)
        if tables > MAX_TABLES:
            raise ValueError(f"max_distance {k} with {m} blocks: {_too_many(tables)}")
        return cls(k, partition(m), tuple(combinations(range(m), m - k)))

    @property
    def key_bits(self) -> tuple[int, ...]:
        """The width of each table's key in bits: the more, the fewer candidates a probe returns."""
        return tuple(sum(self.blocks[number].width for number in key) for key in self.keys)


def find_hole(keys: Iterable[Iterable[int]], blocks: int, max_distance: int) -> tuple[int, ...] | None:
    """Return a set of *max_distance* blocks that no key avoids, or None if the keys are exact.

    It tries every set of *max_distance* of the *blocks* blocks, so that None is a proof: fewer differing
    blocks are part of such a set. O(tables * comb(blocks, max_distance)) at worst.

    >>> find_hole([(0, 1), (0, 2), (1, 2)], blocks=3, max_distance=1) is None
    True
    >>> find_hole([(0, 1), (1, 2)], blocks=3, max_distance=1)
    (1,)
    """
    key_masks = [sum(1 << number for number in key) for key in keys]
    for differing in combinations(range(blocks), min(max_distance, blocks)):
        differing_mask = sum(1 << number for number in differing)
        if all(differing_mask & key_mask for key_mask in key_masks):
            return differing
    return None


def _too_many(tables: int) -> str:
    return f"{tables:,} tables are too many, the limit is {MAX_TABLES:,}"
