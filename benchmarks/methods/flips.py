"""Methods that flip bits: of the query, or of the stored fingerprints.

::

    query   0110   -->  0110  1110  0010  0100  0111       FlipProbing: looks up each of these in a set
    stored  0110   -->  0110  1110  0010  0100  0111       ExpandedSet: stores all of these, and looks up the query

Within three of 64 bits, there are 43,745 numbers. Source: both are mentioned and rejected in Manku, Jain, Das Sarma,
"Detecting near-duplicates for web crawling", WWW 2007, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb

from benchmarks.methods.method import Method

#: Max bytes per neighbour in a dict, and default of max bytes in total.
NEIGHBOUR_BYTES, MEMORY = 128, 256 * 2**20


def probes(value: int, max_distance: int, bits: Iterable[int] = range(64)) -> Iterator[int]:
    """Yield every number that differs from *value* in at most *max_distance* of *bits*, nearest first.

    >>> list(probes(0b000, max_distance=2, bits=(0, 1, 2)))
    [0, 1, 2, 4, 3, 5, 6]
    """
    masks = [1 << bit for bit in bits]
    for differing in range(max_distance + 1):
        for flipped in combinations(masks, differing):
            yield value ^ sum(flipped)


class FlipProbing(Method):
    """A set: a search within three bits takes 43,745 look-ups, for any number of fingerprints.

    >>> method = FlipProbing(max_distance=3)
    >>> method.add_many([0b0111, 0b1111])
    >>> method.find(0b0000)
    [Found(value=7, distance=3)]
    """

    def __init__(self, max_distance: int) -> None:
        self.max_distance = max_distance
        self._values: set[int] = set()

    def add_many(self, values: Iterable[int]) -> None:
        """Add *values*. O(1) each."""
        self._values.update(values)

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints within the distance, nearest first."""
        return (probe for probe in probes(value, self.max_distance) if probe in self._values)


class ExpandedSet(Method):
    """A dict from every neighbour to its near fingerprints: one look-up per search, up to 5.6 MB per fingerprint.

    Raises ValueError, with the estimate, instead of taking more than *memory* bytes.

    >>> method = ExpandedSet(max_distance=1)
    >>> method.add_many(range(1_000_000))
    Traceback (most recent call last):
        ...
    ValueError: 1,000,000 fingerprints within 1 bits take up to 8,320,000,000 bytes, the limit is 268,435,456
    """

    def __init__(self, max_distance: int, memory: int = MEMORY) -> None:
        self.max_distance = max_distance
        self._memory = memory
        self._values: set[int] = set()
        self._near: dict[int, list[int]] = {}

    def add_many(self, values: Iterable[int]) -> None:
        """Add all *values*, or none if they would take too much memory."""
        new = set(values) - self._values
        count = len(self._values) + len(new)
        needed = count * NEIGHBOUR_BYTES * sum(comb(64, bits) for bits in range(self.max_distance + 1))
        if needed > self._memory:
            raise ValueError(
                f"{count:,} fingerprints within {self.max_distance} bits take up to {needed:,} bytes, "
                f"the limit is {self._memory:,}"
            )
        self._values |= new
        for value in new:
            for neighbour in probes(value, self.max_distance):
                self._near.setdefault(neighbour, []).append(value)

    def candidates(self, value: int) -> Iterable[int]:
        """Return the fingerprints within the distance."""
        return self._near.get(value, ())
