"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

from array import array

from scrapy_simhash.index import Match, SimhashIndex
from scrapy_simhash.store.base import Claim, Posting


class MemoryStore:
    """A :class:`~scrapy_simhash.store.base.Store` in memory; gone with the process.

    One index per scope. A page costs its key, 16 bytes in two arrays and, if its content was new, its URL and
    a posting.
    """

    def __init__(self, max_distance: int = 3, blocks: int = 6) -> None:
        self._max_distance = max_distance
        self._blocks = blocks
        self._indexes: dict[str, SimhashIndex] = {}
        self._numbers: dict[bytes, int] = {}
        # By page number: the latest fingerprint, and the cluster it was put in.
        self._values = array("Q")
        self._clusters = array("Q")
        self._urls: dict[int, str] = {}
        self._index_size = 0

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found."""
        return self._index_size

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. Costs one look-up and one insert."""
        key, url, scope, value = posting
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = SimhashIndex(self._max_distance, self._blocks)
        number = self._numbers.get(key)
        former = None
        if number is None:
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
            self._clusters.append(number)
        else:
            former = self._values[number]
        match = self._choose(index.find(value), number)
        if match is None:
            index.add(value, number)
            self._index_size += 1
            self._urls[number] = url
        cluster = number if match is None else match.key
        self._values[number] = value
        self._clusters[number] = cluster
        if match is None or cluster == number:
            return Claim(former, number, None, None)
        return Claim(former, cluster, self._urls[cluster], match.distance)

    def _choose(self, matches: list[Match], number: int) -> Match | None:
        """Return the match that decides: the page itself, else the cluster it is in, else the nearest."""
        for kin in (number, self._clusters[number]):
            for match in matches:
                if match.key == kin:
                    return match
        return matches[0] if matches else None
