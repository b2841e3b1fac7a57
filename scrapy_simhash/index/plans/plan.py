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
from itertools import combinations, islice
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_blocks, checked_distance
from scrapy_simhash.index.plans.blocks import Block, check_apart, partition

#: Every table holds every fingerprint: beyond this a linear scan is both faster and smaller.
MAX_TABLES = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """An exact list of tables for one distance. A plan that can be made is exact.

    *keys* has one tuple per table: the numbers of the blocks in its key, rising, the most significant block
    of the fingerprint being 0. Raises ValueError if blocks overlap or lie outside the 64 bits, if a key names
    no block of ours, if there are more than 1,000 tables, or if the list has a hole, naming it.

    >>> Plan(max_distance=1, blocks=partition(3), keys=((0,), (1,), (2,))).key_bits
    (22, 21, 21)
    >>> Plan(max_distance=1, blocks=partition(3), keys=((0, 1), (1, 2)))
    Traceback (most recent call last):
        ...
    ValueError: the keys miss pairs that differ in blocks (1,): every key contains one of them
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
        check_apart(self.blocks)
        for key in self.keys:
            if list(key) != sorted(set(key) & set(range(len(self.blocks)))):
                raise ValueError(f"a key must be rising block numbers below {len(self.blocks)}, got {key}")
        hole = find_hole(self.keys, len(self.blocks), self.max_distance)
        if hole is not None:
            raise ValueError(
                f"the keys miss pairs that differ in blocks {hole}: every key contains one of them"
            )

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
    def name(self) -> str:
        """Tables x bits of a key, the mean rounded down.

        >>> Plan.classic(max_distance=3, blocks=5).name
        '10x25'
        """
        return f"{len(self.keys)}x{sum(self.key_bits) // len(self.keys)}"

    @property
    def key_bits(self) -> tuple[int, ...]:
        """The width of each table's key in bits: the more, the fewer candidates a probe returns."""
        return tuple(sum(self.blocks[number].width for number in key) for key in self.keys)


def find_hole(keys: Iterable[Iterable[int]], blocks: int, max_distance: int) -> tuple[int, ...] | None:
    """Return a set of *max_distance* blocks that no key avoids, or None if the keys are exact.

    None is a proof: the search leaves out only sets that it has shown to be avoided. Milliseconds for the plans of
    ``covers``, 0.1 seconds for the greatest classic ones; keys without any pattern can take as long as to try all
    ``comb(blocks, max_distance)`` sets.

    >>> find_hole([(0, 1), (0, 2), (1, 2)], blocks=3, max_distance=1) is None
    True
    >>> find_hole([(0, 1), (1, 2)], blocks=3, max_distance=1)
    (1,)
    """
    most = min(max_distance, blocks)
    in_every_key = _one_of_every_key([sum(1 << number for number in set(key)) for key in keys], most)
    if in_every_key is None:
        return None
    hole = [number for number in range(blocks) if in_every_key >> number & 1]
    others = (number for number in range(blocks) if not in_every_key >> number & 1)
    return tuple(sorted([*hole, *islice(others, most - len(hole))]))


def _one_of_every_key(keys: list[int], most: int) -> int | None:
    """Return up to *most* blocks of which every key has one, or None. Keys and blocks are bits of an int."""
    if not keys:
        return 0
    # Keys that share no block need one each.
    apart, union = 0, 0
    for key in keys:
        if not key & union:
            apart, union = apart + 1, union | key
    if apart > most:
        return None
    shortest = min(keys, key=int.bit_count)
    tried: list[int] = []
    while shortest:
        block = shortest & -shortest
        shortest ^= block
        avoiding = sum(1 << number for number, key in enumerate(keys) if not key & block)
        # A block that is in no more keys than one tried in vain is in vain.
        if not any(avoiding & other == other for other in tried):
            further = _one_of_every_key([key for key in keys if not key & block], most - 1)
            if further is not None:
                return further | block
            tried.append(avoiding)
        # It is in none of the sets still to be tried, so that none is tried twice.
        keys = [key & ~block for key in keys]
    return None


def _too_many(tables: int) -> str:
    return f"{tables:,} tables are too many, the limit is {MAX_TABLES:,}"
