"""Columns: keys, URLs, own parts and rows of numbers by number, without the weight of Python's objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from scrapy_simhash.page.fingerprint import LEAST_BYTES, MOST_BYTES, own_part_length

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


class Urls:
    """A growing list of URLs: 13 bytes and what follows the host, in UTF-8; scheme and host are kept once.

    >>> urls = Urls()
    >>> urls.append("https://example.com/ferry")
    >>> urls.append("https://example.com/pilot")
    >>> urls[1]
    'https://example.com/pilot'
    >>> urls[1] = "https://example.com/pilot?page=1"
    >>> urls[1]
    'https://example.com/pilot?page=1'
    """

    def __init__(self) -> None:
        self._sites: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        # By URL: its site, and where in the text it begins; it ends with a byte that UTF-8 does not have.
        self._site = array("I")
        self._start = array("Q")
        self._text = bytearray()

    def append(self, url: str) -> None:
        """Add *url*; its number is the length before. Lone surrogates are kept as they are."""
        site, start = self._put(url)
        self._site.append(site)
        self._start.append(start)

    def __getitem__(self, number: int) -> str:
        start = self._start[number]
        rest = self._text[start : self._text.index(_END, start)]
        return (self._sites[self._site[number]] + rest).decode("utf-8", "surrogatepass")

    def __setitem__(self, number: int, url: str) -> None:
        """Put another URL in its place; the memory of the former is not used again."""
        if url != self[number]:
            self._site[number], self._start[number] = self._put(url)

    def _put(self, url: str) -> tuple[int, int]:
        data = url.encode("utf-8", "surrogatepass")
        # Scheme, colon, two slashes, host: all before the third slash.
        host = data.find(b"/", data.find(b"//") + 2)
        site, rest = (data[:host], data[host:]) if host > 0 else (b"", data)
        number = self._numbers.setdefault(site, len(self._sites))
        if number == len(self._sites):
            self._sites.append(site)
        start = len(self._text)
        self._text += rest + _END
        return number, start


_END = b"\xff"


class OwnParts:
    """Own parts as bytes, by number: 15 bytes each, and 140 more for those longer than eleven."""

    def __init__(self) -> None:
        # How many bytes there are, or, of those that are longer, which row they have.
        self._places = array("I")
        self._short = bytearray()
        self._rows = bytearray()

    def __setitem__(self, number: int, own: bytes) -> None:
        """Put *own*, empty for nothing, in the place of another, or after the last."""
        if number == len(self._places):
            self._places.append(_NOTHING)
            self._short.extend(bytes(LEAST_BYTES))
        former, place = self._places[number], _NOTHING
        if len(own) > LEAST_BYTES:
            row = former - _ROWS if former >= _ROWS else len(self._rows) // MOST_BYTES
            self._rows[row * MOST_BYTES : (row + 1) * MOST_BYTES] = own.ljust(MOST_BYTES, b"\0")
            place = _ROWS + row
        elif own:
            self._short[number * LEAST_BYTES : (number + 1) * LEAST_BYTES] = own
            place = _SHORT
        self._places[number] = place

    def __getitem__(self, number: int) -> bytes:
        place = self._places[number]
        if place >= _ROWS:
            start = (place - _ROWS) * MOST_BYTES
            return bytes(self._rows[start : start + own_part_length(self._rows[start])])
        if place == _NOTHING:
            return b""
        return bytes(self._short[number * LEAST_BYTES : (number + 1) * LEAST_BYTES])


#: What is in the place of an own part; numbers from ``_ROWS`` on are rows.
_NOTHING, _SHORT, _ROWS = range(3)
