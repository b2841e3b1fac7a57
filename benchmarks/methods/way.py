"""What all ways have in common: they differ only in which fingerprints come into question, the candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable
from math import log2
from typing import NamedTuple

from scrapy_simhash.index import Plan
from scrapy_simhash.index.plans import key_mask


class Found(NamedTuple):
    """A stored fingerprint, and its Hamming distance from the query in bits."""

    value: int
    distance: int


class Way(ABC):
    """A set of fingerprints that is searched up to ``max_distance`` bits from a query."""

    max_distance: int

    @abstractmethod
    def add_many(self, values: Iterable[int]) -> None:
        """Add every one of *values*; what is there already changes nothing."""

    @abstractmethod
    def candidates(self, value: int) -> Iterable[int]:
        """Return stored fingerprints, all within the distance of *value* among them; one may come several times."""

    def find(self, value: int) -> list[Found]:
        """Return what is within ``max_distance`` of *value*, each once, by distance and then by value."""
        return nearest(value, self.candidates(value), self.max_distance)


def nearest(query: int, candidates: Iterable[int], max_distance: int) -> list[Found]:
    """Return those of *candidates* within *max_distance* bits of *query*, each once, nearest first, then smallest.

    >>> nearest(0b0000, [0b0111, 0b0010, 0b0001, 0b0010, 0b1111], max_distance=3)
    [Found(value=1, distance=1), Found(value=2, distance=1), Found(value=7, distance=3)]
    """
    found = (Found(value, (value ^ query).bit_count()) for value in set(candidates))
    return sorted((match for match in found if match.distance <= max_distance), key=lambda match: match[::-1])


def effective_bits(plan: Plan, values: Collection[int]) -> tuple[float, ...]:
    """Return of each key of *plan* the bits it is worth for *values*, distinct ones.

    That is the bits of a key in which as many random fingerprints agree: the leading bits of sorted ones are almost a
    counter only if they are spread evenly. The width of the key where no two of *values* agree in it.

    >>> effective_bits(Plan.classic(max_distance=1, blocks=2), [number << 32 for number in range(1024)])
    (32.0, 0.0)
    """
    pairs = len(values) * (len(values) - 1)
    worth = []
    for key, width in zip(plan.keys, plan.key_bits, strict=True):
        mask = key_mask(plan.blocks, key)
        alike = sum(count * (count - 1) for count in Counter(value & mask for value in values).values())
        worth.append(min(float(width), log2(pairs / alike)) if alike else float(width))
    return tuple(worth)
