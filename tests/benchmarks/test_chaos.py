"""Stores keep their promises while everything goes wrong; and it is noticed if they do not."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest

from benchmarks import chaos
from benchmarks.lib.chaos_crawler import posting_of, url_of
from benchmarks.lib.chaos_ledger import Ledger
from benchmarks.lib.chaos_stage import REDIS, SQLITE
from scrapy_simhash.store import Claim, Page, Visit


@pytest.mark.parametrize("store", chaos.STORES)
@pytest.mark.parametrize(
    ("seed", "seconds"),
    [(1, 3), pytest.param(2, 15, marks=pytest.mark.slow("things go wrong for a quarter of a minute"))],
)
def test_whatever_happens_what_was_acknowledged_is_true(
    store: str, seed: int, seconds: int, capsys: pytest.CaptureFixture[str]
) -> None:
    if store == REDIS:
        pytest.importorskip("redis")
    options = ["--seed", str(seed), "--seconds", str(seconds), "--stores", store, "--json"]
    status = chaos.main(["--only", "claims", *options])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["faults"]) == (0, [])
    found = result[f"claims, {store}"]
    assert found["acknowledged"] >= found["pages"] > 0
    assert store == SQLITE or found["refused"] > 0, "nothing went wrong"


@pytest.mark.slow("it starts a process for each kill, and two more for each generation")
def test_no_page_and_no_change_is_lost_or_told_twice_by_kills(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chaos, "KILLS", 2)
    status = chaos.main(["--only", "crawls", "changes", "--kills", "3", "--pages", "200", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["faults"], result["crawls"]["kills"]) == (0, [], 3)
    assert result["changes"]["changes"] > 50


A, B, C = "0-3", "1-3", "1-4"  # of cluster 1
ELSEWHERE = "0-9"


def claim(number: int, original: str | None = None, former: Visit | None = None) -> Claim:
    return Claim(former, number, None if original is None else url_of(original), 0, 1.0)


def delivered(seen: int) -> Visit:
    return Visit(0, None, seen, 0, is_delivered=True)


class Told:
    """A ledger that hears of one claim after another, and a store that keeps all of them."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.kept: dict[str, Page] = {}
        self._time = time.monotonic_ns()
        self._seen: dict[int, int] = {}

    def begin(self, crawler: int) -> None:
        _, self._seen[crawler] = self.ledger.begin(crawler)

    def claim(self, key: str, answer: Claim | None, crawler: int = 0) -> int:
        if crawler not in self._seen:
            self.begin(crawler)
        self._seen[crawler] += 1
        self._time += 2
        seen = self._seen[crawler]
        self.ledger.take(crawler, ("tried", key, seen, self._time))
        if answer is not None:
            self.ledger.take(crawler, ("heard", seen, self._time + 1, answer))
            self.keep(key, seen, answer)
        return seen

    def keep(self, key: str, seen: int, answer: Claim) -> None:
        self.kept[key] = Page(0, posting_of(key, seen), answer.cluster, answer.original)

    @property
    def faults(self) -> list[str]:
        return self.ledger.faults(self.kept)


@pytest.fixture
def told() -> Told:
    """Two claims that are right."""
    told = Told()
    told.claim(A, claim(0))
    told.claim(B, claim(0, A), crawler=1)
    assert told.faults == []
    return told


def test_a_page_that_was_acknowledged_and_is_not_there_is_lost(told: Told) -> None:
    del told.kept[B]
    assert told.faults == [f"{B} is lost"]


def test_a_page_that_nobody_has_claimed_is_noticed(told: Told) -> None:
    told.keep(C, 1, claim(0, A))
    assert told.faults == [f"{C} is there, and nobody claimed it"]


@pytest.mark.parametrize(
    ("claims", "fault"),
    [
        ({C: claim(0)}, "cluster 1 has 2 new pages"),
        ({C: claim(7, A)}, "cluster 1 has several numbers"),
        ({C: claim(0, C)}, f"{C} is called a duplicate of itself"),
        ({ELSEWHERE: claim(0, A)}, f"{ELSEWHERE} is called a duplicate of {A}"),
    ],
)
def test_a_wrong_answer_is_noticed(told: Told, claims: Mapping[str, Claim], fault: str) -> None:
    for key, answer in claims.items():
        told.claim(key, answer)
    assert fault in told.faults


def test_a_cluster_without_a_new_page_is_noticed_unless_an_answer_is_missing() -> None:
    told = Told()
    told.claim(B, claim(0, A))
    assert told.faults == ["cluster 1 has 0 new pages"]
    told.claim(A, None)
    assert told.faults == []


def test_a_page_as_of_an_older_claim_than_was_acknowledged_is_noticed(told: Told) -> None:
    first = told.claim(C, claim(0, A))
    told.claim(C, claim(0, A, delivered(0)._replace(is_delivered=False)))
    told.keep(C, first, claim(0, A))
    assert told.faults == [f"{C} is there as of an older claim than was acknowledged"]


def test_a_claim_without_an_answer_may_have_been_stored_or_not(told: Told) -> None:
    first = told.claim(C, claim(0, A))
    late = told.claim(C, None)
    assert told.faults == []
    told.claim(C, claim(0, A, delivered(0)._replace(is_delivered=False)))
    told.keep(C, late, claim(0, A))
    assert told.faults == [], "it was on its way for long"
    told.keep(C, first, claim(0, A))
    assert told.faults != []


@pytest.mark.parametrize(
    ("events", "is_right"),
    [
        ([("closed",)], False),
        ([("delivering", C), ("closed",)], True),
        ([("delivering", A), ("closed",)], False),
        ([("delivering", C)], False),
    ],
)
def test_a_page_is_delivered_by_another_run_only(
    told: Told, events: list[tuple[str, ...]], is_right: bool
) -> None:
    seen = told.claim(C, claim(0, A))
    for event in events:
        told.ledger.take(0, event)
    told.claim(C, claim(0, A, delivered(seen)))
    assert told.faults == (
        [] if is_right else [f"{C} was called delivered, and no other run has delivered it"]
    )


def test_a_crawler_that_fails_is_a_fault(told: Told) -> None:
    told.ledger.take(0, ("failed", "ValueError: why"))
    assert told.faults == ["crawler 0 failed: ValueError: why"]
