"""Find all pairs of fingerprints within a distance, without comparing every pair, and the groups that pairs connect.

The search uses the tables of the index for all fingerprints at once, which is much faster than a query for each
fingerprint. For each table, fingerprints are sorted by key, and those with equal keys are compared::

    all values  --by the key A B-->  ..|x y|z|u v w|..     x with y; u with v and w, v with w
                --by the key A C-->  ..|x|y z|..           and so on

Two values can have equal keys in several tables. Only the first of these tables reports the pair. The bits of the
values show which table is the first, so pairs need not be stored.

Only one table exists at a time, so more tables take more time, but not more memory. A few fingerprints need few
tables, and many fingerprints need long keys: ``plan_for`` chooses the plan.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby
from math import comb
from typing import Literal, SupportsIndex

from scrapy_simhash import kernel
from scrapy_simhash.index.plans import BITS, MAX_TABLES, classic
from scrapy_simhash.index.values import BATCH, Progress, checked_distance, row_of

#: Cost of comparing two values, relative to the cost of sorting one value into a table: in C, 0.3 and 9 ns. Measured
#: with ``benchmarks/index.py``.
CANDIDATE = 0.04
#: Number of keys between two progress reports in pure Python.
KEYS_BETWEEN = 1 << 12


def pairs(
    values: Iterable[SupportsIndex],
    max_distance: SupportsIndex = 3,
    blocks: SupportsIndex | Literal["auto"] = "auto",
    progress: Progress = lambda share: None,
) -> Iterator[tuple[int, int, int]]:
    """Return an iterator over all pairs within *max_distance*: (smaller value, larger value, distance).

    Each pair of different values is yielded once, in an arbitrary but deterministic order. A buffer of 64-bit numbers
    is not copied, see `row_of`; all values are read before this returns. *blocks* is the number of blocks of the
    classic plan, or ``"auto"`` for the fastest plan. *progress* is called with the completed share, 0.0 to 1.0, every
    few milliseconds.

    The C extension takes 16 bytes per value, and no memory for the pairs. At a distance of 3, it searches ten million
    random values in two seconds. Pure Python takes about 170 bytes per value, and a hundred times as much time. All
    values with the same key are compared with each other: a hundred thousand of these take half a second.

    Raises TypeError or ValueError for invalid values, distances and numbers of blocks.

    >>> list(pairs([0b0000, 0b0111, 0b1111, 0b0111]))
    [(0, 7, 3), (7, 15, 1)]
    """
    row, distance = row_of(values), checked_distance(max_distance)
    masks = (
        plan_for(distance, len(row)) if blocks == "auto" else [mask for mask, _ in classic(distance, blocks)]
    )
    if kernel.hamming is None:
        return _pure(sorted(set(row)), masks, distance, progress)
    return _native(row, masks, distance, progress)


def plan_for(max_distance: int, size: int) -> list[int]:
    """Return the masks of the plan that finds all pairs of *size* random fingerprints in the least time.

    The cost of a table is 1 per fingerprint, and ``CANDIDATE`` per comparison. A plan with a single key that has no
    bits compares every pair.

    >>> [len(plan_for(3, size)) for size in (10, 100_000, 10_000_000)]
    [1, 4, 10]
    """

    def cost(tables: int, key_bits: float) -> float:
        return tables * (1 + CANDIDATE * size / 2 * 2**-key_bits)

    def classic_cost(blocks: int) -> float:
        return cost(comb(blocks, max_distance), BITS * (blocks - max_distance) / blocks)

    numbers = (m for m in range(max_distance + 1, BITS + 1) if comb(m, max_distance) <= MAX_TABLES)
    blocks = min(numbers, key=classic_cost, default=None)
    if blocks is None or cost(1, 0) <= classic_cost(blocks):
        return [0]
    return [mask for mask, _ in classic(max_distance, blocks)]


def _native(
    row: memoryview, masks: list[int], max_distance: int, report: Progress
) -> Iterator[tuple[int, int, int]]:
    assert kernel.hamming is not None
    search = kernel.hamming.PairSearch(len(row), masks, max_distance)
    for start in range(0, len(row), BATCH):
        search.take(bytes(row[start : start + BATCH]))

    def found() -> Iterator[tuple[int, int, int]]:
        while search.done < 1:
            yield from search.step()
            report(search.done)

    return found()


def _pure(
    distinct: list[int], masks: list[int], max_distance: int, report: Progress
) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs of *distinct* values, sorted in ascending order. The C extension must return the same pairs."""
    for table, mask in enumerate(masks):
        key_of = mask.__and__
        by_key = groupby(sorted(distinct, key=key_of), key_of)
        for number, (_, bucket) in enumerate(by_key):
            # The sort is stable, so values in a bucket stay in ascending order.
            for small, large in combinations(bucket, 2):
                differing = small ^ large
                if differing.bit_count() <= max_distance and all(map(differing.__and__, masks[:table])):
                    yield small, large, differing.bit_count()
            if not number % KEYS_BETWEEN:
                report((table + number / len(distinct)) / len(masks))
    report(1.0)


def connected(pairs: Iterable[tuple[int, int] | tuple[int, int, int]]) -> list[list[int]]:
    """Return the groups of values that *pairs* connect, directly or indirectly.

    Each group is sorted, and groups are sorted by their first members. Values without a pair are in no group. A pair
    is (value, value) or, as from ``pairs``, (value, value, distance). Pairs are not stored, and memory usage is about
    230 bytes per value. Takes one to four microseconds per pair.

    Source: Galler, Fischer, "An improved equivalence algorithm", 1964.

    >>> from scrapy_simhash.index.pairs import pairs
    >>> connected(pairs([0b0000000, 0b0000111, 0b1111111, 0b0111111]))
    [[0, 7, 63, 127]]
    >>> connected([(8, 9), (1, 7), (7, 2)])
    [[1, 2, 7], [8, 9]]
    """
    places: dict[int, int] = {}
    # For each position, another position nearer to the root of its group; for a root, its own position.
    parents = array("I")
    for pair in pairs:
        first = places.setdefault(pair[0], len(parents))
        if first == len(parents):
            parents.append(first)
        second = places.setdefault(pair[1], len(parents))
        if second == len(parents):
            parents.append(second)
        first, second = _root(parents, first), _root(parents, second)
        parents[max(first, second)] = min(first, second)
    groups: dict[int, list[int]] = {}
    for place, value in enumerate(places):
        groups.setdefault(_root(parents, place), []).append(value)
    return sorted(map(sorted, groups.values()))


def _root(parents: array[int], place: int) -> int:
    # Path halving: each visited value skips the next, so the next search is half as long.
    while (parent := parents[place]) != place:
        parents[place] = place = parents[parent]
    return place
