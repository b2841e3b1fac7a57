"""Plans: the blocks of the 64 bits of a fingerprint, and the blocks in the key of each table.

With six blocks, bit 63 at the left, bit 0 at the right::

    63------53|52------42|41------31|30------20|19------10|9--------0
    |    A    |     B    |     C    |     D    |     E    |    F    |
         11         11         11         11         10        10

Two fingerprints that differ in *k* bits differ in at most *k* blocks. In this example the three bits are in B, D and
E, so A, C and F are equal:

>>> f = 0b0100101110111011001000101111101110111100001010011101100110110101
>>> g = 0b0100101110111011011000101111101110011100001010011100100110110101
>>> [name for name, block in zip("ABCDEF", partition(6)) if not (f ^ g) & block]
['A', 'C', 'F']

Source of picture and example: the README of simhash-cpp (Moz).

A plan is a list of keys, one per table: a mask of the bits of the key, and the radius around the key of the query
within which the table is probed. Two kinds of plans are exact for any distance, `classic` and `probing`.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal, SupportsIndex, TypeAlias

from scrapy_simhash.index.values import checked_blocks

BITS = 64
#: Max tables. With more tables, each of which contains every fingerprint, a scan is faster and smaller.
MAX_TABLES = 1_000
#: Blocks of the probing plan. With the C extension, five blocks are faster than four, even above a million
#: fingerprints.
PROBED = 5
#: The greatest distance for which ``auto`` selects the classic plan. With one table more than the distance, each key
#: has at least 16 bits, and a search takes less time and memory than with probing.
MAX_CLASSIC = 3

Key: TypeAlias = tuple[int, int]
"""The mask of a table's key, and the number of its bits that may differ from those of a query."""


def partition(blocks: int) -> list[int]:
    """Split 64 bits into 1 to 64 blocks of nearly equal width, the most significant first; return their masks.

    Wider blocks come first.

    >>> [block.bit_count() for block in partition(6)]
    [11, 11, 11, 11, 10, 10]
    >>> hex(partition(6)[-1])
    '0x3ff'
    """
    narrow, wider_ones = divmod(BITS, blocks)
    masks, end = [], BITS
    for number in range(blocks):
        width = narrow + (number < wider_ones)
        end -= width
        masks.append((1 << width) - 1 << end)
    return masks


def plan_for(max_distance: int, blocks: SupportsIndex | Literal["auto"]) -> list[Key]:
    """Return the classic plan of *blocks* blocks, or for ``auto`` the best plan for the distance.

    Raises TypeError or ValueError for an invalid number of blocks.

    >>> len(plan_for(3, 6)), len(plan_for(3, "auto")), len(plan_for(8, "auto"))
    (20, 4, 5)
    """
    if blocks != "auto":
        return classic(max_distance, blocks)
    return classic(max_distance, max_distance + 1) if max_distance <= MAX_CLASSIC else probing(max_distance)


def classic(max_distance: int, blocks: SupportsIndex) -> list[Key]:
    """Return the plan of Manku et al.: a table for every choice of *blocks* - *max_distance* blocks.

    Fingerprints within the distance are equal in at least this number of blocks, which are the key of a table::

        m = 6, k = 3, twenty tables          the bits differ in     B     D  E
          A B C | D E F                      the table that finds   A  C  F | B  D  E
          A B D | C E F
          ...                                the key is on the left of the bar
          D E F | A B C

    Raises ValueError unless *max_distance* < *blocks* <= 64, or if there would be more than 1,000 tables.

    Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3.

    >>> plan = classic(max_distance=3, blocks=6)
    >>> len(plan), hex(plan[0][0]), hex(plan[-1][0])
    (20, '0xffffffff80000000', '0x7fffffff')
    """
    number = checked_blocks(blocks, max_distance)
    tables = comb(number, max_distance)
    if tables > MAX_TABLES:
        raise ValueError(
            f"max_distance {max_distance} with {number} blocks needs {tables:,} tables; the limit is {MAX_TABLES:,}"
        )
    return [(sum(key), 0) for key in combinations(partition(number), number - max_distance)]


def probing(max_distance: int, blocks: int = PROBED) -> list[Key]:
    """Return the plan of one table per block, probed at all keys within a radius around the key of a query.

    A fingerprint is missed only if it differs from the query by more than the radius in **every** block: in total, by
    at least the sum of radius + 1 over the blocks. The plan is exact if *k* + 1 *units* are distributed among the
    blocks: a block with *u* units has the radius *u* - 1, and a block without units needs no table::

        k = 10, eleven units     |    A    |    B    |    C    |    D    |
        units                         2         3         3         3
        radius                        1         2         2         2
        missed from                   2    +    3    +    3    +    3         bits on, which is 11

    Source: Norouzi, Punjani, Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012, which has one
    radius for all blocks; the sum is the general pigeonhole principle (Qin et al., "GPH: similarity search in Hamming
    space", ICDE 2018).

    >>> [radius for _, radius in probing(max_distance=10, blocks=4)]
    [1, 2, 2, 2]
    >>> [radius for _, radius in probing(max_distance=1, blocks=3)]
    [0, 0]
    """
    units, left = divmod(max_distance + 1, blocks)
    # Blocks have one or two widths, with the wider blocks first. Each unit that is moved from a wide block to a
    # narrow block changes the sums of probes and candidates by the same amount, so one of the two extremes is the
    # best.
    wide_first = [units] * left + [units - 1] * (blocks - left)
    plans = [list(zip(partition(blocks), radii, strict=True)) for radii in (wide_first[::-1], wide_first)]
    return [(mask, radius) for mask, radius in min(plans, key=_work) if radius >= 0]


def probes_of(plan: list[Key]) -> int:
    """Return the number of buckets that a search looks up."""
    return _work(plan)[0]


def _work(plan: list[Key]) -> tuple[int, float]:
    """Return the number of probes, and the share of random fingerprints that are candidates."""
    balls = [
        (sum(comb(mask.bit_count(), bits) for bits in range(radius + 1)), mask.bit_count())
        for mask, radius in plan
    ]
    return sum(ball for ball, _ in balls), sum(ball / (1 << width) for ball, width in balls)
