r"""Where a fingerprint stands in a table.

The paper sorts a table by the permuted fingerprint, so that fingerprints with one key are neighbours. Only
the neighbourhood matters to a probe, not the order, and the order of real fingerprints is uneven: pages of
one site share bits. So a table is ordered by the *address* of the key, 32 bits that any change of the key
scatters::

    fingerprint   |    A    |    B    |    C    |    D    |    E    |    F    |
    & key mask    |    A    |    0    |    C    |    0    |    0    |    F    |      the table of A, C, F
    * SCATTER     |    bits 63 to 32: the address    |       thrown away       |      modulo 2**64

Equal keys have equal addresses, so no match is lost. Different keys seldom share one (a key has 32 bits or so
for six blocks and distance 3, an address never more), and that only *adds* candidates, each of which is then
checked with all 64 bits. Addresses live in memory only; they are no format.

One table: the fingerprints in the order of their addresses, in leaves under a directory.

Entries (an address, and the number of a fingerprint) stand in sorted leaves, arrays of some hundred. The leading bits
of an address say which::

    directory   [00] [01] [10] [11]        two leading bits, four cells
                 |    |     \  /
    leaves      ...  ...    ...            a leaf half as full as others serves two cells

A full leaf splits at the middle of its range of addresses. If one cell is all it had, the directory doubles
first, which copies pointers and moves no entry: no insert ever stops to copy the table. This is extendible
hashing, with sorted buckets (Fagin, Nievergelt, Pippenger, Strong, 1979).

Measured with random fingerprints and 20 tables (Python 3.11, AMD Zen 4 at 2.6 GHz, other work on the
machine): microseconds for the search of all tables, for an insert into all, and bytes of all tables per
fingerprint.

================================  =====  ======  =====  =====  ======  =====
..                                100 thousand          1 million
--------------------------------  --------------------  --------------------
layout                            find   insert  bytes  find   insert  bytes
================================  =====  ======  =====  =====  ======  =====
directory, leaves up to 64        13.7   13.3    227    20.6   23.2    225
**directory, leaves up to 256**   13.8   13.0    184    23.4   23.0    180
sorted list, leaves up to 1,000   18.8   18.2    176    26.9   34.2    171
dict from key to slots            6.4    10.6    1,714  8.7    13.7    1,481
================================  =====  ======  =====  =====  ======  =====

The dict is fastest and takes eight times the memory, which is what a crawler feels. The sorted list bisects
the first entries of all leaves, then a long leaf, where the directory leads straight to a short one.

What holds all tables of a plan, in pure Python: fingerprints in, the slots of near ones out.

The tables of a plan as sorted leaves, one for each key.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby

from scrapy_simhash.index.plans import Plan, key_mask

#: An *entry* of a table is an address and a slot, the number of the fingerprint::
#:
#:     63-------------------32|31-------------------0
#:     |       address        |        slot         |
SLOT_BITS = 32
ADDRESS_BITS = 32
ENTRY_BITS = ADDRESS_BITS + SLOT_BITS
ADDRESS_MASK = ((1 << ADDRESS_BITS) - 1) << SLOT_BITS
#: Slots are below this. The very last number is not one, so that no entry has 64 ones.
SLOT_LIMIT = (1 << SLOT_BITS) - 1

#: 2**64 divided by the golden ratio: neighbouring keys get addresses far apart (Knuth, The Art of Computer
#: Programming, volume 3, section 6.4).
SCATTER = 0x9E37_79B9_7F4A_7C15


def address_of(value: int, key_mask: int) -> int:
    """Return the address of *value* in the table of *key_mask*, in place: bits 63 to 32.

    The index writes this line out in its loops, where calls would cost a tenth of a search.

    >>> address_of(0x1234_5678, 0xFFFF) == address_of(0x5678, 0xFFFF)
    True
    """
    return (value & key_mask) * SCATTER & ADDRESS_MASK


class Lanes:
    """Many fingerprints and their slots, to make the entries of all of them in one go.

    Two huge ints hold a number in every 64 bits, a *lane*, so that one operation of Python works on all. No
    step carries from one lane into the next. A quarter of the time of ``address_of`` for each.

    >>> lanes = Lanes(array("Q", [5, 2**63]), array("Q", [0, 1]))
    >>> [hex(entry) for entry in lanes.entries(0xFF)] == [hex(address_of(5, 0xFF)), hex(1)]
    True
    """

    __slots__ = ("_count", "_ones", "_slots", "_values")

    def __init__(self, values: array[int], slots: array[int]) -> None:
        """Take *values* and as many *slots*, both of type ``Q``."""
        self._count = len(values)
        self._ones = _joined(array("Q", [1]) * len(values))
        self._values = _joined(values)
        self._slots = _joined(slots)

    def entries(self, key_mask: int) -> array[int]:
        """Return the entries under *key_mask*, in the order given."""
        # As on paper, in digits of 32 bits, since a lane has room for the product of two:
        #
        #     (high low) * (SCATTER's high low) = ... + (high * low' + low * high') << 32 + low * low'
        half = self._ones * 0xFFFF_FFFF
        keys = self._values & self._ones * key_mask
        low, high = keys & half, keys >> 32 & half
        scatter_low, scatter_high = SCATTER & 0xFFFF_FFFF, SCATTER >> 32
        carried = low * scatter_low >> 32 & half
        addresses = (low * scatter_high & half) + (high * scatter_low & half) + carried & half
        entries = addresses << SLOT_BITS | self._slots
        return array("Q", entries.to_bytes(8 * self._count, sys.byteorder))


def _joined(numbers: array[int]) -> int:
    """Return one int that holds every number in 64 bits of its own."""
    return int.from_bytes(numbers.tobytes(), sys.byteorder)


#: Most entries of a leaf, but for those of one address; measured above.
LEAF_SIZE = 256
#: Ends every leaf, so that a search never looks past the end. No entry is as great.
GUARD = 2**64 - 1
#: The directory stops doubling at so many cells per leaf: uneven addresses must not blow it up. Even ones
#: need about two.
CELLS_PER_LEAF = 8


class Table:
    """Entries in the order of their addresses; those of one address in any order.

    ``directory`` and ``shift`` are public because the index looks for an entry by itself, in one loop over
    all tables: a call for each would make it a quarter slower. The leaf of an entry is
    ``directory[entry >> shift]``, and ``bisect_left(leaf, address << 32)`` is the first of its address, if
    any. Whoever inserts into a leaf calls ``split`` when it has more than ``leaf_size`` entries, its guard
    included.
    """

    __slots__ = ("_leaves", "directory", "key_mask", "leaf_size", "shift")

    def __init__(self, key_mask: int, leaf_size: int = LEAF_SIZE) -> None:
        """Make an empty table of the key that *key_mask* selects, with leaves of *leaf_size*, 3 at least."""
        self.key_mask = key_mask
        self.leaf_size = leaf_size
        self.directory: list[array[int]]
        self.shift: int
        self._leaves: int
        self._cut_into_leaves(array("Q"))

    @property
    def nbytes(self) -> int:
        """The memory of the leaves and the directory, in bytes. O(leaves)."""
        leaves = self.leaves()
        return sys.getsizeof(self.directory) + sum(map(sys.getsizeof, leaves)) + sys.getsizeof(self)

    def leaves(self) -> Iterator[array[int]]:
        """Yield every leaf once, in the order of addresses."""
        for _, cells in groupby(self.directory, key=id):
            yield next(cells)

    def insert(self, entry: int) -> None:
        """Add *entry*, which must be new. O(log leaf_size), and the move of half a leaf."""
        leaf = self.directory[entry >> self.shift]
        leaf.insert(bisect_left(leaf, entry), entry)
        if len(leaf) > self.leaf_size:
            self.split(leaf, entry)

    def slot_of(self, value: int, values: array[int]) -> int | None:
        """Return the slot of exactly *value*, or None; *values* has the fingerprint of every slot."""
        address = (value & self.key_mask) * SCATTER & ADDRESS_MASK
        leaf = self.directory[address >> self.shift]
        place = bisect_left(leaf, address)
        while (slot := leaf[place] ^ address) < SLOT_LIMIT:
            if values[slot] == value:
                return slot
            place += 1
        return None

    def remove(self, entry: int) -> None:
        """Take *entry* out, which must be there. A leaf left empty stays for what may come."""
        leaf = self.directory[entry >> self.shift]
        # Not bisected for itself: the entries of one address are in no order.
        first_of_address = bisect_left(leaf, entry >> SLOT_BITS << SLOT_BITS)
        del leaf[leaf.index(entry, first_of_address)]

    def extend(self, entries: array[int], held: int) -> None:
        """Add *entries*, new ones in any order, to the *held* entries the table has.

        The same as inserting each. Many at once are sorted together with the old ones and cut into fresh
        leaves: half the time. Takes some 50 bytes an entry while it works.
        """
        if 2 * len(entries) < held:
            for entry in sorted(entries):
                self.insert(entry)
            return
        for leaf in self.leaves():
            entries += leaf[:-1]
        self._cut_into_leaves(array("Q", sorted(entries)))

    def split(self, leaf: array[int], entry: int) -> None:
        """Split *leaf*, which holds *entry*, at the middle of its addresses.

        It stays as it is, and grows, if all its entries have one address or the directory may not double.
        """
        if leaf[0] >> SLOT_BITS == leaf[-2] >> SLOT_BITS:
            return
        first, cells = self._cells_of(leaf, entry)
        if cells == 1:
            if self.shift == SLOT_BITS or 2 * len(self.directory) > CELLS_PER_LEAF * self._leaves:
                return
            self.directory = [leaf for leaf in self.directory for _ in range(2)]
            self.shift -= 1
            first, cells = 2 * first, 2
        middle = first + cells // 2
        cut = bisect_left(leaf, middle << self.shift)
        upper = leaf[cut:]
        del leaf[cut:]
        leaf.append(GUARD)
        self.directory[middle : first + cells] = [upper] * (cells // 2)
        self._leaves += 1

    def _cells_of(self, leaf: array[int], entry: int) -> tuple[int, int]:
        """Return the first cell of *leaf* and how many it has: a power of two, which divides the first."""
        directory = self.directory
        first, cells = entry >> self.shift, 1
        while cells < len(directory):
            wider = first & -2 * cells
            if directory[wider] is not leaf or directory[wider + 2 * cells - 1] is not leaf:
                break
            first, cells = wider, 2 * cells
        return first, cells

    def _cut_into_leaves(self, ordered: array[int]) -> None:
        """Replace all leaves by the entries *ordered*, one leaf a cell, about two thirds full."""
        depth = 0
        while depth < ADDRESS_BITS and len(ordered) >> depth > 3 * self.leaf_size // 4:
            depth += 1
        self.shift = ENTRY_BITS - depth
        self.directory = []
        ordered.append(GUARD)
        start = 0
        for cell in range(1, (1 << depth) + 1):
            end = bisect_left(ordered, cell << self.shift, start)
            leaf = ordered[start : end + 1]  # with one entry too many, whose place the guard takes
            leaf[-1] = GUARD
            self.directory.append(leaf)
            start = end
        self._leaves = len(self.directory)
        for leaf in list(self.directory):
            if len(leaf) > self.leaf_size:
                self.split(leaf, leaf[0])

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(everything)."""
        directory = self.directory
        assert len(directory) == 1 << ENTRY_BITS - self.shift
        assert self._leaves == len({id(leaf) for leaf in directory}) == len(list(self.leaves()))
        last = -1
        for cell, leaf in enumerate(directory):
            if cell and leaf is directory[cell - 1]:
                continue
            first, cells = self._cells_of(leaf, cell << self.shift)
            assert first == cell, "the cells of a leaf are one range"
            assert leaf[-1] == GUARD, "a leaf ends with the guard"
            for entry in leaf[:-1]:
                assert last <= entry >> SLOT_BITS, "addresses are in order"
                assert first <= entry >> self.shift < first + cells, "an entry is where its address says"
                last = entry >> SLOT_BITS


