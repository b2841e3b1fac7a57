"""The exact Hamming search for wide distances, where ``SimhashIndex`` would need too many tables."""

from __future__ import annotations

from array import array
from typing import SupportsIndex

from scrapy_simhash.index._arguments import MAX_VALUE, checked_key, checked_value
from scrapy_simhash.index.address import Lanes, address_of
from scrapy_simhash.index.cells import Cell, CellTable
from scrapy_simhash.index.distance import hamming_distance
from scrapy_simhash.index.match import Match
from scrapy_simhash.index.postings import Postings
from scrapy_simhash.index.probing_plan import ProbingPlan, blocks_for
from scrapy_simhash.index.table import Table


class ProbingIndex(Postings):
    """Postings (value, key), searched by Hamming distance. Same methods and matches as ``SimhashIndex``.

    One table for each block of the fingerprint, probed at all keys near the query's; see ``probing_plan``.
    What the probes return is compared with all 64 bits. O(probes + candidates); fingerprints that agree in
    most of a block are candidates of each other, and cost a scan of them.

    >>> index = ProbingIndex(max_distance=10, blocks=4)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b1111111111)
    [Match(key=1, value=5456993838078482869, distance=10)]
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b11111111111)
    []
    """

    __slots__ = ("_plan", "_slots", "_tables")

    def __init__(self, max_distance: SupportsIndex = 10, blocks: SupportsIndex = 4) -> None:
        """Make an empty index over the even plan of *blocks* blocks.

        Few blocks make wide ones: more probes, fewer candidates, which only great indexes have many of.
        ``blocks_for`` weighs the one against the other. Probes and candidates by ``cost``, microseconds a
        search and bytes a fingerprint as measured (random ones; see ``benchmarks/index.py``):

        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====
        ..                        candidates                microseconds              bytes
        ------------------------  ------------------------  ------------------------  -----
        distance  blocks  probes  10,000  100,000  million  10,000  100,000  million  ..
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====
        8         3       718     3       28       282      52      133      268      326
        8         4       188     29      287      2,869    18      56       229      68
        8         5       56      84      842      8,423    13      61       467      70
        10        3       3,378   16      155      1,550    233     453      1,223    327
        10        4       428     65      653      6,531    35      128      532      68
        10        5       135     261     2,612    26,123   28      171      1,454    70
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====

        Bytes are for a million; cells weigh more when few share one (390 with 10,000 in four blocks, where
        2 megabytes are for the cells as such). Three blocks or fewer keep their cells in dicts, which stop
        now and then to double: 40 milliseconds at a million. The blocks cannot change later: make another
        index and add to it what this one yields.

        Raises ValueError unless *max_distance* is from 0 to 64 and *blocks* from 1 to 64, or if a search
        would take more than 50,000 probes.
        """
        self._set_up(ProbingPlan.even(max_distance, blocks))

    @classmethod
    def from_plan(cls, plan: ProbingPlan) -> ProbingIndex:
        """Return an empty index with the radii of *plan*, whatever they are.

        >>> from scrapy_simhash.index.blocks import partition
        >>> len(ProbingIndex.from_plan(ProbingPlan(3, partition(3), (1, 0, 0))))
        0
        """
        index = cls.__new__(cls)
        index._set_up(plan)
        return index

    @staticmethod
    def blocks_for(max_distance: SupportsIndex, expected: SupportsIndex) -> int:
        """Return how many blocks make a search of *expected* fingerprints the fastest.

        >>> ProbingIndex.blocks_for(max_distance=10, expected=100_000)
        4
        """
        return blocks_for(max_distance, expected)

    def _set_up(self, plan: ProbingPlan) -> None:
        self._plan = plan
        self._tables = [
            CellTable(block, radius)
            for block, radius in zip(plan.blocks, plan.radii, strict=True)
            if radius >= 0
        ]
        # Cells hold values, not slots (see ``cells``); the few that are near are looked up here.
        self._slots = Table(key_mask=MAX_VALUE)
        super().__init__(by_value=self._slots)

    @property
    def plan(self) -> ProbingPlan:
        """The plan the tables follow."""
        return self._plan

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._plan.max_distance

    @property
    def nbytes(self) -> int:
        """The memory of the index in bytes: tables, values, keys, and the room they keep for growth.

        O(cells); what the allocator adds to each cell (up to 15 bytes) is not in it.
        """
        return super().nbytes + self._slots.nbytes + sum(table.nbytes for table in self._tables)

    def find(self, value: SupportsIndex) -> list[Match]:
        """Return the keys within ``max_distance`` of *value*, nearest first, then by key.

        A key is returned once, with the nearest of its values. An empty list if there is none.
        """
        value = checked_value(value)
        max_distance = self._plan.max_distance
        cells: list[Cell] = []
        for table in self._tables:
            cells += table.probe(value)
        candidates = array("Q", b"".join(cells))
        near = [stored for stored in candidates if (stored ^ value).bit_count() <= max_distance]
        return self._matches(self._distances(near, value)) if near else []

    def find_or_add(self, value: SupportsIndex, key: SupportsIndex) -> list[Match]:
        """Return what ``find`` returns; if that is nothing, add the posting.

        >>> index = ProbingIndex()
        >>> index.find_or_add(0b0000_0000_0011, key=1)
        []
        >>> index.find_or_add(0b0111_1111_1111, key=2)
        [Match(key=1, value=3, distance=9)]
        >>> len(index)
        1
        """
        value, key = checked_value(value), checked_key(key)
        matches = self.find(value)
        if not matches:
            # Nothing is near, so the value itself is not there either.
            self._enter(value, self._new_slot(value, key))
        return matches

    def _distances(self, near: list[int], value: int) -> dict[int, int]:
        """Return the distances by slot: what several tables have found counts once."""
        distances = {}
        for stored in near:
            slot = self._slot_of(stored)
            assert slot is not None, "every value of the cells has a slot"
            distances[slot] = hamming_distance(stored, value)
        return distances

    def _enter(self, value: int, slot: int) -> None:
        self._slots.insert(address_of(value, MAX_VALUE) | slot)
        for table in self._tables:
            table.insert(value)

    def _enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        self._slots.extend(Lanes(values, slots).entries(MAX_VALUE), held)
        for table in self._tables:
            for value in values:
                table.insert(value)

    def _leave(self, value: int, slot: int) -> None:
        self._slots.remove(address_of(value, MAX_VALUE) | slot)
        for table in self._tables:
            table.remove(value)

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        values = sorted(self._values[slot] for slot in self._checked_slots())
        self._slots._check()
        for table in self._tables:
            table._check()
            assert sorted(table.values()) == values
