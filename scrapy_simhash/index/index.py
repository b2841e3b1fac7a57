"""The exact Hamming search: every fingerprint within a distance, without looking at them all."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_key, checked_value
from scrapy_simhash.index.address import ADDRESS_MASK, SCATTER, SLOT_LIMIT, Lanes, address_of, key_mask
from scrapy_simhash.index.match import Match
from scrapy_simhash.index.plan import Plan
from scrapy_simhash.index.postings import Postings
from scrapy_simhash.index.table import LEAF_SIZE, Table


class SimhashIndex(Postings):
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

    __slots__ = ("_plan", "_tables")

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
        super().__init__(by_value=self._tables[0])

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
        return super().nbytes + sum(table.nbytes for table in self._tables)

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

    def _enter(self, value: int, slot: int) -> None:
        for table in self._tables:
            address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
            leaf = table.directory[address >> table.shift]
            leaf.insert(bisect_left(leaf, address), address | slot)
            if len(leaf) > table.leaf_size:
                table.split(leaf, address)

    def _enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        lanes = Lanes(values, slots)
        for table in self._tables:
            table.extend(lanes.entries(table.key_mask), held)

    def _leave(self, value: int, slot: int) -> None:
        for table in self._tables:
            table.remove(address_of(value, table.key_mask) | slot)

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        slots = self._checked_slots()
        for table in self._tables:
            table._check()
            entries = sorted(entry for leaf in table.leaves() for entry in leaf[:-1])
            assert entries == sorted(address_of(self._values[slot], table.key_mask) | slot for slot in slots)
