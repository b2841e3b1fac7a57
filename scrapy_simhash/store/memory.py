"""The store of a crawl that forgets: everything in this process."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from scrapy_simhash.fingerprint import SKETCH_BYTES, Fingerprint
from scrapy_simhash.index import HammingIndex, ProbingIndex, SimhashIndex
from scrapy_simhash.rule import Rule
from scrapy_simhash.store.base import Claim, Posting


class _Kin(NamedTuple):
    """A content that a page repeats."""

    cluster: int
    distance: int
    similarity: float


class MemoryStore:
    """A :class:`~scrapy_simhash.store.base.Store` in memory; gone with the process.

    One index per scope: classic tables of *blocks* for a rule without a second look, otherwise one for wide
    distances. A page costs its key and 16 bytes; one whose content is new its URL, a posting and 136 bytes more.
    """

    def __init__(self, rule: Rule | None = None, blocks: int = 6) -> None:
        self._rule = rule or Rule()
        self._blocks = blocks
        self._indexes: dict[str, HammingIndex] = {}
        self._exact: dict[tuple[str, int], int] = {}
        self._numbers: dict[bytes, int] = {}
        # By page number: the latest value, and the cluster it was put in.
        self._values = array("Q")
        self._clusters = array("Q")
        self._urls: dict[int, str] = {}
        # By content number, the key of the indexes: the page that had it first, and its sketch.
        self._pages = array("Q")
        self._sketches = bytearray()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def index_size(self) -> int:
        """How many fingerprints can be found."""
        return len(self._pages)

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. Costs one look-up and one insert."""
        value = posting.fingerprint.value
        number = self._numbers.get(posting.key)
        former = None
        if number is None:
            number = self._numbers[posting.key] = len(self._values)
            self._values.append(value)
            self._clusters.append(number)
        else:
            former = self._values[number]
        kin = (self._find_exact if posting.is_exact else self._find)(posting, number)
        cluster = number if kin is None else kin.cluster
        self._values[number] = value
        self._clusters[number] = cluster
        if kin is None:
            self._urls[number] = posting.url
        if kin is None or cluster == number:
            return Claim(former, number, None, None, None)
        return Claim(former, cluster, self._urls[cluster], kin.distance, kin.similarity)

    def _find(self, posting: Posting, number: int) -> _Kin | None:
        """Return the content that *posting* repeats; if there is none, store it as page *number*'s."""
        fingerprint = posting.fingerprint
        index = self._index(posting.scope)
        found = []
        for match in index.find(fingerprint.value):
            similarity = self._rule.similarity(fingerprint, self._content(match.key, match.value))
            if similarity is not None:
                found.append(_Kin(self._pages[match.key], match.distance, similarity))
        if found:
            # The page itself, else the cluster it is in, else the most alike.
            own = (number, self._clusters[number])
            return min(found, key=lambda kin: (*(kin.cluster != page for page in own), -kin.similarity))
        index.add(fingerprint.value, len(self._pages))
        self._pages.append(number)
        if self._rule.min_similarity:
            self._sketches += fingerprint.sketch or bytes(SKETCH_BYTES)
        return None

    def _find_exact(self, posting: Posting, number: int) -> _Kin | None:
        first = self._exact.setdefault((posting.scope, posting.fingerprint.value), number)
        return None if first == number else _Kin(first, 0, 1.0)

    def _content(self, number: int, value: int) -> Fingerprint:
        # Nothing at all without a second look, zeros for a fingerprint that came without a sketch.
        sketch = bytes(self._sketches[number * SKETCH_BYTES : (number + 1) * SKETCH_BYTES])
        return Fingerprint(value, sketch=sketch if any(sketch) else b"")

    def _index(self, scope: str) -> HammingIndex:
        index = self._indexes.get(scope)
        if index is None:
            reach = self._rule.reach
            index = ProbingIndex(reach) if self._rule.min_similarity else SimhashIndex(reach, self._blocks)
            self._indexes[scope] = index
        return index
