"""Evidence: how often URLs that differ in one part had the same page, what follows from it, and how it is checked."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb
from typing import NamedTuple

#: Lower bounds of the share of equal pages, with 95 % confidence, from which on more of a rule's URLs are skipped.
BOUNDS = (0.90, 0.95, 0.98)
#: Clusters in which there must have been equal pages.
LEAST_CLUSTERS = 10
#: Pairs of one cluster that count: a page that is linked everywhere tells nothing about the others.
MOST_OF_CLUSTER = 6
#: Clusters that are told apart, by their hash.
CLUSTERS = 32
#: Slots of a ring.
SLOTS = 64
#: URLs in a ring under which one cluster came, beyond which it tells nothing: a login wall, a soft 404, empty months.
MOST_UNDER = 3
#: Pairs after which half of all counts are forgotten.
HALF_LIFE = 512
#: Wrong pages after which a rule is given up; the first one lowers its stage.
MOST_WRONG = 2
#: Right pages after which a wrong one is forgiven.
FORGIVEN_AFTER = 149


def lower_bound(same: int, different: int) -> float:
    """Return the share of equal pairs that is exceeded with 95 % confidence (Clopper and Pearson 1934).

    >>> [round(lower_bound(pairs, 0), 3) for pairs in (29, 59, 149)]
    [0.902, 0.95, 0.98]
    >>> round(lower_bound(46, 1), 2)
    0.9
    """
    if not same:
        return 0.0
    if not different:
        return float(0.05 ** (1 / same))
    return _bound_with_errors(same, different)


@lru_cache(maxsize=1_000)
def _bound_with_errors(same: int, different: int) -> float:
    pairs, low, high = same + different, 0.0, 1.0
    while high - low > 1e-4:
        share = (low + high) / 2
        chance = sum(
            comb(pairs, errors) * (1 - share) ** errors * share ** (pairs - errors)
            for errors in range(different + 1)
        )
        low, high = (share, high) if chance < 0.05 else (low, share)
    return low


class Entry(NamedTuple):
    """What a ring has of the latest URL without one part."""

    content: int
    value: int
    """Hash of what the part was."""
    links: int
    """Hash of what its links say, 0 if nobody looked."""


class Ring:
    """The latest URLs without one part: of each its hash, the page that came, and what the part was. 2 KB.

    A slot is found by the hash, so a newer URL may take the place of any older one.
    """

    __slots__ = ("_contents", "_keys", "_latest", "_links", "_values")

    def __init__(self) -> None:
        self._keys = array("Q", bytes(8 * SLOTS))
        self._contents, self._values, self._links = (array("I", bytes(4 * SLOTS)) for _ in range(3))
        #: Hashes of the latest values, of whatever URL.
        self._latest = array("I")

    def find(self, key: int) -> Entry | None:
        """Return what is known of the URL with the hash *key*, None if it is not here."""
        at = key % SLOTS
        found = self._keys[at] == key
        return Entry(self._contents[at], self._values[at], self._links[at]) if found else None

    def put(self, key: int, entry: Entry) -> None:
        """Keep a URL; *key* is not 0."""
        at = key % SLOTS
        self._keys[at] = key
        self._contents[at], self._values[at], self._links[at] = entry

    def note(self, value: int) -> None:
        """Take note of the hash of a value."""
        if len(self._latest) >= SLOTS:
            del self._latest[: SLOTS // 2]
        self._latest.append(value)

    def empty(self) -> None:
        """Forget the URLs, but not the values."""
        self._keys = array("Q", bytes(8 * SLOTS))
        self._contents = array("I", bytes(4 * SLOTS))

    def times_under(self, content: int) -> int:
        """Return under how many of these URLs *content* came."""
        return self._contents.count(content)

    @property
    def has_several_values(self) -> bool:
        """Whether there was more than one value."""
        return len(self._latest) > 1 and self._latest.count(self._latest[-1]) < len(self._latest)

    @property
    def values_are_fresh(self) -> bool:
        """Whether nearly every URL has a value of its own, as with session ids."""
        return len(self._latest) >= 16 and len(set(self._latest)) >= 0.9 * len(self._latest)


@dataclass(slots=True)
class Evidence:
    """Pairs of pages for and against one rule."""

    prior: int = 0
    """For how many equal pairs it counts that the rule is known from other sites."""
    same: int = 0
    different: int = 0
    clusters: bytearray = field(default_factory=lambda: bytearray(CLUSTERS))
    """Of the clusters, by their hash, how often each had equal pages."""
    wrong: int = 0
    """Pages that were not those that the rule in force had said; each costs it a stage."""
    right: int = 0
    """Pages that were, since the latest wrong one."""
    since: int = 0
    """When it was first in force, in seconds of Unix time; 0 for never."""
    skipped: int = 0
    """Requests that were skipped, or would have been."""
    stage: int = 0
    """How far the rule is believed: 0 for not at all, up to 3."""

    @property
    def counted_clusters(self) -> int:
        """In how many clusters there were equal pages, at least; at most `CLUSTERS`."""
        return CLUSTERS - self.clusters.count(0)

    @property
    def loss(self) -> float:
        """The share of pages that may be lost, with 95 % confidence; without any different pair 3 / pairs."""
        return 1.0 - lower_bound(self.same, self.different)

    @property
    def is_hopeless(self) -> bool:
        """Whether it is surely no rule."""
        return self.different >= 4 and self.different * 4 > self.same

    def has_enough_of(self, content: int) -> bool:
        """Tell whether one more equal pair of *content* would not count."""
        return self.clusters[content % CLUSTERS] >= MOST_OF_CLUSTER

    def add(self, content: int, is_same: bool) -> None:
        """Count a pair of pages."""
        if is_same:
            if self.has_enough_of(content):
                return
            self.clusters[content % CLUSTERS] += 1
            self.same += 1
        else:
            self.different += 1
        if self.same + self.different >= HALF_LIFE:
            self.same //= 2
            self.different //= 2
        if min(self.clusters) >= MOST_OF_CLUSTER:
            # All have told what they may: from now on they may tell it again.
            self.clusters = bytearray([1] * CLUSTERS)
        self._find_stage()

    def answer(self, content: int, is_right: bool) -> bool:
        """Count a page that the rule in force knew beforehand, and return whether the rule is given up."""
        self.add(content, is_right)
        if is_right:
            self.right += 1
            if self.right >= FORGIVEN_AFTER:
                self.right = self.wrong = 0
        else:
            self.right = 0
            self.wrong += 1
        self._find_stage()
        if self.wrong < MOST_WRONG:
            return False
        # It has to be earned again, with its errors among the counts.
        self.same, self.clusters = 0, bytearray(CLUSTERS)
        self.wrong = self.right = self.stage = 0
        return True

    def _find_stage(self) -> None:
        if self.counted_clusters < LEAST_CLUSTERS:
            self.stage = 0
            return
        bound = lower_bound(self.same + self.prior, self.different)
        self.stage = max(0, sum(bound >= least for least in BOUNDS) - self.wrong)

    def add_since(self, shared: list[int] | None, other: Evidence) -> None:
        """Add what *other* has counted since to_list() of it was *shared*, None for never."""
        same, different, _, wrong, _, skipped = shared or [0] * 6
        self.same = max(0, self.same + other.same - same)
        self.different = max(0, self.different + other.different - different)
        self.clusters = bytearray(map(max, self.clusters, other.clusters))
        self.wrong = max(0, self.wrong + other.wrong - wrong)
        self.since = min(filter(None, (self.since, other.since)), default=0)
        self.skipped += other.skipped - skipped
        self._find_stage()

    def to_list(self) -> list[int]:
        """Return what outlives the crawl."""
        return [self.same, self.different, self.counted_clusters, self.wrong, self.since, self.skipped]

    @classmethod
    def from_list(cls, kept: list[int], *, prior: int = 0) -> Evidence:
        """Return what to_list() gave. Raises ValueError for anything else."""
        if len(kept) != 6 or not all(isinstance(number, int) and number >= 0 for number in kept):
            raise ValueError(f"evidence must be six numbers, got {kept}")
        evidence = cls(prior=prior)
        evidence.same, evidence.different, clusters, evidence.wrong, evidence.since, evidence.skipped = kept
        evidence.clusters = bytearray(number < clusters for number in range(CLUSTERS))
        evidence._find_stage()
        return evidence


#: At most one in so many requests is a check, and one for each doubling of what rules match.
EXPLORED = 20
#: But one of so many matches is a check in any case, so that what was skipped since the last one is still kept to be
#: sent; or one of so many times the matches of a request that is sent, so that what the checks bring comes to an end.
MOST_UNCHECKED, UNCHECKED_OF_SENT = 500, 20


@dataclass(slots=True)
class Checks:
    """Counts of one host. The bound is on what is sent, never on the links seen."""

    requests: int = 0
    """Requests that were sent to the host, where that is known."""
    sent: int = 0
    """Requests that were sent although they need not be."""
    matched: int = 0
    """Requests that rules matched."""
    _explored: int = 0
    _unchecked: int = 0

    def is_overdue(self) -> bool:
        """Tell whether one more is to be sent whatever else holds; to be asked once."""
        self._unchecked += 1
        if self._unchecked < max(MOST_UNCHECKED, UNCHECKED_OF_SENT * self.matched // max(1, self.requests)):
            return False
        self._unchecked = 0
        return True

    def is_due(self) -> bool:
        """Tell whether one more is to be sent; to be asked once."""
        if (self._explored - self.matched.bit_length()) * EXPLORED >= self.requests:
            return False
        self._explored += 1
        return True

    def use_up(self) -> None:
        """Take all that may have been sent by now as sent."""
        self._explored = self.matched.bit_length() + self.requests // EXPLORED
