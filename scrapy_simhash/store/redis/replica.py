"""Replica: what a crawler has of the store: the indexes of all contents that can be found, and some fingerprints."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from itertools import count

from scrapy_simhash.index import Match, SimhashIndex
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.recent import Recent
from scrapy_simhash.store.base import Posting
from scrapy_simhash.store.candidates import Search, index_for, search, tell_crowd, with_latest
from scrapy_simhash.store.redis.layout import CAME, DAMAGED, MARK_BYTES, encoded, read_events

# From so many on, one call for all is faster than a call for each.
_MANY = 8
#: The cluster of contents, and what is compared, by the serial number of the replica that they are in, and their own.
Compared = Recent[tuple[int, int], tuple[int, bytes]]
_serials = count()


class Replica:
    """An index for each scope. No method waits: what it finds is what the log says up to ``position``.

    Of a store that lost its log there is another replica: the same numbers may mean other contents now.
    """

    def __init__(
        self,
        store_id: bytes,
        rule: Rule,
        blocks: int,
        compared: Compared,
        scopes: Collection[bytes] | None = None,
    ) -> None:
        """Make one of all scopes, or of *scopes* only; *compared* is kept together with other replicas'."""
        self.store_id = store_id
        #: How many events of the log are in here.
        self.position = 0
        #: What the last of them ends with; it depends on all before.
        self.mark = bytes(MARK_BYTES)
        self._rule = rule
        self._blocks = blocks
        self._indexes: dict[bytes, SimhashIndex] = {}
        #: Scopes with a crowd, of which the log has told.
        self._crowded: set[str] = set()
        self._scopes = None if scopes is None else set(scopes)
        #: What is compared of some contents: it never changes.
        self._compared = compared
        self._serial = next(_serials)
        #: Whether there is a content that is found by its own part, so that a match may have the value of that.
        self.has_own_values = False
        self._size = 0

    def __len__(self) -> int:
        """Return how many contents can be found, those of scopes that are not in here included. O(1)."""
        return self._size

    def __contains__(self, scope: bytes) -> bool:
        """Tell whether the contents of *scope* can be searched for."""
        return self._scopes is None or scope in self._scopes

    def find(self, scope: str, fingerprint: Fingerprint) -> Search:
        """Search among the contents of *scope*."""
        return search(self._index(encoded(scope)), fingerprint)

    def with_latest(
        self, matches: list[Match], latest: int, its: Fingerprint, posting: Posting
    ) -> list[Match]:
        """Return *matches* with the page's *latest* content, see ``candidates``."""
        return with_latest(matches, latest, its, posting.fingerprint, self._index(encoded(posting.scope)))

    def note_crowd(self, scope: str) -> None:
        """Tell the log, once for each *scope*, that a page of a crowd came."""
        tell_crowd(scope, self._rule.reach, self._crowded)

    def compared(self, contents: Iterable[int]) -> dict[int, tuple[int, bytes]]:
        """Return the cluster, and what is compared, of those contents that are here, by number."""
        kept, serial = self._compared, self._serial
        return {content: kept[serial, content] for content in contents if (serial, content) in kept}

    def keep_compared(self, content: int, cluster: int, data: bytes) -> None:
        """Keep the cluster of a content, and what is compared, until many others have come."""
        self._compared[self._serial, content] = cluster, data

    def of_scopes(self, scopes: Collection[bytes]) -> Replica:
        """Return a replica of the same store for *scopes* only, which knows nothing yet."""
        return Replica(self.store_id, self._rule, self._blocks, self._compared, scopes)

    def take_over(self, other: Replica) -> None:
        """Take over the scopes of *other*, which knows the same log as far as this one, or further.

        What that knows already is taken in once more, which changes nothing.
        """
        if self._scopes is not None and other._scopes is not None:
            self._scopes |= other._scopes
            self._indexes |= other._indexes
            self.has_own_values |= other.has_own_values

    def forget(self, scope: bytes) -> None:
        """Let go of the contents of *scope*, of a replica that does not have all scopes."""
        if self._scopes is not None:
            self._scopes.discard(scope)
            self._indexes.pop(scope, None)

    def apply(self, packed: bytes, start: int, first: int) -> None:
        """Take in the events that begin at byte *start* of *packed*, number *first* of the log and those after it.

        They are all there is to the end of it; what is known already is passed over. A microsecond an event, and
        what the index takes, to which they are added together when they are many.
        """
        events = list(read_events(packed, start, self.position - first))
        if not events:
            return
        self.position += len(events)
        self.mark = packed[-MARK_BYTES:]
        if self._scopes is not None:
            # Of scopes that are not in here what goes counts without a look.
            others = [kind for kind, _, _, scope in events if scope not in self._scopes]
            self._size += sum([1 if kind == CAME else -1 for kind in others if kind != DAMAGED])
            events = [event for event in events if event[3] in self._scopes]
        came: dict[bytes, tuple[array[int], array[int]]] = {}
        for kind, content, its_values, scope in events:
            if kind == CAME:
                values, contents = came.setdefault(scope, (array("Q"), array("Q")))
                values.extend(its_values)
                contents.extend([content] * len(its_values))
                self._size += 1
                self.has_own_values |= len(its_values) > 1
        for scope, (values, contents) in came.items():
            index = self._index(scope)
            if len(values) < _MANY:
                for value, content in zip(values, contents, strict=True):
                    index.add(value, content)
            else:
                index.add_many(values, contents)
        # A content goes once, after it came. It may have been found by one of its values only.
        for kind, content, its_values, scope in events:
            if kind not in (CAME, DAMAGED):
                index = self._index(scope)
                self._size -= sum([index.discard(value, content) for value in its_values]) > 0

    def _index(self, scope: bytes) -> SimhashIndex:
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self._rule, self._blocks)
        return index
