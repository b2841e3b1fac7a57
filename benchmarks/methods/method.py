"""Shared code of all methods, which differ only in their candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable
from math import log2
from typing import NamedTuple

from scrapy_simhash.index.plans import classic, partition


class Plan(NamedTuple):
    """The keys of an exact list of tables for a distance, as masks of their bits."""

    max_distance: int
    masks: tuple[int, ...]

    @classmethod
    def classic(cls, max_distance: int, blocks: int) -> Plan:
        """Return the plan of Manku et al."""
        return cls(max_distance, tuple(mask for mask, _ in classic(max_distance, blocks)))


def nested() -> Plan:
    """Return the plan of 16 tables with 28-bit keys for a distance of 3: one of four blocks, and one of four parts.

    One of four blocks of 16 bits agrees. The other 48 bits are split into four parts of 12, of which one also agrees.
    The agreeing block and the agreeing part consist of whole blocks if the fingerprint is split into 16 blocks of
    four bits::

        |  0   1   2   3 |  4   5   6   7 |  8   9  10  11 | 12  13  14  15 |
        |                |      the block |                |                |   4 5 6 7, and
          1st part   | 2nd                    part | 3rd part  |   4th part     0 1 2, 3 8 9, 10 11 12, or 13 14 15

    Source: Manku, Jain, Das Sarma 2007, section 3.

    >>> [mask.bit_count() for mask in nested().masks] == [28] * 16
    True
    """
    cut, masks = partition(16), []
    for first in range(0, 16, 4):
        block, others = cut[first : first + 4], cut[:first] + cut[first + 4 :]
        masks += [sum(block + others[part : part + 3]) for part in range(0, 12, 3)]
    return Plan(3, tuple(masks))


class Found(NamedTuple):
    """A stored fingerprint, and its Hamming distance from the query in bits."""

    value: int
    distance: int


class Method(ABC):
    """A set of fingerprints, searched within ``max_distance`` bits of a query."""

    max_distance: int

    @abstractmethod
    def add_many(self, values: Iterable[int]) -> None:
        """Add *values*; those already stored change nothing."""

    @abstractmethod
    def candidates(self, value: int) -> Iterable[int]:
        """Return stored fingerprints, including all within the distance of *value*; some may be repeated."""

    def find(self, value: int) -> list[Found]:
        """Return the fingerprints within ``max_distance`` of *value*, each once, by distance and then by value."""
        return nearest(value, self.candidates(value), self.max_distance)


def nearest(query: int, candidates: Iterable[int], max_distance: int) -> list[Found]:
    """Return those of *candidates* within *max_distance* bits of *query*, each once, nearest first, then by value.

    >>> nearest(0b0000, [0b0111, 0b0010, 0b0001, 0b0010, 0b1111], max_distance=3)
    [Found(value=1, distance=1), Found(value=2, distance=1), Found(value=7, distance=3)]
    """
    found = (Found(value, (value ^ query).bit_count()) for value in set(candidates))
    return sorted((match for match in found if match.distance <= max_distance), key=lambda match: match[::-1])


def effective_bits(plan: Plan, values: Collection[int]) -> tuple[float, ...]:
    """Return, for each key of *plan*, its effective number of bits for distinct *values*.

    The result is the width of a key in which as many random fingerprints would agree as *values* do; less than the
    real width if *values* are not uniform. The result is the real width if no two of *values* agree.

    >>> effective_bits(Plan.classic(max_distance=1, blocks=2), [number << 32 for number in range(1024)])
    (32.0, 0.0)
    """
    pairs = len(values) * (len(values) - 1)
    worth = []
    for mask in plan.masks:
        width = mask.bit_count()
        alike = sum(count * (count - 1) for count in Counter(value & mask for value in values).values())
        worth.append(min(float(width), log2(pairs / alike)) if alike else float(width))
    return tuple(worth)
