"""Replica: indexes of all searchable originals, filled from the log on the server, and a cache of rows."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import count
from struct import Struct

from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.recent import Recent
from scrapy_simhash.store.base import Original
from scrapy_simhash.store.candidates import index_for
from scrapy_simhash.store.redis.layout import NO_MARK, Event, read_events

# From this number of values on, one call is faster than a call for each value.
_MANY = 8
#: Store, known numbers, the two numbers of a position, its mark, and how often the log was shortened.
_POSITION = Struct(">8sQQI4sI")
#: Recently compared rows, by the serial number of the replica and the number of the row.
Rows = Recent[tuple[int, int], Original]
_serials = count()


class Replica:
    """One index per scope. No method blocks. Searches cover the log up to the position of the replica.

    If the store loses a part of its log, a new replica replaces this one, because numbers may then be reused for
    other originals.
    """

    def __init__(self, store_id: bytes, rule: Rule, blocks: int, rows: Rows) -> None:
        """Create an empty replica; the cache *rows* is shared with other replicas."""
        self.store_id = store_id
        self.rule = rule
        #: One more than the highest known number of a page.
        self.known = 0
        #: Number of times that the log was shortened.
        self.trims = 0
        #: Positions of the events that removed an original, and of the events that had added it, until they are
        #: deleted.
        self.dead: list[tuple[int, int]] = []
        self._last, self._mark = (0, 0), NO_MARK
        self._blocks = blocks
        self._rows, self._serial = rows, next(_serials)
        self._indexes: dict[bytes, SimhashIndex] = {}
        self._size = 0

    def __len__(self) -> int:
        """Return the number of searchable originals. O(1)."""
        return self._size

    @property
    def position(self) -> bytes:
        """The position in the log, as an argument of scripts."""
        return _POSITION.pack(self.store_id, self.known, *self._last, self._mark, self.trims)

    def index(self, scope: bytes) -> SimhashIndex:
        """Return the index of *scope*."""
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self.rule, self._blocks)
        return index

    def row(self, number: int) -> Original | None:
        """Return the row of an original from the cache; None if it is not cached."""
        return self._rows.get((self._serial, number))

    def keep(self, row: Original) -> None:
        """Cache a row."""
        self._rows[self._serial, row.number] = row

    def forget(self, number: int) -> None:
        """Drop a row from the cache."""
        self._rows.pop((self._serial, number), None)

    def apply(self, known: int, trims: int, packed: bytes, at: int) -> None:
        """Apply the events from byte *at* of *packed*, a reply of a server whose page numbers are below *known*.

        Replies to concurrent claims repeat events, and may arrive in a different order. Takes about 2 us per event,
        plus the insert into the index.
        """
        added: defaultdict[bytes, tuple[array[int], array[int]]] = defaultdict(
            lambda: (array("Q"), array("Q"))
        )
        for event in read_events(packed, at):
            if event.position <= self._last:
                continue
            self._last, self._mark = event.position, event.mark
            if event.is_removed:
                self._add(added)
                self._remove(event)
            elif event.values:
                values, numbers = added[event.scope]
                values.extend(event.values)
                numbers.extend([event.number] * len(event.values))
                self._size += 1
        self._add(added)
        self.known, self.trims = max(self.known, known), max(self.trims, trims)

    def _add(self, added: defaultdict[bytes, tuple[array[int], array[int]]]) -> None:
        for scope, (values, numbers) in added.items():
            index = self.index(scope)
            if len(values) < _MANY:
                for value, number in zip(values, numbers, strict=True):
                    index.add(value, number)
            else:
                index.add_many(values, numbers)
        added.clear()

    def _remove(self, event: Event) -> None:
        self.forget(event.number)
        self.dead += [event.position, (event.number + 1, 0)]
        index = self.index(event.scope)
        gone = [value for value in event.values if index.discard(value, event.number)]
        self._size -= bool(gone)
