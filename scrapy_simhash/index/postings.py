"""What an index stores, whatever way it searches: fingerprints by slot, and the keys of each."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import SupportsIndex

from scrapy_simhash.index._arguments import (
    MAX_KEY,
    checked_key,
    checked_postings,
    checked_value,
)
from scrapy_simhash.index.address import ADDRESS_MASK, SCATTER, SLOT_LIMIT
from scrapy_simhash.index.match import Match, nearest_first
from scrapy_simhash.index.table import Table

#: From so many new fingerprints on, an index is told of all at once.
BATCH = 64


class Postings(ABC):
    """Postings (value, key), and all an index does with them but search: the base of every index.

    A *slot* numbers each distinct value. An index says how a value enters its tables and leaves them, and
    how it finds near ones there, by slot.
    """

    __slots__ = ("_by_value", "_first_keys", "_free", "_further_keys", "_length", "_next_key", "_values")

    def __init__(self, by_value: Table) -> None:
        """Begin with no postings. *by_value* is a table of the index that has every value."""
        self._by_value = by_value
        # By slot: the value, its first key, and the further ones.
        self._values = array("Q")
        self._first_keys = array("Q")
        self._further_keys: dict[int, set[int]] = {}
        self._free: list[int] = []
        self._length = 0
        self._next_key = 0

    @property
    @abstractmethod
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""

    @property
    def nbytes(self) -> int:
        """The memory of the values and their keys in bytes, with the room they keep for growth."""
        keys = sum(
            sys.getsizeof(keys) + len(keys) * sys.getsizeof(MAX_KEY) for keys in self._further_keys.values()
        )
        slots = (self._values, self._first_keys, self._further_keys, self._free)
        return keys + sum(map(sys.getsizeof, slots))

    def __len__(self) -> int:
        """Return the number of postings. O(1)."""
        return self._length

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield every posting as (value, key), in no promised order. The index must not change meanwhile."""
        free = set(self._free)
        for slot, (value, key) in enumerate(zip(self._values, self._first_keys, strict=True)):
            if slot not in free:
                yield value, key
                for further in self._further_keys.get(slot, ()):
                    yield value, further

    def __contains__(self, posting: tuple[SupportsIndex, SupportsIndex]) -> bool:
        """Return whether the posting (value, key) is stored.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> (5, 1) in index, (5, 2) in index
        (True, False)
        """
        value, key = checked_value(posting[0]), checked_key(posting[1])
        slot = self._slot_of(value)
        return slot is not None and self._has(slot, key)

    def add(self, value: SupportsIndex, key: SupportsIndex) -> None:
        """Store the posting of *value* and *key*; storing it again changes nothing.

        O(tables * log n); one table is enough when the value is there already.
        """
        self._add(checked_value(value), checked_key(key))

    def add_many(self, values: Iterable[SupportsIndex], keys: Iterable[SupportsIndex] | None = None) -> None:
        """Add every posting of *values* with *keys*, as ``add`` would one by one, but faster.

        Where *keys* is None the values are numbered on: from one more than the greatest key ever added, or
        from 0. All arguments are checked first, so that a wrong one adds nothing; ValueError also if there
        are not as many keys as values. Half the time of ``add`` when the batch is the greater part of the
        index; takes some 160 bytes a value while it works.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add_many([2**20, 2**40])
        >>> sorted(index)
        [(1048576, 0), (1099511627776, 1)]
        """
        fingerprints, numbers = checked_postings(values, keys, self._next_key)
        if len(fingerprints) < BATCH:
            for value, key in zip(fingerprints, numbers, strict=True):
                self._add(value, key)
            return
        held = len(self._values) - len(self._free)
        new: dict[int, int] = {}
        for value, key in zip(fingerprints, numbers, strict=True):
            slot = new.get(value)
            if slot is None and held:
                slot = self._slot_of(value)
            if slot is None:
                new[value] = self._new_slot(value, key)
            else:
                self._add_key(slot, key)
        if new:
            values_of_new, slots = array("Q", new.keys()), array("Q", new.values())
            del new  # the largest thing here, and needed no more
            self._enter_many(values_of_new, slots, held)

    @abstractmethod
    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """

    @abstractmethod
    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return what ``find`` returns; if that is nothing, add the posting."""

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Take the posting out and return whether it was there.

        The memory is used again by what is added later; the tables do not shrink.

        >>> from scrapy_simhash.index import SimhashIndex
        >>> index = SimhashIndex()
        >>> index.add(5, key=1)
        >>> index.discard(5, key=1), index.discard(5, key=1), len(index)
        (True, False, 0)
        """
        value, key = checked_value(value), checked_key(key)
        slot = self._slot_of(value)
        if slot is None or not self._has(slot, key):
            return False
        self._length -= 1
        further = self._further_keys.get(slot)
        if further is None:
            self._leave(value, slot)
            self._free.append(slot)
            return True
        if key == self._first_keys[slot]:
            self._first_keys[slot] = further.pop()
        else:
            further.remove(key)
        if not further:
            del self._further_keys[slot]
        return True

    @abstractmethod
    def _enter(self, value: int, slot: int) -> None:
        """Put a new value into every table."""

    @abstractmethod
    def _enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        """Put new values into every table, which have *held* so far. Both arrays have type ``Q``."""

    @abstractmethod
    def _leave(self, value: int, slot: int) -> None:
        """Take a value out of every table."""

    def _add(self, value: int, key: int) -> None:
        slot = self._slot_of(value)
        if slot is None:
            self._enter(value, self._new_slot(value, key))
        else:
            self._add_key(slot, key)

    def _slot_of(self, value: int) -> int | None:
        """Return the slot of *value*, or None. One table knows: equal values have equal addresses in it."""
        table = self._by_value
        address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
        leaf = table.directory[address >> table.shift]
        place = bisect_left(leaf, address)
        while (slot := leaf[place] ^ address) < SLOT_LIMIT:
            if self._values[slot] == value:
                return slot
            place += 1
        return None

    def _new_slot(self, value: int, key: int) -> int:
        self._length += 1
        self._next_key = max(self._next_key, key + 1)
        if self._free:
            slot = self._free.pop()
            self._values[slot] = value
            self._first_keys[slot] = key
        else:
            slot = len(self._values)
            self._values.append(value)
            self._first_keys.append(key)
        return slot

    def _add_key(self, slot: int, key: int) -> None:
        if not self._has(slot, key):
            self._length += 1
            self._next_key = max(self._next_key, key + 1)
            self._further_keys.setdefault(slot, set()).add(key)

    def _has(self, slot: int, key: int) -> bool:
        return key == self._first_keys[slot] or key in self._further_keys.get(slot, ())

    def _matches(self, near: dict[int, int]) -> list[Match]:
        """Return the matches of slots *near*, a dict from slot to distance."""
        matches = []
        for slot, distance in near.items():
            value = self._values[slot]
            matches.append(Match(self._first_keys[slot], value, distance))
            matches += [Match(key, value, distance) for key in self._further_keys.get(slot, ())]
        return nearest_first(matches) if len(matches) > 1 else matches

    def _checked_slots(self) -> list[int]:
        """Assert what must hold between two calls, and return the slots in use. For tests: O(everything)."""
        free = set(self._free)
        slots = [slot for slot in range(len(self._values)) if slot not in free]
        assert len(free) == len(self._free)
        assert len(self._first_keys) == len(self._values)
        assert len({self._values[slot] for slot in slots}) == len(slots), "a value has one slot"
        further = self._further_keys
        assert all(further.values())
        assert not free & further.keys()
        assert not any(self._first_keys[slot] in keys for slot, keys in further.items())
        assert self._length == len(slots) + sum(map(len, further.values()))
        assert all(self._slot_of(self._values[slot]) == slot for slot in slots)
        return slots
