"""Sample: so many of what comes, whatever number that is, and the same ones each time."""

from __future__ import annotations

from collections.abc import ValuesView
from heapq import heappush, heappushpop
from typing import Generic, TypeVar

from scrapy_simhash.page.fingerprint.fold import number

V = TypeVar("V")


class Sample(Generic[V]):
    """At most *most* values with different keys: those of the keys with the smallest hashes, in any order they come.

    >>> sample = Sample(2)
    >>> for letter in "abcab":
    ...     sample.add(letter, letter.upper())
    >>> sorted(sample.values()), sample.seen
    (['B', 'C'], 5)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, V] = {}
        #: The largest hash first.
        self._heap: list[tuple[int, str]] = []
        #: How many values came.
        self.seen = 0
        #: Whether there were more keys than are kept.
        self.is_part = False

    def __len__(self) -> int:
        return len(self._values)

    def add(self, key: str, value: V) -> None:
        """Take *value*, in the place of an earlier one with that *key*, if it is one of the sample. O(log most)."""
        self.seen += 1
        if key in self._values:
            self._values[key] = value
            return
        entry = (-number(key), key)
        if len(self._heap) < self._most:
            heappush(self._heap, entry)
            self._values[key] = value
            return
        self.is_part = True
        gone = heappushpop(self._heap, entry)
        if gone != entry:
            del self._values[gone[1]]
            self._values[key] = value

    def values(self) -> ValuesView[V]:
        """Return the values of the sample."""
        return self._values.values()
