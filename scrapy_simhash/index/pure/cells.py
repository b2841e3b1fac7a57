"""A table probed at every key near the query's: the fingerprints in cells, by the bits of one block.

The cell of a key is the string of its fingerprints, eight bytes each. A search joins the cells it probes into
one string and runs once through that::

    fingerprint   |  block A  |  block B  |  block C  |  block D  |        the table of C
    probes                      C ^ 0, C ^ 1, C ^ 2, C ^ 4, ...            the query's own cell, then those
                                                                           one bit away, two bits away, ...

Blocks up to 16 bits have a list of all their cells once an eighth of these is in use: up to there, and in wider
blocks, a dict of the cells that are not empty is smaller. An index of 500 fingerprints, one of many scopes, would
take two megabytes for its lists alone.

Measured with random fingerprints, four blocks of 16 bits, 428 probes (Python 3.11, AMD Zen 4 at 2.6 GHz, other
work on the machine): microseconds a search, and bytes of all tables per fingerprint.

================================  ====  =====  ====  =====  ====  =====
..                                10 thousand  100 thousand   1 million
--------------------------------  -----------  ------------  -----------
layout                            find  bytes  find   bytes  find  bytes
================================  ====  =====  ====  =====  ====  =====
**list of bytes**                 27    364    106   121    491   43
dict of bytes                     42    391    175   270    560   60
list of arrays of fingerprints    45    625    169   252    560   63
dict of arrays of fingerprints    46    652    212   402    650   80
list of arrays of slots           43    566    162   219    1,340 43
================================  ====  =====  ====  =====  ====  =====

Slots are smaller than fingerprints, but to look each candidate up by its slot is a walk to distant memory.

The tables of a probing plan as cells, one table for each block.
"""

from __future__ import annotations

import sys
from array import array
from itertools import combinations
from math import inf

from scrapy_simhash.index.plans import Block, ProbingPlan
from scrapy_simhash.index.pure.tables import Lanes, Table, address_of
from scrapy_simhash.index.values import MAX_VALUE

#: Blocks up to this width may have a list of all cells: half a megabyte, however few are in use.
LISTED_BITS = 16
#: The part of the cells that must be in use for that: a dict of so many is as large as the list.
LISTED_SHARE = 1 / 8
#: A longer cell is a bytearray, which grows in place. The copy of a short one costs less than its header.
BYTES_LIMIT = 512
#: Bytes of a fingerprint in a cell, in the machine's own order, so that ``array`` reads it.
SIZE = 8

Cell = bytes | bytearray


class _NonEmpty(dict[int, Cell]):
    """Cells by key; one that is not there reads as empty."""

    def __missing__(self, key: int) -> Cell:
        return b""


class CellTable:
    """Fingerprints by the bits of *block*, probed at all keys within *radius* bits.

    >>> table = CellTable(Block(shift=0, width=8), radius=1)
    >>> table.insert(0x10F)
    >>> table.insert(0xFFF)
    >>> [hex(value) for value in array("Q", b"".join(table.probe(0x20E)))]
    ['0x10f']
    """

    __slots__ = ("_cells", "_flips", "_listed_from", "_mask", "_shift")

    def __init__(self, block: Block, radius: int) -> None:
        """Make an empty table; *radius* is from 0 to any number of bits."""
        self._shift = block.shift
        self._mask = block.mask
        self._flips = flips(block.width, radius)
        self._cells: list[Cell] | _NonEmpty = _NonEmpty()
        #: From so many cells in use on, they are listed.
        self._listed_from = LISTED_SHARE * (1 << block.width) if block.width <= LISTED_BITS else inf

    @property
    def nbytes(self) -> int:
        """The memory of the cells and their keys, and of the flips, in bytes. O(cells)."""
        cells, keys = self._cells, 0
        if isinstance(cells, dict):
            keys = len(cells) * sys.getsizeof(self._mask)
        used = cells.values() if isinstance(cells, dict) else filter(None, cells)
        probed = sys.getsizeof(self._flips) + len(self._flips) * sys.getsizeof(self._mask)
        return sys.getsizeof(cells) + keys + sum(map(sys.getsizeof, used)) + probed

    def probe(self, value: int) -> list[Cell]:
        """Return the cells within the radius of *value*, to be joined; some may be empty. O(probes)."""
        part = value >> self._shift & self._mask
        cells = self._cells
        if isinstance(cells, dict):
            # Most are not there: no call of Python's for each of them.
            return list(filter(None, map(cells.get, map(part.__xor__, self._flips))))
        return [cells[part ^ flip] for flip in self._flips]

    def insert(self, value: int) -> None:
        """Add *value*, which must be new. O(1), or the copy of a short cell; once, a millisecond for the list."""
        part = value >> self._shift & self._mask
        cells = self._cells
        if isinstance(cells, dict) and len(cells) >= self._listed_from:
            cells = self._cells = [cells[number] for number in range(self._mask + 1)]
        if len(cells[part]) == BYTES_LIMIT:
            cells[part] = bytearray(cells[part])
        cells[part] += value.to_bytes(SIZE, sys.byteorder)

    def remove(self, value: int) -> None:
        """Take *value* out, which must be there. O(cell)."""
        part = value >> self._shift & self._mask
        cell = self._cells[part]
        place = array("Q", cell).index(value) * SIZE
        rest = cell[:place] + cell[place + SIZE :]
        if not rest and isinstance(self._cells, dict):
            del self._cells[part]
        else:
            self._cells[part] = rest

    def values(self) -> list[int]:
        """Return all fingerprints, in no promised order."""
        cells = self._cells.values() if isinstance(self._cells, dict) else self._cells
        return list(array("Q", b"".join(cells)))

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        if isinstance(self._cells, dict):
            assert all(self._cells.values()), "a dict has no empty cells"
        for value in self.values():
            assert value in array("Q", self._cells[value >> self._shift & self._mask])


