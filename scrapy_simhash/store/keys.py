"""Keys of pages and their numbers, kept compactly: a dictionary of bytes objects takes four times as much."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

#: Length of the keys that are kept in rows: a request fingerprint of Scrapy.
WIDTH = 20
#: Tables, a power of 2. A table that is full is made anew with twice the size, so each must stay small: of a million
#: keys one has 4,000, and that takes a few milliseconds.
TABLES = 256
#: Slots of an empty table.
LEAST_SLOTS = 8
#: What a slot holds besides a number + 1.
_FREE, _REMOVED = 0, 0xFFFFFFFF


class Keys:
    """Numbers the keys that are added, from 0: 26 to 45 bytes for one of `WIDTH` bytes, 170 or more for another.

    >>> keys = Keys()
    >>> keys.add(b"ferry"), keys.add(b"pilot"), keys.find(b"pilot"), keys.find(b"ship")
    (0, 1, 1, None)
    >>> keys.remove(b"ferry")
    >>> list(keys), len(keys)
    ([(b'pilot', 1)], 1)
    """

    def __init__(self) -> None:
        self._rows = bytearray()
        #: Keys that were added, those that were removed included.
        self._count = 0
        #: Keys of another length, by number; their rows are empty.
        self._others: dict[int, bytes] = {}
        # Hash tables with linear probing.
        self._tables = [array("I", bytes(4 * LEAST_SLOTS)) for _ in range(TABLES)]
        #: By table: slots that are not free.
        self._used = array("I", bytes(4 * TABLES))
        self._removed: set[int] = set()

    def __len__(self) -> int:
        """Return how many keys there are, without those that were removed. O(1)."""
        return self._count - len(self._removed)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """Yield every key and its number, by number."""
        for number in range(self._count):
            if number not in self._removed:
                yield self[number], number

    def __getitem__(self, number: int) -> bytes:
        """Return the key of a *number* that was given and not removed since. O(1)."""
        other = self._others.get(number) if self._others else None
        return bytes(self._rows[number * WIDTH : (number + 1) * WIDTH]) if other is None else other

    @property
    def nbytes(self) -> int:
        """The memory in bytes, without keys of another length than `WIDTH`."""
        return len(self._rows) + sum(len(table) * table.itemsize for table in self._tables)

    def find(self, key: bytes) -> int | None:
        """Return the number of *key*, None if it was never added, or was removed. O(1)."""
        table, slot = self._slot(key)
        return table[slot] - 1 if table[slot] else None

    def add(self, key: bytes) -> int:
        """Add *key*, which must not be in here, and return its number: one more than that of the key added last."""
        number = self._count
        self._count += 1
        if len(key) == WIDTH:
            self._rows += key
        else:
            self._others[number] = key
            self._rows += bytes(WIDTH)
        code = hash(key)
        place = code % TABLES
        if 3 * self._used[place] >= 2 * len(self._tables[place]):
            self._renew(place)
        self._put(place, code, number)
        return number

    def remove(self, key: bytes) -> None:
        """Remove *key*; its number is not given again. Raises KeyError if it is not in here."""
        table, slot = self._slot(key)
        number = table[slot] - 1
        if number < 0:
            raise KeyError(key)
        table[slot] = _REMOVED
        self._removed.add(number)
        self._others.pop(number, None)

    def _slot(self, key: bytes) -> tuple[array[int], int]:
        """Return the table and the slot in which *key* is, or a free one if it is in none."""
        code = hash(key)
        table = self._tables[code % TABLES]
        last = len(table) - 1
        slot = code // TABLES & last
        is_in_row = len(key) == WIDTH
        while entry := table[slot]:
            if entry != _REMOVED:
                if is_in_row:
                    end = entry * WIDTH
                    if self._rows[end - WIDTH : end] == key and entry - 1 not in self._others:
                        break
                elif self._others.get(entry - 1) == key:
                    break
            slot = slot + 1 & last
        return table, slot

    def _put(self, place: int, code: int, number: int) -> None:
        table = self._tables[place]
        last = len(table) - 1
        slot = code // TABLES & last
        while table[slot] != _FREE:
            slot = slot + 1 & last
        table[slot] = number + 1
        self._used[place] += 1

    def _renew(self, place: int) -> None:
        """Make a table anew, with room for as many keys again, without what was removed."""
        numbers = [entry - 1 for entry in self._tables[place] if entry not in (_FREE, _REMOVED)]
        slots = LEAST_SLOTS
        while slots < 3 * len(numbers):
            slots *= 2
        self._tables[place] = array("I", bytes(4 * slots))
        self._used[place] = 0
        for number in numbers:
            self._put(place, hash(self[number]), number)
