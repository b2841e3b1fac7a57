"""The 64 bits of a fingerprint cut into blocks, which blocks lead which table, and plans by shape.

With six blocks, bit 63 at the left, bit 0 at the right::

    63------53|52------42|41------31|30------20|19------10|9--------0
    |    A    |     B    |     C    |     D    |     E    |    F    |
         11         11         11         11         10        10

Two fingerprints that differ in *k* bits differ in at most *k* of the blocks, wherever the bits fall: that is
all the search rests on. Here three bits fall in B, D and E, so A, C and F are the same in both:

>>> f = 0b0100101110111011001000101111101110111100001010011101100110110101
>>> g = 0b0100101110111011011000101111101110011100001010011100100110110101
>>> [name for name, block in zip("ABCDEF", partition(6)) if block.of(f) != block.of(g)]
['B', 'D', 'E']

Source: the README of simhash-cpp (Moz), whose picture and example these are.

Which blocks lead which table, and the proof that no near fingerprint escapes.

Fingerprints within *k* bits differ in at most *k* of the *m* blocks. A table finds them if none of those
blocks is in its key. So a list of keys is exact when, **for every set of k blocks, some key avoids all of
them**. The classic list takes every choice of *m - k* blocks, one of which is always what the *k* blocks leave over::

    m = 6, k = 3, twenty tables          the bits differ in     B     D  E
      A B C | D E F                      the table that finds   A  C  F | B  D  E
      A B D | C E F
      ...                                the key is what stands before the bar
      D E F | A B C

Other lists are as exact with fewer tables; a plan does not ask where its keys come from, it checks them.

Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3.

Plans by shape: the classic ones, and covers, which are exact with fewer tables.

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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice, pairwise
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index.values import checked_blocks, checked_distance, checked_integer

BITS = 64


@dataclass(frozen=True, slots=True)
class Block:
    """A range of neighbouring bits: *width* of them, the lowest being bit *shift*."""

    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The greatest value of the block: *width* ones."""
        return (1 << self.width) - 1

    def of(self, value: int) -> int:
        """Return the bits of *value* in this block, as a number from 0 to ``mask``."""
        return value >> self.shift & self.mask


def partition(blocks: int) -> tuple[Block, ...]:
    """Cut 64 bits into blocks as equal as can be, the most significant first, the wider ones leading.

    Raises ValueError unless *blocks* is from 1 to 64.

    >>> [block.width for block in partition(6)]
    [11, 11, 11, 11, 10, 10]
    >>> partition(6)[-1]
    Block(shift=0, width=10)
    """
    if not 1 <= blocks <= BITS:
        raise ValueError(f"blocks must be from 1 to {BITS}, got {blocks}")
    narrow, wider_ones = divmod(BITS, blocks)
    cut = []
    shift = BITS
    for number in range(blocks):
        width = narrow + (number < wider_ones)
        shift -= width
        cut.append(Block(shift, width))
    return tuple(cut)


def check_apart(blocks: Iterable[Block]) -> None:
    """Raise ValueError if a bit is in two of *blocks*, or outside the 64.

    One bit that differs would be two blocks that do, and no plan over such blocks is exact.

    >>> check_apart([Block(shift=0, width=8), Block(shift=7, width=8)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: blocks must not overlap and must lie within 64 bits, got (...)
    """
    given, end = tuple(blocks), 0
    for block in sorted(given, key=lambda block: (block.shift, block.width)):
        if block.shift < end or block.width < 0 or block.shift + block.width > BITS:
            raise ValueError(f"blocks must not overlap and must lie within {BITS} bits, got {given}")
        end = block.shift + block.width


def key_mask(blocks: tuple[Block, ...], key: Iterable[int]) -> int:
    """Return the bits of a fingerprint that are in *key*, a choice of *blocks* by number.

    >>> hex(key_mask((Block(48, 16), Block(32, 16), Block(0, 32)), (0, 2)))
    '0xffff0000ffffffff'
    """
    return sum(blocks[number].mask << blocks[number].shift for number in key)


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
    ``plans_for``, 0.1 seconds for the greatest classic ones; keys without any pattern can take as long as to try all
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


#: A search that probes more takes milliseconds whatever the size.
MAX_PROBES = 50_000


