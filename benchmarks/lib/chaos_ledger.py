"""What the crawlers of ``chaos`` have told, and what must be true of it whatever went wrong meanwhile."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import NamedTuple

from benchmarks.lib.chaos_crawler import cluster_of, key_of, number_of, posting_of
from scrapy_simhash.store import Claim, Page


class Try(NamedTuple):
    """A claim that was sent, and the answer, if one came."""

    life: int
    """Number of the run in which it was sent: a crawler has a new one whenever it opens the store."""
    crawler: int
    key: str
    seen: int
    began: int
    """Nanoseconds, of the clock that all processes have; so is *ended*."""
    ended: int = 0
    claim: Claim | None = None


class Ledger:
    """Takes what crawlers tell, each with a number that no other one has at the same time."""

    def __init__(self) -> None:
        self.tries: dict[tuple[int, int], Try] = {}
        #: Claims that were refused, by what the store said; claims that were answered, by crawler.
        self.refused: Counter[str] = Counter()
        self.heard: Counter[int] = Counter()
        #: What crawlers ended with, that nobody had killed.
        self.failures: list[str] = []
        self.lives = 0
        self._life: dict[int, int] = {}
        #: The lives in which pages may have been delivered.
        self._delivering: dict[str, set[int]] = defaultdict(set)
        #: Numbers of the latest page and claim of each crawler.
        self._ends: dict[int, tuple[int, int]] = {}
        # Each crawler is heard by a thread of its own.
        self._turn = Lock()

    def begin(self, crawler: int) -> tuple[int, int]:
        """Return the numbers of the latest page and the latest claim for a crawler that begins, or begins anew."""
        with self._turn:
            self._begin_life(crawler)
            return self._ends.setdefault(crawler, (0, crawler << 28))

    def take(self, crawler: int, told: tuple[object, ...]) -> None:
        """Take what a crawler tells, see ``chaos_crawler.crawl``."""
        with self._turn:
            self._take(crawler, told)

    def _take(self, crawler: int, told: tuple[object, ...]) -> None:
        match told:
            case ("tried", str(key), int(seen), int(began)):
                self._ends[crawler] = max(self._ends[crawler][0], number_of(key)), seen
                self.tries[crawler, seen] = Try(self._life[crawler], crawler, key, seen, began)
            case ("heard", int(seen), int(ended), Claim() as claim):
                one = self.tries[crawler, seen]
                self.tries[crawler, seen] = one._replace(ended=ended, claim=claim)
                self.heard[crawler] += 1
            case ("refused", int(), str(why)):
                self.refused[why] += 1
            case ("delivering", str(key)):
                self._delivering[key].add(self._life[crawler])
            case ("closing",):
                pass
            case ("closed",):
                self._begin_life(crawler)
            case ("failed", str(what)):
                self.failures.append(f"crawler {crawler} failed: {what}")
            case _:
                raise AssertionError(told)

    def _begin_life(self, crawler: int) -> None:
        self.lives += 1
        self._life[crawler] = self.lives

    def faults(self, kept: Mapping[str, Page]) -> list[str]:
        """Return, in words, what is not as it must be with *kept*, the pages of the store by their keys."""
        pages: dict[str, list[Try]] = defaultdict(list)
        clusters: dict[int, list[Try]] = defaultdict(list)
        for one in self.tries.values():
            pages[one.key].append(one)
            clusters[cluster_of(one.key)].append(one)
        found = [fault for key, tries in pages.items() for fault in self._faults_of_page(key, tries, kept)]
        found += [fault for number, tries in clusters.items() for fault in _faults_of_cluster(number, tries)]
        found += [f"{key} is there, and nobody claimed it" for key in kept.keys() - pages.keys()]
        return found + self.failures

    def _faults_of_page(self, key: str, tries: list[Try], kept: Mapping[str, Page]) -> Iterator[str]:
        heard = [one for one in tries if one.claim is not None]
        page = kept.get(key)
        if page is None:
            if heard:
                yield f"{key} is lost"
            return
        latest = [one for one in tries if one.seen == page.posting.seen]
        if not latest:
            yield f"{key} is there as of a claim that nobody sent"
        elif latest[0].claim is not None and any(other.began > latest[0].ended for other in heard):
            yield f"{key} is there as of an older claim than was acknowledged"
        if page.posting.fingerprint.value != posting_of(key, 0).fingerprint.value:
            yield f"{key} has another fingerprint"
        yield from _wrong_original(key, page.original)
        for one in heard:
            assert one.claim is not None
            yield from _wrong_original(key, one.claim.original)
            former = one.claim.former
            if former is not None and former.is_delivered and not self._delivering[key] - {one.life}:
                yield f"{key} was called delivered, and no other run has delivered it"


def _wrong_original(key: str, original: str | None) -> Iterator[str]:
    if original is None:
        return
    if key_of(original) == key:
        yield f"{key} is called a duplicate of itself"
    elif cluster_of(key_of(original)) != cluster_of(key):
        yield f"{key} is called a duplicate of {key_of(original)}"


def _faults_of_cluster(number: int, tries: list[Try]) -> Iterator[str]:
    claims = [one.claim for one in tries if one.claim is not None]
    new = sum(claim.former is None and claim.original is None for claim in claims)
    # One that nobody heard of may have been the first.
    least = 1 if len(claims) == len(tries) else 0
    if not least <= new <= 1:
        yield f"cluster {number} has {new} new pages"
    if len({claim.cluster for claim in claims}) > 1:
        yield f"cluster {number} has several numbers"
