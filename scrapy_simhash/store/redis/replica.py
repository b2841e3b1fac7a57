"""Replica: indexes of all searchable originals, filled from the log on the server, and a cache of rows."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import count

from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.recent import Recent
from scrapy_simhash.store.candidates import Original, index_for, tell_crowd
from scrapy_simhash.store.redis.layout import ALL_CHANGES, BECAME, CAME, NO_MARK, WENT, read_events

# Above this number, one call for all is faster than one call each.
_MANY = 8
#: Recently compared rows, by the serial number of the replica and their number.
Rows = Recent[tuple[int, int], Original]
_serials = count()


class Replica:
    """One index per scope. No method waits; searches cover the log up to the position of the replica.

    If the store loses a part of its log, a new replica replaces this one, since the same numbers may name other
    originals.
    """

    def __init__(
        self, store_id: bytes, rule: Rule, blocks: int, rows: Rows, scopes: Collection[bytes] | None = None
    ) -> None:
        """Create a replica of all scopes, or of *scopes* only; the cache *rows* is shared with other replicas."""
        self.store_id = store_id
        #: One more than the highest known number of a page, and of an original.
        self.known = self.last = 0
        #: Mark of the entry of that original; it depends on all earlier entries.
        self.mark = NO_MARK
        #: Number of changes of the log that were applied.
        self.changes = ALL_CHANGES
        self.rule = rule
        #: Originals with unreadable rows.
        self.unreadable: set[int] = set()
        self._blocks = blocks
        self._rows, self._serial = rows, next(_serials)
        self._indexes: dict[bytes, SimhashIndex] = {}
        self._scopes = None if scopes is None else set(scopes)
        #: Scopes whose dense region was logged.
        self._crowded: set[str] = set()
        self._size = 0

    def __len__(self) -> int:
        """Return the number of searchable originals, including those of scopes that are not loaded. O(1)."""
        return self._size

    def __contains__(self, scope: bytes) -> bool:
        """Return whether *scope* is loaded."""
        return self._scopes is None or scope in self._scopes

    def index(self, scope: bytes) -> SimhashIndex:
        """Return the index of *scope*."""
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self.rule, self._blocks)
        return index

    def row(self, number: int) -> Original | None:
        """Return the row of an original from the cache, None if it is not cached."""
        return self._rows.get((self._serial, number))

    def keep(self, row: Original) -> None:
        """Cache a row."""
        self._rows[self._serial, row.number] = row

    def note_crowd(self, scope: str) -> None:
        """Log, once for each *scope*, that it has a dense region."""
        tell_crowd(scope, self.rule.reach, self._crowded)

    def of_scopes(self, scopes: Collection[bytes]) -> Replica:
        """Return an empty replica of the same store, for *scopes* only."""
        return Replica(self.store_id, self.rule, self._blocks, self._rows, scopes)

    def take_over(self, other: Replica) -> None:
        """Take over the scopes of *other*, which is at least as far in the log as this replica."""
        if self._scopes is not None and other._scopes is not None:
            self._scopes |= other._scopes
            self._indexes |= other._indexes

    def forget(self, scope: bytes) -> None:
        """Drop the index of *scope*, unless this replica has all scopes."""
        if self._scopes is not None:
            self._scopes.discard(scope)
            self._indexes.pop(scope, None)

    def apply(self, known: int, changes: int, packed: bytes, at: int) -> None:
        """Apply the events from byte *at* of *packed*, which lead to the position *known* and *changes*.

        Events that were applied before change nothing. About 2 us per event, plus the insert into the index.
        """
        came: defaultdict[bytes, tuple[array[int], array[int]]] = defaultdict(
            lambda: (array("Q"), array("Q"))
        )
        events = list(read_events(packed, at, self.known))
        # Replies to concurrent claims repeat the changes, and may arrive in another order.
        repeated = self._repeated(changes, sum([event.sign != CAME for event in events]))
        for sign, number, values, scope, mark in events:
            if sign != CAME and repeated:
                repeated -= 1
                continue
            if number >= self.last:
                self.last, self.mark = number + 1, mark
            if not values:
                continue
            if scope not in self:
                self._size += -1 if sign == WENT else 1
            elif sign == CAME:
                its_values, numbers = came[scope]
                its_values.extend(values)
                numbers.extend([number] * len(values))
                self._size += 1
            elif sign == BECAME:
                self._add_again(self.index(scope), number, values)
            else:
                self._flush(came)
                self._discard(self.index(scope), number, values)
        self._flush(came)
        self.known = max(self.known, known)
        self.changes = changes if self.changes == ALL_CHANGES else max(self.changes, changes)

    def _repeated(self, changes: int, new: int) -> int:
        """Return how many of the *new* changes, which lead to *changes*, were applied before."""
        return 0 if self.changes == ALL_CHANGES else min(max(self.changes - (changes - new), 0), new)

    def _flush(self, came: defaultdict[bytes, tuple[array[int], array[int]]]) -> None:
        for scope, (values, numbers) in came.items():
            index = self.index(scope)
            if len(values) < _MANY:
                for value, number in zip(values, numbers, strict=True):
                    index.add(value, number)
            else:
                index.add_many(values, numbers)
        came.clear()

    def _add_again(self, index: SimhashIndex, number: int, values: Iterable[int]) -> None:
        """Add an original, unless it was added with its block."""
        new = [value for value in values if (value, number) not in index]
        for value in new:
            index.add(value, number)
        self._size += bool(new)

    def _discard(self, index: SimhashIndex, number: int, values: Iterable[int]) -> None:
        self._rows.pop((self._serial, number), None)
        gone = [value for value in values if index.discard(value, number)]
        self._size -= bool(gone)
