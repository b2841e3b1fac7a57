"""Expanding: store all neighbours of every fingerprint, so that one exact look-up finds them.

The mirror image of probing (``flips``): the bits are flipped when a fingerprint is stored, not when one is
sought::

    stored     0 1 1 0   -->   0 1 1 0   1 1 1 0   0 0 1 0   0 1 0 0   0 1 1 1
                                                      |
    query      0 0 1 0   ------------------------------        found, by looking once

Of 64 bits and within one of them that is 65 numbers a fingerprint, within three 43,745.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_distance, checked_expected, checked_value
from scrapy_simhash.index.alternatives.base import GrowingWay
from scrapy_simhash.index.alternatives.flips import probe_count, probes

#: What a neighbour takes at most in the dict: 48 bytes for the number, and its part of the dict, which
#: doubles when it is full. Measured: 68 to 96 bytes, and 126 while it doubles.
NEIGHBOUR_BYTES = 128
#: The memory that may be used unless the caller says otherwise: 256 MiB.
MEMORY = 256 * 2**20


def estimate(count: SupportsIndex, max_distance: SupportsIndex) -> int:
    """Return the bytes that *count* expanded fingerprints take at most.

    >>> f"{estimate(count=10_000, max_distance=1):,}", f"{estimate(count=10_000, max_distance=3):,}"
    ('83,200,000', '55,993,600,000')
    """
    return probe_count(checked_distance(max_distance)) * NEIGHBOUR_BYTES * checked_expected(count)


class ExpandedSet(GrowingWay):
    """A dict from every neighbour to the fingerprints it is near to.

    *Costs* one look-up a search, whatever the distance; 65 entries a fingerprint at distance 1 (8 KB), 2,081 at
    distance 2 (260 KB), 43,745 at distance 3 (5.6 MB).
    *The right one* for a short list asked very often, at distance 1: the error pages of a site, say.

    Raises ValueError, with the estimate, rather than to take more than *memory* bytes.

    Source: named and set aside in Manku, Jain, Das Sarma, WWW 2007, section 3.

    >>> way = ExpandedSet(max_distance=1)
    >>> way.add(0b0110)
    >>> way.find(0b0010)
    [Found(value=6, distance=1)]
    >>> way.add_many(range(1_000_000))
    Traceback (most recent call last):
        ...
    ValueError: 1,000,000 fingerprints within 1 bit take up to 8,320,000,000 bytes, the limit is 268,435,456
    """

    def __init__(self, max_distance: SupportsIndex = 1, memory: SupportsIndex = MEMORY) -> None:
        """Make an empty set that is searched up to *max_distance* bits away and takes *memory* bytes at most."""
        self.max_distance = checked_distance(max_distance)
        self._memory = checked_expected(memory)
        self._values: set[int] = set()
        # Most neighbours belong to one fingerprint, so that one is not in a list of its own.
        self._near: dict[int, int | list[int]] = {}
        self._refuse_beyond_memory(1)

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint."""
        return iter(self._values)

    def add(self, value: SupportsIndex) -> None:
        """Add *value*; see ``add_many``."""
        self.add_many((value,))

    def add_many(self, values: Iterable[SupportsIndex]) -> None:
        """Add every one of *values*, or none of them if that would take too much memory."""
        new = dict.fromkeys(map(checked_value, values))
        for value in self._values & new.keys():
            del new[value]
        self._refuse_beyond_memory(len(self) + len(new))
        self._values.update(new)
        for value in new:
            for neighbour in probes(value, self.max_distance):
                near = self._near.setdefault(neighbour, value)
                if isinstance(near, list):
                    near.append(value)
                elif near != value:
                    self._near[neighbour] = [near, value]

    def candidates(self, value: int) -> Iterable[int]:
        """Return the fingerprints within the distance. One look-up."""
        near = self._near.get(value, [])
        return near if isinstance(near, list) else (near,)

    def _refuse_beyond_memory(self, count: int) -> None:
        needed = estimate(count, self.max_distance)
        if needed > self._memory:
            raise ValueError(
                f"{count:,} fingerprint{'s' * (count != 1)} within {self.max_distance} "
                f"bit{'s' * (self.max_distance != 1)} take up to {needed:,} bytes, the limit is {self._memory:,}"
            )
