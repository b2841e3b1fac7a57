"""Plans by shape: the classic ones, and covers, which are exact with fewer tables.

Turned around, a list of keys is exact when every set of *k* blocks lies within what some key leaves over. Such a
list of left-overs is a *covering design*, and mathematicians have sought small ones for a century::

    k = 3, two triangles: six blocks, six tables of 21 bits        the bits differ in     B     D  E
      A B | C D E F     D E | A B C F                              three blocks fall upon two triangles:
      A C | B D E F     D F | A B C E                              one of them has two blocks left that
      B C | A D E F     E F | A B C D                              agree, here A C, and they are a key

For a distance of 3, tables x bits of a key::

    4x16   four blocks, one a key: the classic plan with the fewest tables
    5x18   seven blocks in cliques of 3, 2 and 2 (``cliques``)
    6x21   six blocks in two triangles (``cliques``)
    8x24   eight blocks, the key 0 1 3 turned round (``turned``)
    10x25  five blocks, two a key: classic
    11x29  eleven blocks, the key 1 3 4 5 9 turned round: the squares modulo 11, a biplane
    14x32  eight bytes, four a key: those whose numbers have the xor 0 (``planes``)
    15x34  fifteen blocks, eight a key: all but a plane of the 15 points of the projective space over two elements
    16x28  four blocks of 16, and for each the other 48 bits in four of 12 (``nested``)
    20x32  six blocks, three a key: the classic plan of the paper

Whatever their source, every plan here is proved by `Plan` when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_distance
from scrapy_simhash.index.plans.blocks import BITS, partition
from scrapy_simhash.index.plans.plan import Plan

#: More tables than this are no offer: 28 take 240 bytes a fingerprint.
MOST_TABLES = 28
#: Wider keys than this are no gain: in 2**33 fingerprints, a table of 36 bits has one candidate in eight queries.
WIDE = 36
#: Nor is a plan that compares a greater share of all fingerprints with each query: a scan takes as long.
MOST_CANDIDATES = 0.25

#: By distance: into how many blocks, and the first key of ``turned``. Found by trying every first key, or those made
#: of cosets of multipliers where there are too many (from 15 blocks on). The seven lines of the Fano plane are what
#: the first one leaves over.
TURNED: dict[int, tuple[tuple[int, tuple[int, ...]], ...]] = {
    2: ((7, (0, 1, 2, 4)),),
    3: ((8, (0, 1, 3)), (11, (1, 3, 4, 5, 9)), (15, (0, 1, 2, 3, 5, 7, 8, 11))),
    4: ((10, (0, 1, 5)), (21, (1, 2, 4, 7, 8, 11, 14, 16))),
    5: ((14, (0, 2, 4, 8)), (28, (1, 2, 9, 11, 15, 18, 22, 23, 25))),
}


def cliques(max_distance: int, blocks: int) -> Plan:
    """Return the plan whose keys are all pairs within groups of blocks, in *blocks* - *max_distance* - 1 groups.

    However *max_distance* blocks are taken away, more blocks are left than there are groups, so that two of them
    are in one group. No list of pairs is shorter. Raises ValueError if there would be no group.

    Source: Turán, "On an extremal problem in graph theory", 1941.

    >>> cliques(max_distance=3, blocks=6).keys
    ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))
    """
    groups = blocks - max_distance - 1
    if groups < 1:
        raise ValueError(f"blocks must be at least max_distance + 2 ({max_distance + 2}), got {blocks}")
    return Plan(max_distance, partition(blocks), _pairs(blocks, groups))


def _pairs(blocks: int, groups: int) -> tuple[tuple[int, int], ...]:
    borders = [(blocks * group + groups - 1) // groups for group in range(groups + 1)]
    return tuple(pair for start, end in pairwise(borders) for pair in combinations(range(start, end), 2))


def turned(max_distance: int, blocks: int, first: tuple[int, ...]) -> Plan:
    """Return the plan of the key *first*, turned round through all the *blocks*.

    Raises ValueError if that is not exact.

    >>> turned(max_distance=3, blocks=8, first=(0, 1, 3)).keys
    ((0, 1, 3), (1, 2, 4), (2, 3, 5), (3, 4, 6), (4, 5, 7), (0, 5, 6), (1, 6, 7), (0, 2, 7))
    """
    keys = (tuple(sorted((number + turn) % blocks for number in first)) for turn in range(blocks))
    return Plan(max_distance, partition(blocks), tuple(keys))


def planes() -> Plan:
    """Return the plan of 14 tables and 32 bits for a distance of 3: four bytes a key, whose numbers have the xor 0.

    Any three bytes have the xor of a fourth (or of one of them), and the key is what those four leave over, whose xor
    is 0 as well. They are the planes of three-dimensional space over two elements, a Steiner system S(3, 4, 8).

    >>> planes().keys[:3]
    ((0, 1, 2, 3), (0, 1, 4, 5), (0, 1, 6, 7))
    """
    fours = combinations(range(8), 4)
    return Plan(3, partition(8), tuple((a, b, c, d) for a, b, c, d in fours if a ^ b ^ c ^ d == 0))


def nested() -> Plan:
    """Return the plan of 16 tables and 28 bits for a distance of 3: one of four blocks, then one of four parts.

    One of four blocks of 16 bits agrees; the other 48 bits are cut into four parts of 12, one of which agrees too.
    To have both as whole blocks it cuts the fingerprint into 16 blocks of four bits::

        |  0   1   2   3 |  4   5   6   7 |  8   9  10  11 | 12  13  14  15 |
        |                |      the block |                |                |   4 5 6 7, and with it
          1st part   | 2nd                    part | 3rd part  |   4th part     0 1 2, 3 8 9, 10 11 12, or 13 14 15

    Source: Manku, Jain, Das Sarma 2007, section 3.

    >>> nested().keys[4:6]
    ((0, 1, 2, 4, 5, 6, 7), (3, 4, 5, 6, 7, 8, 9))
    """
    keys = []
    for first in range(0, 16, 4):
        block = range(first, first + 4)
        others = [number for number in range(16) if number not in block]
        keys += [tuple(sorted([*block, *others[part : part + 3]])) for part in range(0, 12, 3)]
    return Plan(3, partition(16), tuple(keys))


def scan(max_distance: int) -> Plan:
    """Return the plan of one table whose key has no bits: every fingerprint is a candidate.

    >>> scan(max_distance=64).key_bits
    (0,)
    """
    return Plan(max_distance, partition(1), ((),))


def plans_for(max_distance: SupportsIndex) -> dict[str, Plan]:
    """Return every plan worth a thought for a distance, by name, the fewest tables first.

    At most 28 tables; only the scan where any other would compare a quarter of all fingerprints, which is from a
    distance of 13 on. ``ProbingIndex`` is the better way from a distance of 7 or so. Raises ValueError unless
    *max_distance* is from 0 to 64.

    >>> list(plans_for(3))
    ['4x16', '5x18', '6x21', '8x24', '10x25', '11x29', '14x32', '15x34', '16x28', '20x32']
    >>> list(plans_for(6))
    ['7x9', '8x9', '9x10', '10x11', '12x13', '16x14', '28x16']
    >>> list(plans_for(13))
    ['1x0']
    """
    return dict(_plans_for(checked_distance(max_distance)))


@cache
def _plans_for(max_distance: int) -> tuple[tuple[str, Plan], ...]:
    plans: dict[str, Plan] = {}
    for plan in sorted(_shapes(max_distance), key=lambda plan: len(plan.keys)):
        is_wide_enough = any(min(fewer.key_bits) >= WIDE for fewer in plans.values())
        if not is_wide_enough and sum(2.0**-bits for bits in plan.key_bits) <= MOST_CANDIDATES:
            plans.setdefault(plan.name, plan)
    return tuple(plans.items()) or (("1x0", scan(max_distance)),)


def _shapes(max_distance: int) -> Iterator[Plan]:
    """Yield the plans of all shapes with no more than ``MOST_TABLES`` tables, and some that have too short keys.

    A new shape is a function above and a line here. ``plans_for`` offers its plan unless one with fewer tables has
    keys as wide as ever needed (``WIDE``), or it compares too many, or another has its name already.
    """
    for blocks in range(max_distance + 1, BITS + 1) if max_distance else [1]:
        if comb(blocks, max_distance) > MOST_TABLES:
            break
        yield Plan.classic(max_distance, blocks)
    # With fewer blocks there is one group, with more there are only pairs: those are classic plans.
    for blocks in range(max_distance + 3, min(2 * max_distance + 1, BITS) + 1):
        tables = len(_pairs(blocks, blocks - max_distance - 1))
        # Not made at all, since the proof takes seconds for wide distances.
        if tables <= MOST_TABLES and tables * 2 ** (-2 * BITS / blocks) <= MOST_CANDIDATES:
            yield cliques(max_distance, blocks)
    for blocks, first in TURNED.get(max_distance, ()):
        yield turned(max_distance, blocks, first)
    if max_distance == 3:
        yield planes()
        yield nested()