class PlanTables:
    """A ``Table`` for each key of a *plan*: a search takes the fingerprints that agree in a key.

    *Tables* are over the values of an index, each of which has a slot: its place in them. O(tables * log n), and 0.2
    microseconds a candidate.
    """

    __slots__ = ("_max_distance", "_tables", "_values")

    def __init__(self, plan: Plan, values: array[int], leaf_size: int = LEAF_SIZE) -> None:
        """Make the empty tables of *plan*; *values* is the index's own row, which grows under our eyes."""
        self._max_distance = plan.max_distance
        self._values = values
        self._tables = [Table(key_mask(plan.blocks, key), leaf_size) for key in plan.keys]

    @property
    def nbytes(self) -> int:
        """The memory of the tables in bytes; O(leaves), 30 ms for a million fingerprints in 20 tables."""
        return sum(table.nbytes for table in self._tables)

    def near(self, value: int) -> dict[int, int]:
        """Return the distances of all values within the distance, by slot."""
        max_distance, values = self._max_distance, self._values
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
        return near

    def slot_of(self, value: int) -> int | None:
        """Return the slot of exactly *value*, or None. One table knows: equal values have equal addresses in it."""
        return self._tables[0].slot_of(value, self._values)

    def enter(self, value: int, slot: int) -> None:
        """Put a new value into every table."""
        for table in self._tables:
            address = (value & table.key_mask) * SCATTER & ADDRESS_MASK
            leaf = table.directory[address >> table.shift]
            leaf.insert(bisect_left(leaf, address), address | slot)
            if len(leaf) > table.leaf_size:
                table.split(leaf, address)

    def enter_many(self, values: array[int], slots: array[int], held: int) -> None:
        """Put new values into every table, which have *held* so far. Both arrays have type ``Q``."""
        lanes = Lanes(values, slots)
        for table in self._tables:
            table.extend(lanes.entries(table.key_mask), held)

    def leave(self, value: int, slot: int) -> None:
        """Take a value out of every table."""
        for table in self._tables:
            table.remove(address_of(value, table.key_mask) | slot)

    def _check(self, slots: list[int]) -> None:
        for table in self._tables:
            table._check()
            entries = sorted(entry for leaf in table.leaves() for entry in leaf[:-1])
            assert entries == sorted(address_of(self._values[slot], table.key_mask) | slot for slot in slots)
