"""ItemChecker: an item in, a ruling out: what it repeats, and whether it can be dropped without a loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from scrapy_simhash.crawl.items.fields import TooLarge
from scrapy_simhash.crawl.items.fingerprint import ItemFingerprinter, ItemReading
from scrapy_simhash.detector import NearDuplicateDetector, verdict_of
from scrapy_simhash.recent import Recent
from scrapy_simhash.store import Claim, Page, Posting, Visit
from scrapy_simhash.verdict import Reason, Status, Verdict
from scrapy_simhash.waiting import awaited


class Ruling(NamedTuple):
    """What was concluded about an item."""

    verdict: Verdict
    is_dispensable: bool = False
    """Whether what it repeats is safe: delivered in this run, or in one that has ended in order."""
    key: bytes | None = None
    """Which item it is; None if there was nothing to check."""


class ItemChecker:
    """Judges the items of one crawl, each against all that came before, in the store of *detector*.

    An item is dispensable if it repeats one that somebody has. Of a run that was killed nobody knows what became of
    its items, so the first item that repeats one of those stays, and takes its place. (What another crawler has found
    since this run began is taken for safe: it cannot be told from what it is about to lose.)

    *remembers* says whether what is checked is kept; *drops* whether dispensable items will be dropped. *clock* tells
    when an item comes, in seconds of Unix time.
    """

    def __init__(
        self,
        detector: NearDuplicateDetector,
        *,
        remembers: bool = True,
        drops: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._fingerprinter = ItemFingerprinter(detector.config)
        self._detector = detector
        self._remembers = remembers
        self._drops = drops
        self._clock = clock
        self._began = int(clock())
        self._near = detector.fingerprinter.rule
        #: Whether any item so far had a value in SIMHASH_ITEM_KEY.
        self.has_met_key = False
        # By its key, what an item says, as the number of the content: of those that came in this run and were neither
        # dropped nor lost, and of some that are settled.
        self._safe: dict[bytes, int] = {}
        # Keys of the items that came in this run, and were dropped or lost.
        self._gone: set[bytes] = set()
        # By their key, those that wait for the store. What repeats one of them need not wait for its ruling.
        self._waiting: dict[bytes, list[Posting]] = {}
        # By content, the key of an item that stayed since nobody knows what became of those before it.
        self._replacements: dict[int, bytes] = {}

    async def check(self, item: Any) -> Ruling:
        """Return the ruling on *item*, and remember it; any number of items may wait for a remote store at once.

        Raises StoreUnavailable when the store does not work, and whatever an odd item raises when it is read.
        """
        try:
            case = self._fingerprinter.read(item, int(self._clock()))
        except TooLarge:
            return Ruling(Verdict(Status.SKIPPED, reason=Reason.TOO_LARGE))
        if case is None:
            return Ruling(Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT))
        self.has_met_key |= case.has_identity
        with self._counted(case.posting):
            claim, original = await self._detector.claim(case.posting, self._remembers), None
            # What became of the item that this one repeats, if it matters and only the store knows.
            if self._drops and claim.original_key is not None and not self._is_safe(case, claim):
                original = await awaited(self._detector.store.get(claim.original_key))
            return self._rule(case, claim, original)

    def key_of(self, item: Any) -> bytes | None:
        """Return which item *item* is, None if it says nothing. Raises what an odd item raises when it is read."""
        reading = self._fingerprinter.read(item)
        return None if reading is None else reading.posting.key

    def lose(self, key: bytes) -> None:
        """Note that the item *key* was lost after it had been checked: what repeats it is not dispensable for it."""
        self._safe.pop(key, None)
        self._gone.add(key)
        self._replacements = {cluster: other for cluster, other in self._replacements.items() if other != key}
        if self._remembers:
            self._detector.unsettle(key)

    @contextmanager
    def _counted(self, posting: Posting) -> Iterator[None]:
        """Count an item among those that wait for the store."""
        waiting = self._waiting.setdefault(posting.key, [])
        waiting.append(posting)
        try:
            yield
        finally:
            waiting.remove(posting)
            if not waiting:
                del self._waiting[posting.key]

    def _is_safe(self, case: ItemReading, claim: Claim) -> bool:
        """Tell whether it is known here that what *case* repeats was delivered, in this run or in one that has ended.

        An item without an identity may repeat itself.
        """
        key, former = case.posting.key, claim.former
        if former is not None and not case.has_identity:
            # Of twins that wait together the one that is ruled on last stays, or the one that was first at the store.
            has_twin = key in self._safe or len(self._waiting[key]) > 1
            if has_twin or self._is_elsewhere(key, former):
                return True
        if claim.original is None:
            return False
        if self._replacements.get(claim.cluster, key) != key:
            return True
        original = claim.original_key
        if original is None:
            return False
        # An item may have said this once, and say something else by now.
        return self._safe.get(original) == claim.cluster or any(
            self._is_near(case.posting, other) for other in self._waiting.get(original, ())
        )

    def _is_elsewhere(self, key: bytes, visit: Visit | Posting) -> bool:
        """Tell whether an item was delivered in a run that has ended, or by a crawler that runs beside this one.

        That is so if it came since this run began, and not in this run. Only a remote store is shared by
        crawlers that run at the same time. What came later than now is from a run whose clock was wrong.
        """
        is_settled = visit.is_settled if isinstance(visit, Visit) else visit.is_delivered
        return is_settled or (
            self._detector.store.is_remote
            and self._began < visit.seen <= self._clock()
            and key not in self._gone
        )

    def _is_near(self, one: Posting, other: Posting) -> bool:
        if one.is_short or other.is_short:
            return (one.is_short, one.text_hash) == (other.is_short, other.text_hash)
        return self._near.similarity(one.fingerprint, other.fingerprint) is not None

    def _rule(self, case: ItemReading, claim: Claim, original: Page | None) -> Ruling:
        """Return the ruling, with what the store knows of the *original* if it was asked."""
        key, former = case.posting.key, claim.former
        if original is not None and original.cluster == claim.cluster:
            if self._is_elsewhere(original.posting.key, original.posting):
                self._safe[original.posting.key] = claim.cluster
        elif claim.original is None and former is not None and self._is_elsewhere(key, former):
            self._safe[key] = claim.cluster
        is_safe = self._is_safe(case, claim)
        verdict = self._verdict(case, claim, is_safe)
        is_dispensable = verdict.is_duplicate and is_safe
        if is_dispensable and self._drops:
            if key not in self._safe:
                self._gone.add(key)
            if claim.original is not None and self._remembers:
                self._detector.unsettle(key)
            return Ruling(verdict, is_dispensable, key)
        self._safe[key] = claim.cluster
        self._gone.discard(key)
        if self._drops and verdict.is_duplicate:
            # It stays though it is a copy.
            self._replacements[claim.cluster] = key
        return Ruling(verdict, is_dispensable, key)

    def _verdict(self, case: ItemReading, claim: Claim, is_safe: bool) -> Verdict:
        """Return what *claim* says, in the words of items: one without an identity does not come again."""
        verdict = verdict_of(case.posting._replace(is_short=False), claim)
        is_short = case.posting.is_short
        if not case.has_identity and claim.former is not None:
            if claim.original is not None:
                verdict = replace(verdict, status=Status.NEAR_DUPLICATE, distance=claim.distance, reason=None)
            elif is_safe:
                verdict = replace(
                    verdict,
                    status=Status.NEAR_DUPLICATE,
                    duplicate_of=case.posting.url,
                    similarity=1.0,
                    reason=None,
                    is_exact=True,
                )
        if is_short:
            reason = verdict.reason if verdict.status is Status.REVISIT else Reason.SHORT_TEXT
            verdict = replace(verdict, fingerprint=None, distance=claim.distance, reason=reason)
        return verdict


#: Items beyond which the oldest is no longer waited for: if a later pipeline hands on another object, nobody can tell
#: that it has arrived.
MOST = 10_000


class InFlight:
    """Knows the items that have been checked and have not arrived yet, as objects and by their key.

    >>> on_the_way, kettle = InFlight(), {"name": "Kettle"}
    >>> on_the_way.add(kettle, b"1")
    >>> on_the_way.lose({"name": "another"}, lambda item: b"2") is None, on_the_way.lose(kettle, lambda item: None)
    (True, b'1')
    """

    def __init__(self) -> None:
        # By identity: nobody else gets that of an object for as long as it is held here.
        self._items: Recent[int, tuple[Any, bytes]] = Recent(MOST)

    def __len__(self) -> int:
        """Return how many are waited for."""
        return len(self._items)

    def add(self, item: Any, key: bytes) -> None:
        """Wait for *item*."""
        self._items[id(item)] = (item, key)

    def arrive(self, item: Any) -> None:
        """Wait no longer for *item*."""
        self._items.pop(id(item), None)

    def lose(self, item: Any, key_of: Callable[[Any], bytes | None]) -> bytes | None:
        """Return the key of an item that was lost, None if nobody waits for it: an earlier pipeline dropped it.

        The signal names the item as the spider yielded it. If an earlier pipeline has delivered another object,
        *key_of* tells which is meant.
        """
        known = self._items.pop(id(item), None)
        if known is not None:
            return known[1]
        key = key_of(item)
        twins = [identity for identity, (_, other) in self._items.items() if other == key]
        if not twins:
            return None
        del self._items[twins[0]]
        return key