def flips(width: int, radius: int) -> list[int]:
    """Return every number of *width* bits with *radius* ones or fewer, those with the fewest first.

    >>> flips(width=3, radius=2)
    [0, 1, 2, 4, 3, 5, 6]
    """
    return [
        sum(1 << bit for bit in ones)
        for number in range(min(width, radius) + 1)
        for ones in combinations(range(width), number)
    ]


class ProbeTables:
    """A ``CellTable`` for each block of a *plan* that has a radius: a search joins the cells it probes.

    O(probes + candidates): 0.06 microseconds a candidate.
    """

    __slots__ = ("_max_distance", "_slots", "_tables", "_values")

    def __init__(self, plan: ProbingPlan, values: array[int]) -> None:
        """Make the empty tables of *plan* over *values*, see `PlanTables`."""
        self._max_distance = plan.max_distance
        self._values = values
        self._tables = [
            CellTable(block, radius)
            for block, radius in zip(plan.blocks, plan.radii, strict=True)
            if radius >= 0
        ]
        # Cells hold values, not slots (see ``cells``); the few that are near are looked up here.
        self._slots = Table(key_mask=MAX_VALUE)

    @property
    def nbytes(self) -> int:
        """The memory of the tables in bytes; O(cells). What the allocator adds to a cell (up to 15) is not in it."""
        return self._slots.nbytes + sum(table.nbytes for table in self._tables)

    def near(self, value: int) -> dict[int, int]:
        """Return the distances of all values within the distance, by slot."""
        max_distance = self._max_distance
        cells: list[Cell] = []
        for table in self._tables:
            cells += table.probe(value)
        near = {}
        for stored in array("Q", b"".join(cells)):
            # What several tables have found counts once.
            if (distance := (stored ^ value).bit_count()) <= max_distance:
                near[stored] = distance
        if not near:
            return near
        slots = ((self.slot_of(stored), distance) for stored, distance in near.items())
        return {slot: distance for slot, distance in slots if slot is not None}

    def slot_of(self, value: int) -> int | None:
        """Return the slot of exactly *value*, or None."""
        return self._slots.slot_of(value, self._values)

    def enter(self, value: int, slot: int) -> None:
        """Put a new value into every table."""
        self._slots.insert(address_of(value, MAX_VALUE) | slot)
        for table in self._tables:
            table.insert(value)

    def enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        """Put new values into every table, which have *held* so far."""
        self._slots.extend(Lanes(values, slots).entries(MAX_VALUE), held)
        for table in self._tables:
            for value in values:
                table.insert(value)

    def leave(self, value: int, slot: int) -> None:
        """Take a value out of every table."""
        self._slots.remove(address_of(value, MAX_VALUE) | slot)
        for table in self._tables:
            table.remove(value)

    def _check(self, slots: list[int]) -> None:
        values = sorted(self._values[slot] for slot in slots)
        self._slots._check()
        assert all(self.slot_of(self._values[slot]) == slot for slot in slots)
        for table in self._tables:
            table._check()
            assert sorted(table.values()) == values
