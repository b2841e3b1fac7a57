"""Skipped requests: the number kept, and those sent while the spider is idle."""

from __future__ import annotations

from typing import Any, cast

from scrapy_simhash.observers.url_rules.kept import (
    CHECKED_AT,
    CHECKED_WHEN_IDLE,
    MAX_OF_HOST,
    MAX_SAMPLE,
    MIN_CHECKED,
    OUTAGE,
    KeptRequests,
    Reason,
)
from scrapy_simhash.observers.url_rules.urls import parsed_rule

TRAP = Reason("a.example", parsed_rule("trap /day/{number}"))
RULE = Reason("a.example", parsed_rule("parameter sid"))


def kept(reason: Reason, number: int) -> KeptRequests:
    """Return kept requests, with numbers instead of the requests themselves."""
    found = KeptRequests()
    for each in range(number):
        found.add(reason, cast("Any", each), each)
    return found


def taken(requests: KeptRequests, reason: Reason) -> list[Any]:
    return list(requests.take(reason))


def test_the_latest_requests_of_a_rule_are_kept_and_others_are_counted() -> None:
    requests = kept(RULE, MAX_OF_HOST + 5)
    assert requests.lost[RULE] == 5
    assert taken(requests, RULE) == list(range(5, MAX_OF_HOST + 5))


def test_two_requests_with_one_key_are_both_kept() -> None:
    requests = kept(TRAP, 1)
    requests.add(TRAP, cast("Any", "other"), 0)
    assert requests.holds(TRAP, 0)
    assert taken(requests, TRAP) == [0, "other"]


def test_the_latest_request_of_a_trap_is_checked_first_and_checks_are_bounded() -> None:
    requests, sent = kept(TRAP, 1_000), 0
    first = requests.check(TRAP, 0.0, 0.0)
    assert first is not None
    assert 999 in cast("list[Any]", first)
    while (more := requests.check(TRAP, 0.0, 0.0)) is not None:
        sent += len(more)
        # Each page also has many skipped links.
        for each in range(100 * len(more)):
            requests.add(TRAP, cast("Any", (sent, each)), hash((sent, each)))
    assert len(first) + sent <= MIN_CHECKED + 1_000 // CHECKED_WHEN_IDLE + MAX_SAMPLE * (len(CHECKED_AT) + 1)


def test_an_outage_is_checked_after_the_time_of_its_pages() -> None:
    reason = Reason("a.example", OUTAGE)
    requests = kept(reason, 10)
    assert requests.check(reason, 0.0, 1.0)
    assert requests.check(reason, 1.0, 1.0) == []
    assert requests.check(reason, 4.0, 1.0)
    assert requests.check(reason, 10.0, 1.0)
    assert requests.check(reason, 99.0, 1.0) is None
