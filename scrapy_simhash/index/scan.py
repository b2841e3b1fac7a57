"""The search in its plainest form: look at every fingerprint.

It is the oracle: whatever an index finds, and no more, this finds. It is also the faster one as long as there
are few fingerprints (below some hundred).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import SupportsIndex

from scrapy_simhash.index.values import (
    MAX_KEY,
    Match,
    checked_distance,
    checked_key,
    checked_postings,
    checked_value,
    cut,
    hamming_distance,
    nearest_first,
)


class LinearScan:
    """Postings in a dict, all of them compared with every query. Same methods as ``SimhashIndex``.

    >>> scan = LinearScan(max_distance=3)
    >>> scan.add(0b1111, 1)
    >>> scan.find(0b1000)
    [Match(key=1, value=15, distance=3)]
    >>> scan.find(0b0000)
    []
    """

    def __init__(self, max_distance: SupportsIndex = 3) -> None:
        """Make an empty scan that reports fingerprints up to *max_distance* bits away, 0 to 64."""
        self.max_distance = checked_distance(max_distance)
        self._keys: dict[int, set[int]] = {}
        self._size = 0
        self._next_key = 0

    def __len__(self) -> int:
        """Return the number of postings."""
        return self._size

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every posting as (value, key), in no promised order."""
        return ((value, key) for value, keys in self._keys.items() for key in keys)

    def __contains__(self, posting: tuple[SupportsIndex, SupportsIndex]) -> bool:
        """Return whether the posting (value, key) is stored."""
        value, key = posting
        return checked_key(key) in self._keys.get(checked_value(value), ())

    @property
    def nbytes(self) -> int:
        """The memory of the postings in bytes, about. O(n)."""
        sets = sum(map(sys.getsizeof, self._keys.values()))
        return sys.getsizeof(self._keys) + sets + sys.getsizeof(MAX_KEY) * (len(self._keys) + len(self))

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """Store the posting of *value* and *key*; storing it again changes nothing."""
        checked, key = checked_value(value), checked_key(key)
        keys = self._keys.setdefault(checked, set())
        self._size += key not in keys
        keys.add(key)
        self._next_key = max(self._next_key, key + 1)

    def add_many(self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None) -> None:
        """Add every posting of *values* with *keys*; see ``SimhashIndex.add_many``."""
        for value, key in zip(*checked_postings(values, keys, self._next_key), strict=True):
            self.add(value, key)

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*; see ``SimhashIndex.find``. O(n)."""
        return nearest_first(self._near(checked_value(value)))

    def nearest(self, values: Iterable[SupportsIndex], most: int) -> tuple[list[Match], list[int]]:
        """Return the *most* nearest postings of all *values*; see ``SimhashIndex.nearest``. O(n) a value."""
        found = [self._near(checked_value(value)) for value in values]
        return cut(chain.from_iterable(found), most), [len(matches) for matches in found]

    def keys_of(self, value: SupportsIndex) -> list[int]:
        """Return the keys stored with *value*; see ``SimhashIndex.keys_of``. O(1)."""
        return sorted(self._keys.get(checked_value(value), ()))

    def _near(self, asked: int) -> list[Match]:
        most = self.max_distance
        near = [stored for stored in self._keys if (asked ^ stored).bit_count() <= most]
        return [
            Match(key, stored, hamming_distance(asked, stored))
            for stored in near
            for key in self._keys[stored]
        ]

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return what ``find`` returns; if that is nothing, add the posting. O(n)."""
        key = checked_key(key)
        matches = self.find(value)
        if not matches:
            self.add(value, key)
        return matches

    def find_or_add_many(
        self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None
    ) -> array[int]:
        """Do ``find_or_add`` for every value in order; see ``SimhashIndex.find_or_add_many``."""
        nearest = array("q")
        numbers = checked_postings(values, keys, self._next_key)
        for value, key in zip(*numbers, strict=True):
            matches = self.find_or_add(value, key)
            nearest.append(matches[0].key if matches else -1)
        if keys is None and nearest:
            self._next_key = max(self._next_key, numbers[1][-1] + 1)
        return nearest

    def find_many(self, values: Iterable[SupportsIndex]) -> Iterator[list[Match]]:
        """Yield what ``find`` returns for every value, in order."""
        return map(self.find, checked_postings(values, None, 0)[0])

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Take the posting out and return whether it was there."""
        checked, key = checked_value(value), checked_key(key)
        if (checked, key) not in self:
            return False
        self._keys[checked].remove(key)
        self._size -= 1
        if not self._keys[checked]:
            del self._keys[checked]
        return True
