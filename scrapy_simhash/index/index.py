"""The exact Hamming search: every fingerprint within a distance, without looking at them all."""

from __future__ import annotations

import sys
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
from scrapy_simhash.index.address import ADDRESS_MASK, SCATTER, SLOT_LIMIT, Lanes, address_of, key_mask
from scrapy_simhash.index.match import Match, nearest_first
from scrapy_simhash.index.plan import Plan
from scrapy_simhash.index.table import LEAF_SIZE, Table

#: From so many new fingerprints on, working out all addresses at once pays.
BATCH = 64


class SimhashIndex:
    """Postings (value, key), searched by Hamming distance. Finds exactly what ``LinearScan`` finds.

    A *value* is a fingerprint, 0 to 2**64 - 1; a *key* is the caller's number for a document, 0 to 2**63 - 1.
    Several keys may have one value, which the tables hold once; the same posting twice is stored once.
    Integers of numpy are taken, bools are not; every method raises TypeError or ValueError for what is
    neither.

    A search probes every table for the fingerprints that agree in that table's key and compares those with
    all 64 bits: O(tables * log n), and 0.2 microseconds a candidate. Random fingerprints are candidates once
    in 2**32 for each table of 32 key bits; those that agree in a whole key all are, and cost a scan of them.

    Not thread-safe: one thread at a time. No method yields to others (there is no ``await``), so that a
    look-up and its insert are one step for an event loop.

    >>> index = SimhashIndex(max_distance=3, blocks=6)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB62FB9C29C9B5)
    [Match(key=1, value=5456993838078482869, distance=3)]
    >>> index.find(0)
    []
    """

    __slots__ = (
        "_first_keys",
        "_free",
        "_further_keys",
        "_length",
        "_next_key",
        "_plan",
        "_tables",
        "_values",
    )

    def __init__(self, max_distance: SupportsIndex = 3, blocks: SupportsIndex = 6) -> None:
        """Make an empty index over the classic plan of ``comb(blocks, max_distance)`` tables.

        Few blocks make few tables but short keys, which have more candidates. For a distance of 3, in
        microseconds a search and bytes a fingerprint (random ones; see ``benchmarks/index.py``):

        ======  ======  =========  ==========  ========  =====
        blocks  tables  10,000     100,000     million   bytes
        ======  ======  =========  ==========  ========  =====
        4       4       2          4           15        52
        6       20      9          14          24        195
        ======  ======  =========  ==========  ========  =====

        Raises ValueError unless 0 <= *max_distance* < *blocks* <= 64, or if there would be more than 1,000
        tables.
        """
        self._set_up(Plan.classic(max_distance, blocks), LEAF_SIZE)

    @classmethod
    def from_plan(cls, plan: Plan) -> SimhashIndex:
        """Return an empty index over the tables of *plan*, whatever they are.

        >>> from scrapy_simhash.index.blocks import partition
        >>> two_triangles = ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))
        >>> len(SimhashIndex.from_plan(Plan(3, partition(6), two_triangles)))
        0
        """
        return cls._over(plan, LEAF_SIZE)

    @classmethod
    def _over(cls, plan: Plan, leaf_size: int) -> SimhashIndex:
        index = cls.__new__(cls)
        index._set_up(plan, leaf_size)
        return index

    def _set_up(self, plan: Plan, leaf_size: int) -> None:
        self._plan = plan
        self._tables = [Table(key_mask(plan.blocks, key), leaf_size) for key in plan.keys]
        # By slot, which numbers the distinct values: the value, its first key, and the further ones.
        self._values = array("Q")
        self._first_keys = array("Q")
        self._further_keys: dict[int, set[int]] = {}
        self._free: list[int] = []
        self._length = 0
        self._next_key = 0

    @property
    def plan(self) -> Plan:
        """The plan the tables follow."""
        return self._plan

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._plan.max_distance

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes: tables, values, keys, and the room they keep for growth.

        O(leaves), 30 ms for a million fingerprints in 20 tables: ask for it now and then, not for every page.
        What the allocator adds to each block (up to 16 bytes in some 1,000) is not in it.
        """
        keys = sum(
            sys.getsizeof(keys) + len(keys) * sys.getsizeof(MAX_KEY) for keys in self._further_keys.values()
        )
        slots = (self._values, self._first_keys, self._further_keys, self._free)
        return keys + sum(map(sys.getsizeof, slots)) + sum(table.nbytes for table in self._tables)

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
            lanes = Lanes(values_of_new, slots)
            for table in self._tables:
                table.extend(lanes.entries(table.key_mask), held)

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """
        # The loop of find_or_add without the places, which would cost a search that adds nothing a tenth.
        value = checked_value(value)
        max_distance, values = self._plan.max_distance, self._values
        near: dict[int, int] = {}
        for table in self._tables:
            address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
            leaf = table.directory[address >> table.shift]
            place = bisect_left(leaf, address)
            # Where the addresses are equal what differs is the slot; else something above it differs.
            while (slot := leaf[place] ^ address) < SLOT_LIMIT:
                if (distance := (values[slot] ^ value).bit_count()) <= max_distance:
                    near[slot] = distance
                place += 1
        return self._matches(near) if near else []

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return what ``find`` returns; if that is nothing, add the posting.

        One pass: the insert uses the places the search has found.

        >>> index = SimhashIndex()
        >>> index.find_or_add(0b0011, key=1)
        []
        >>> index.find_or_add(0b0111, key=2)
        [Match(key=1, value=3, distance=1)]
        >>> len(index)
        1
        """
        value, key = checked_value(value), checked_key(key)
        max_distance, values = self._plan.max_distance, self._values
        near: dict[int, int] = {}
        places = []
        for table in self._tables:
            address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
            leaf = table.directory[address >> table.shift]
            place = bisect_left(leaf, address)
            while (slot := leaf[place] ^ address) < SLOT_LIMIT:
                if (distance := (values[slot] ^ value).bit_count()) <= max_distance:
                    near[slot] = distance
                place += 1
            places.append((table, leaf, place, address))
        if near:
            return self._matches(near)
        slot = self._new_slot(value, key)
        for table, leaf, place, address in places:
            leaf.insert(place, address | slot)
            if len(leaf) > table.leaf_size:
                table.split(leaf, address)
        return []

    def discard(self, value: SupportsIndex, key: SupportsIndex) -> bool:
        """Take the posting out and return whether it was there.

        The memory is used again by what is added later; the tables do not shrink.

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
            for table in self._tables:
                table.remove(address_of(value, table.key_mask) | slot)
            self._free.append(slot)
            return True
        if key == self._first_keys[slot]:
            self._first_keys[slot] = further.pop()
        else:
            further.remove(key)
        if not further:
            del self._further_keys[slot]
        return True

    def _add(self, value: int, key: int) -> None:
        slot = self._slot_of(value)
        if slot is not None:
            self._add_key(slot, key)
            return
        slot = self._new_slot(value, key)
        for table in self._tables:
            address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
            leaf = table.directory[address >> table.shift]
            leaf.insert(bisect_left(leaf, address), address | slot)
            if len(leaf) > table.leaf_size:
                table.split(leaf, address)

    def _slot_of(self, value: int) -> int | None:
        """Return the slot of *value*, or None. The first table knows: equal values have equal keys."""
        table = self._tables[0]
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

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
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
        for table in self._tables:
            table._check()
            entries = sorted(entry for leaf in table.leaves() for entry in leaf[:-1])
            assert entries == sorted(address_of(self._values[slot], table.key_mask) | slot for slot in slots)
