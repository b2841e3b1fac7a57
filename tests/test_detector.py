from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scrapy_simhash import (
    Config,
    Fingerprint,
    NearDuplicateDetector,
    Reason,
    Status,
    StoreUnavailable,
    Verdict,
)
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.store import Claim, Header, Posting
from scrapy_simhash.store.sqlite import SqliteStore
from tests.golden.texts import TEXTS
from tests.store.remote import RemoteStore

A, B, C, D = (f"https://example.com/{name}" for name in "abcd")
ENGLISH, GERMAN = (f"<main><p>{TEXTS[language]}</p></main>" for language in ("en", "de"))
NOW = 1_790_000_000
FAR = 0xFFFF_0000_FFFF_0000


@pytest.fixture
def detector() -> NearDuplicateDetector:
    return NearDuplicateDetector(clock=lambda: NOW)


def judged(detector: NearDuplicateDetector, *visits: tuple[int, str]) -> Verdict:
    """Check pages with the given fingerprints in order; return the last verdict."""
    return [detector.conclude(Reading(Fingerprint(value), None), url) for value, url in visits][-1]


@pytest.mark.parametrize(
    ("visits", "status", "duplicate_of", "distance", "cluster", "reason"),
    [
        ([(0, A)], Status.NEW, None, None, 0, None),
        ([(0, A), (FAR, B)], Status.NEW, None, None, 1, None),
        ([(0, A), (0, B)], Status.NEAR_DUPLICATE, A, 0, 0, None),
        ([(0, A), (0b111, B)], Status.NEAR_DUPLICATE, A, 3, 0, None),
        ([(0, A), (0b1111, B)], Status.NEW, None, None, 1, None),
        ([(0, A), (0b111, B), (0b111111, C)], Status.NEW, None, None, 2, None),  # no chains
        ([(0, A), (0, A)], Status.REVISIT, None, 0, 0, Reason.UNCHANGED),
        ([(0, A), (0b11, A)], Status.REVISIT, None, 2, 0, Reason.SMALL_CHANGE),
        ([(0, A), (FAR, A)], Status.REVISIT, None, 32, 1, Reason.CHANGED),
        ([(0, A), (1, B), (1, B)], Status.REVISIT, A, 0, 0, Reason.UNCHANGED),
        # The distance is measured from the former text.
        ([(0, A), (FAR, B), (1, B)], Status.REVISIT, A, 33, 0, Reason.NOW_NEAR_DUPLICATE),
        ([(0, A), (1, B), (FAR, B)], Status.REVISIT, None, 33, 2, Reason.CHANGED),
    ],
)
def test_verdicts(
    detector: NearDuplicateDetector,
    visits: list[tuple[int, str]],
    status: Status,
    duplicate_of: str | None,
    distance: int | None,
    cluster: int,
    reason: Reason | None,
) -> None:
    found = judged(detector, *visits)
    value = visits[-1][0]
    # Without sketches the distance decides. The value of A is 0.
    similarity = None if duplicate_of is None else 1 - value.bit_count() / 64
    expected = Verdict(
        status,
        Fingerprint(value),
        duplicate_of,
        distance,
        similarity,
        cluster,
        reason,
        last_seen=NOW if status is Status.REVISIT else None,
        rank=0 if duplicate_of is None else 1,
    )
    assert found == expected
    assert found.is_duplicate == (duplicate_of is not None)


# --- Pages too short for a fingerprint.


def caption(text: str) -> str:
    return f"<title>The sail loft</title><nav><a href=/>Home</a></nav><main><p>{text}</p></main>"


LOFT, STORE = caption("The loft in the rain."), caption("The net store at noon.")


def test_a_short_page_is_skipped_unless_it_has_exactly_the_text_of_another(
    detector: NearDuplicateDetector,
) -> None:
    skipped = Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
    assert detector.check(LOFT, A) == detector.check(STORE, B) == skipped
    assert detector.check(LOFT.replace("rain.", "rain?"), C) == skipped
    found = detector.check(LOFT + "<footer>Since 1962</footer>", D)
    expected = Verdict(Status.NEAR_DUPLICATE, None, A, 0, 1.0, 0, Reason.SHORT_TEXT, is_exact=True, rank=1)
    assert found == expected
    assert detector.store.index_size == 0


def test_a_page_with_little_text_beside_its_menus_is_not_a_copy_of_another(
    detector: NearDuplicateDetector,
) -> None:
    html = caption("Scroll to top").replace("Home", "Home, albums, contact, legal")
    for url in (A, B, A):
        assert detector.check(html, url) == Verdict(Status.SKIPPED, reason=Reason.SHORT_TEXT)
    first, again, other = (detector.fingerprinter.read(html, url=url).page_hash for url in (A, A, B))
    assert first == again != other