@dataclass(frozen=True, slots=True)
class ProbingPlan:
    """How far from the query each block is probed. A plan that can be made is exact.

    Give every block a *radius*: its table is probed at all keys within so many bits of the query's own. A fingerprint
    escapes only if it differs in more than the radius in **every** block, that is in at least the sum of radius + 1
    over the blocks. So *k* + 1 *units*, shared out among the blocks, are exact, if a block with *u* of them has the
    radius *u* - 1 and one with none needs no table::

        k = 10, eleven units     |    A    |    B    |    C    |    D    |
        units                         2         3         3         3
        radius                        1         2         2         2
        escapes from                  2    +    3    +    3    +    3         bits on, which is 11

    Source: Norouzi, Punjani, Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012, which has one
    radius for all blocks; the sum is the pigeonhole principle in its general form (Qin et al., "GPH: similarity
    search in Hamming space", ICDE 2018).

    A radius of -1 means no table. Raises ValueError if blocks overlap, if there is not one radius a block, if the
    plan would miss pairs, or if a search would take more than 50,000 probes.

    >>> ProbingPlan(max_distance=3, blocks=partition(2), radii=(1, 1)).probes
    66
    >>> ProbingPlan(max_distance=3, blocks=partition(2), radii=(1, 0))
    Traceback (most recent call last):
        ...
    ValueError: radii (1, 0) miss pairs that differ in 3 bits: with one added to each the sum must exceed that
    """

    max_distance: int
    blocks: tuple[Block, ...]
    radii: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse a plan that is malformed, would miss a match, or takes too long."""
        check_apart(self.blocks)
        if len(self.radii) != len(self.blocks) or min(self.radii, default=-1) < -1:
            raise ValueError(
                f"there must be a radius, -1 or more, for each of {len(self.blocks)} blocks, got {self.radii}"
            )
        if sum(radius + 1 for radius in self.radii) <= self.max_distance:
            raise ValueError(
                f"radii {self.radii} miss pairs that differ in {self.max_distance} bits: "
                "with one added to each the sum must exceed that"
            )
        if self.probes > MAX_PROBES:
            raise ValueError(
                f"max_distance {self.max_distance} with {len(self.blocks)} blocks: {self.probes:,} probes a "
                f"search are too many, the limit is {MAX_PROBES:,}"
            )

    @classmethod
    def even(cls, max_distance: SupportsIndex = 8, blocks: SupportsIndex = 5) -> ProbingPlan:
        """Return the plan that shares *max_distance* + 1 units out evenly among *blocks* blocks.

        Where the units do not come out even, or are fewer than the blocks, the blocks that get one more are
        those that make the fewest probes, and then the fewest candidates.

        Raises ValueError unless *max_distance* is from 0 to 64 and *blocks* from 1 to 64, or if a search
        would take more than 50,000 probes.

        >>> ProbingPlan.even(max_distance=10, blocks=4).radii
        (1, 2, 2, 2)
        >>> ProbingPlan.even(max_distance=1, blocks=3).radii
        (0, 0, -1)
        """
        k = checked_distance(max_distance)
        cut = partition(checked_integer("blocks", blocks))
        units, left = divmod(k + 1, len(cut))
        # Blocks have one width or two, the wider leading. The sums change by the same for each unit moved
        # from the one sort to the other, so that an end of the row is as good as any choice.
        leading = (units,) * left + (units - 1,) * (len(cut) - left)
        return cls(k, cut, min(leading[::-1], leading, key=lambda radii: _work(cut, radii)))

    @property
    def name(self) -> str:
        """What the plan is called: ``probing 4`` has four blocks that are probed."""
        return f"probing {sum(radius >= 0 for radius in self.radii)}"

    @property
    def probes(self) -> int:
        """How many keys a search looks up."""
        return _work(self.blocks, self.radii)[0]


def _work(blocks: Iterable[Block], radii: Iterable[int]) -> tuple[int, float]:
    """Return the number of probes, and the share of random fingerprints that are candidates."""
    probes, share = 0, 0.0
    for block, radius in zip(blocks, radii, strict=True):
        # The keys within the radius of one of them.
        ball = sum(comb(block.width, bits) for bits in range(radius + 1))
        probes += ball
        share += ball / (1 << block.width)
    return probes, share
