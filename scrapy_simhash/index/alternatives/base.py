"""What all ways have in common: they hold a set of distinct fingerprints and find those near a query.

A way says which fingerprints come into question, its *candidates*; that is all in which it differs from
another. The comparison of all 64 bits and the order of the answer are written here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple, SupportsIndex

from scrapy_simhash.index._arguments import checked_value


class Found(NamedTuple):
    """A fingerprint within the distance asked for."""

    #: The fingerprint as stored.
    value: int
    #: Its Hamming distance from the query, in bits.
    distance: int


class Way(ABC):
    """A set of fingerprints that can be searched. No keys: a dict from fingerprint to documents stands beside it.

    ``len`` is the number of fingerprints; to iterate yields each once, in no promised order.
    """

    #: The greatest distance of what is found, in bits.
    max_distance: int

    @abstractmethod
    def candidates(self, value: int) -> Iterable[int]:
        """Return stored fingerprints, all that are within the distance of *value* among them.

        There may be others, and one may come several times. *value* is not checked.
        """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[int]: ...

    def find(self, value: SupportsIndex) -> list[Found]:
        """Return what is within ``max_distance`` of *value*, each once, by distance and then by value.

        Raises TypeError if *value* is no integer, ValueError if it does not fit 64 bits.
        """
        query = checked_value(value)
        return nearest(query, self.candidates(query), self.max_distance)


class GrowingWay(Way):
    """A way to which fingerprints can be added."""

    @abstractmethod
    def add(self, value: SupportsIndex) -> None:
        """Add *value*; adding it again changes nothing. Raises as ``find`` does."""

    def add_many(self, values: Iterable[SupportsIndex]) -> None:
        """Add every one of *values*, in any order; the same as adding each."""
        for value in values:
            self.add(value)


def nearest(query: int, candidates: Iterable[int], max_distance: int) -> list[Found]:
    """Return those of *candidates* within *max_distance* bits of *query*, each once, nearest first.

    Equally near ones are in the order of their values.

    >>> nearest(0b0000, [0b0111, 0b0010, 0b0001, 0b0010, 0b1111], max_distance=3)
    [Found(value=1, distance=1), Found(value=2, distance=1), Found(value=7, distance=3)]
    """
    distances = {candidate: (candidate ^ query).bit_count() for candidate in candidates}
    near = (Found(value, distance) for value, distance in distances.items() if distance <= max_distance)
    return sorted(near, key=lambda found: (found.distance, found.value))