def test_a_short_page_that_grew_is_a_changed_revisit(
    detector: NearDuplicateDetector,
) -> None:
    detector.check(LOFT, A)
    grown = detector.check(ENGLISH, A)
    assert (grown.status, grown.reason) == (Status.REVISIT, Reason.CHANGED)
    assert grown.distance is None, "a short page has no fingerprint to compare"
    assert detector.check(LOFT, B).duplicate_of is None, "a copy of a former text is new"
    again = detector.check(ENGLISH, A)
    assert (again.reason, again.distance) == (Reason.UNCHANGED, 0)
    assert len(detector.store) == 2


@pytest.mark.parametrize("make", [lambda header: SqliteStore(header=header), RemoteStore])
def test_a_page_that_was_short_or_long_in_between_is_not_unchanged(make: Callable[[Header], Any]) -> None:
    detector = NearDuplicateDetector(store=make(header_for(Config())))

    def fate(html: str, url: str = A) -> Reason | None:
        return asyncio.run(detector.conclude_async(detector.fingerprinter.read(html), url)).reason

    fate(LOFT, B)
    assert [fate(html) for html in (ENGLISH, ENGLISH, LOFT, LOFT, ENGLISH, LOFT)] == [
        *(None, Reason.UNCHANGED),
        *(Reason.NOW_NEAR_DUPLICATE, Reason.UNCHANGED),
        *(Reason.CHANGED, Reason.NOW_NEAR_DUPLICATE),
    ]


def test_a_remote_store_works_without_an_event_loop() -> None:
    store = RemoteStore(header_for(Config()))
    detector = NearDuplicateDetector(store=store)
    assert detector.check(ENGLISH, A).status is Status.NEW
    assert detector.check(ENGLISH, B).duplicate_of == A
    detector.deliver(A.encode(), 1)
    detector.close("done")
    assert (len(store), store.store.runs()[0].reason) == (2, "done")

    async def check() -> None:
        detector.check(ENGLISH, A)

    with pytest.raises(TypeError, match=r"await conclude_async\(\)"):
        asyncio.run(check())


def test_deliveries_are_stored_before_the_next_claim_of_the_page_or_in_batches() -> None:
    delivered: list[set[bytes]] = []

    class Noting(SqliteStore):
        def deliver(self, pages: Mapping[bytes, int | None]) -> None:
            delivered.append(set(pages))

    detector = NearDuplicateDetector(store=Noting(header=header_for(Config())))
    detector.check(ENGLISH, A)
    detector.deliver(A.encode(), 1)
    detector.check(ENGLISH, B)
    assert delivered == []
    detector.check(ENGLISH, A)
    detector.check(ENGLISH, A)
    assert delivered == [{A.encode()}]
    for number in range(500):
        detector.deliver(b"%d" % number, 1)
    detector.check(ENGLISH, C)
    assert [len(keys) for keys in delivered] == [1, 500]
    detector.flush()
    assert len(delivered) == 2


def test_a_delivery_that_could_not_be_stored_is_stored_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreUnavailable("not now")

    detector = NearDuplicateDetector()
    delivered: list[bytes] = []
    detector.check(ENGLISH, A)
    detector.deliver(A.encode(), 1)
    monkeypatch.setattr(SqliteStore, "deliver", fail)
    with pytest.raises(StoreUnavailable):
        detector.check(GERMAN, A)
    assert detector.check(GERMAN, B).status is Status.NEW, "other pages can be claimed"
    monkeypatch.setattr(SqliteStore, "deliver", lambda _, pages: delivered.extend(pages))
    assert detector.check(GERMAN, A).reason is Reason.NOW_NEAR_DUPLICATE
    assert delivered == [A.encode()]


class Slow(RemoteStore):
    """Stores deliveries slowly; records the order of operations."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.steps: list[str] = []
        self.fails = 0

    async def claim(self, posting: Posting) -> Claim:
        self.steps.append("claim")
        return await super().claim(posting)

    async def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        self.steps.append("begin")
        for _ in range(20):
            await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("not now")
        self.steps.append("end")


def test_a_delivery_recorded_during_a_write_is_stored_and_a_claim_waits_for_both() -> None:
    async def steps(*, fails: int) -> list[str]:
        store = Slow(header_for(Config()))
        store.fails = fails
        detector = NearDuplicateDetector(store=store)
        english = detector.fingerprinter.read(ENGLISH)
        detector.deliver(A.encode(), 1)
        first = asyncio.create_task(detector.flush_async())
        while "begin" not in store.steps:
            await asyncio.sleep(0)
        # A claim has ended meanwhile, and its page is delivered too.
        detector.deliver(A.encode(), 1)
        claim = asyncio.create_task(detector.conclude_async(english, A))
        await asyncio.gather(first, claim, return_exceptions=True)
        assert first.exception() is None or fails
        return store.steps

    assert asyncio.run(steps(fails=0)) == ["begin", "end", "begin", "end", "claim"]
    assert asyncio.run(steps(fails=1)) == ["begin", "begin", "end", "claim"]
