"""Probing: flip bits of the query and look each result up in the set.

::

    query      0 1 1 0       itself                        1 probe
               _
               1 1 1 0       one bit flipped              64 probes
                 _
               0 0 1 0
               ...
               _ _
               1 0 1 0       two bits flipped          2,016 probes
               ...                                    41,664 with three

Nothing but the set is stored, and a probe is one look in a hash table. But of the probes of a search all but a
few are in vain, and there are 43,745 within three bits, however few fingerprints there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_distance, checked_integer, checked_value
from scrapy_simhash.index.alternatives.base import Found, GrowingWay
from scrapy_simhash.index.plans.blocks import BITS

#: More probes than this take seconds: distance 5 has 8,303,633 of them, distance 6 has 83,278,001.
MAX_PROBES = 10_000_000


def probes(value: int, max_distance: int, bits: Iterable[int] = range(BITS)) -> Iterator[int]:
    """Yield every number that differs from *value* in at most *max_distance* of *bits*, the nearest first.

    Of those equally near, the ones that differ in the first *bits* come first.

    >>> list(probes(0b000, max_distance=2, bits=(0, 1, 2)))
    [0, 1, 2, 4, 3, 5, 6]
    """
    masks = [1 << bit for bit in bits]
    for differing in range(min(max_distance, len(masks)) + 1):
        for flipped in combinations(masks, differing):
            yield value ^ sum(flipped)


def probe_count(max_distance: int) -> int:
    """Return how many numbers of 64 bits are within *max_distance* of any one.

    >>> [probe_count(max_distance) for max_distance in (1, 2, 3)]
    [65, 2081, 43745]
    """
    return sum(comb(BITS, differing) for differing in range(max_distance + 1))


class FlipProbing(GrowingWay):
    """A plain set, searched by probing.

    *Costs* one look-up a probe, 43,745 at distance 3, whatever the number of fingerprints; some 80 bytes a
    fingerprint. Measured: 6 milliseconds a search, 0.3 at distance 2, 0.016 at distance 1.
    *The right one* for distances 0 and 1 (1 and 65 probes), where nothing is simpler; or where only a set can be
    asked, in a database say. Raises ValueError where a search would take more than ten million probes: beyond
    distance 5.

    Source: named and set aside in Manku, Jain, Das Sarma, WWW 2007, section 3; the order of the bits after Sood
    and Loguinov, "Probabilistic near-duplicate detection using simhash", CIKM 2011.

    >>> way = FlipProbing(max_distance=3)
    >>> way.probes
    43745
    >>> way.add_many([0b0111, 0b1111])
    >>> way.find(0b0000)
    [Found(value=7, distance=3)]
    """

    def __init__(self, max_distance: SupportsIndex = 3) -> None:
        """Make an empty set that is searched up to *max_distance* bits away, 0 to 5."""
        self.max_distance = checked_distance(max_distance)
        #: How many look-ups a full search takes.
        self.probes = probe_count(self.max_distance)
        if self.probes > MAX_PROBES:
            raise ValueError(
                f"max_distance {self.max_distance} takes {self.probes:,} probes, the limit is {MAX_PROBES:,}"
            )
        self._values: set[int] = set()

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint."""
        return iter(self._values)

    def add(self, value: SupportsIndex) -> None:
        """Add *value*. O(1)."""
        self._values.add(checked_value(value))

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints within the distance, the nearest first. One look-up a probe."""
        return (probe for probe in probes(value, self.max_distance) if probe in self._values)

    def nearest_first(
        self, value: SupportsIndex, likely_bits: Iterable[SupportsIndex] = range(BITS)
    ) -> Iterator[Found]:
        """Yield what ``find`` returns, one by one as it comes up; whoever has enough stops the search.

        *likely_bits* are the 64 bits in the order in which they are likely to differ: those on which the features
        of the page hardly agreed. With them in front, a match comes up sooner. Equally near ones are in the order
        of probing, not of value. Raises ValueError if it is not each bit once.

        >>> way = FlipProbing(max_distance=3)
        >>> way.add_many([0b0011, 0b0100])
        >>> next(way.nearest_first(0), None)
        Found(value=4, distance=1)
        """
        query, bits = checked_value(value), [checked_integer("likely_bits", bit) for bit in likely_bits]
        if sorted(bits) != list(range(BITS)):
            raise ValueError(f"likely_bits must be the numbers 0 to 63, each once, got {bits}")
        return (
            Found(probe, (probe ^ query).bit_count())
            for probe in probes(query, self.max_distance, bits)
            if probe in self._values
        )
