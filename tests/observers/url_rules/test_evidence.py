"""Evidence for and against a rule, and how far it is believed."""

from __future__ import annotations

import pytest

from scrapy_simhash.observers.url_rules.evidence import (
    EXPLORED,
    MOST_UNCHECKED,
    SLOTS,
    UNCHECKED_OF_SENT,
    Checks,
    Entry,
    Evidence,
    Ring,
    lower_bound,
)


def evidence(pairs: int, clusters: int = 32) -> Evidence:
    found = Evidence()
    for number in range(pairs):
        found.add(number % clusters, True)
    return found


@pytest.mark.parametrize(("pairs", "stage"), [(28, 0), (29, 1), (58, 1), (59, 2), (148, 2), (149, 3)])
def test_a_rule_is_believed_in_stages(pairs: int, stage: int) -> None:
    assert evidence(pairs).stage == stage


def test_pages_of_few_clusters_are_no_evidence_and_few_pages_of_one_count() -> None:
    assert [evidence(1_000, clusters).stage for clusters in (9, 10)] == [0, 2]
    assert [evidence(pairs, clusters=3).same for pairs in (17, 18, 1_000)] == [17, 18, 18]
    # When all have told what they may, they may tell it again.
    assert [evidence(pairs).has_enough_of(0) for pairs in (5 * 32, 5 * 32 + 1, 6 * 32)] == [
        False,
        True,
        False,
    ]
    assert evidence(6 * 32 + 5 * 32).same == 11 * 32


@pytest.mark.parametrize("pairs", [29, 59, 149])
def test_the_bound_is_that_of_pairs_without_errors(pairs: int) -> None:
    # Seen with a chance of 5 % at that share.
    assert lower_bound(pairs, 0) ** pairs == pytest.approx(0.05)
    assert lower_bound(pairs, 1) < lower_bound(pairs, 0)


def test_the_first_wrong_page_lowers_the_stage_and_the_second_ends_the_rule() -> None:
    found = evidence(190)
    assert found.stage == 3
    assert not found.answer(1, is_right=False)
    assert found.stage < 3
    assert found.answer(2, is_right=False)
    assert found.stage == 0
    for number in range(40):
        found.add(number, True)
    # Twenty-nine pairs are not enough a second time: the errors count.
    assert found.stage == 0


def test_a_wrong_page_is_forgiven_after_many_right_ones() -> None:
    found = evidence(190)
    found.answer(1, is_right=False)
    for number in range(148):
        found.answer(number, is_right=True)
    assert (found.wrong, found.right) == (1, 148)
    found.answer(148, is_right=True)
    assert (found.wrong, found.right) == (0, 0)
    assert not found.answer(1, is_right=False)
    # The row begins again with each wrong one.
    assert (found.wrong, found.right) == (1, 0)


def test_counts_are_bounded_and_the_latest_matter_most() -> None:
    assert [evidence(pairs).same for pairs in (511, 512)] == [511, 256]
    found = evidence(100_000)
    assert found.same < 512
    for number in range(60):
        found.add(number, False)
    assert found.stage == 0


def test_what_outlives_a_crawl_is_believed_as_before() -> None:
    found = evidence(100, clusters=20)
    found.since, found.skipped = 1_700_000_000, 7
    kept = Evidence.from_list(found.to_list())
    assert (kept.same, kept.stage, kept.since, kept.skipped) == (100, 2, 1_700_000_000, 7)
    assert (kept.counted_clusters, kept.prior) == (20, 0)
    # So many pairs count beside its own.
    assert [Evidence.from_list([20, 0, 20, 0, 0, 0], prior=prior).stage for prior in (8, 9)] == [0, 1]
    with pytest.raises(ValueError, match="six numbers"):
        Evidence.from_list([1, 2])


def test_a_ring_knows_the_latest_urls_and_does_not_grow_for_ever() -> None:
    ring = Ring()
    for key in range(1, 10_001):
        ring.put(key, Entry(key % 7, key, 0))
    assert ring.find(10_000) == Entry(10_000 % 7, 10_000, 0)
    assert ring.find(1) is None
    assert 5 <= ring.times_under(3) <= 12


def test_a_newer_url_takes_the_slot_of_an_older_one() -> None:
    ring = Ring()
    ring.put(5, Entry(1, 2, 3))
    ring.put(5 + SLOTS, Entry(4, 5, 6))
    assert (ring.find(5), ring.find(5 + SLOTS)) == (None, Entry(4, 5, 6))


@pytest.mark.parametrize(
    ("values", "are_several", "are_fresh"),
    [
        ([], False, False),
        ([7], False, False),
        ([7] * 20, False, False),
        ([7, 8], True, False),
        ([*range(15)], True, False),
        ([*range(16)], True, True),
        ([*range(18), 0, 0], True, True),  # nine tenths
        ([*range(17), 0, 0, 0], True, False),
        ([number % 5 for number in range(100)], True, False),
        # Of many the latest count: half of them are forgotten at a time.
        ([0] * SLOTS + [*range(100)], True, True),
        ([*range(SLOTS), *[0] * SLOTS], False, False),
    ],
)
def test_a_ring_tells_values_that_are_fresh_in_each_url(
    values: list[int], are_several: bool, are_fresh: bool
) -> None:
    ring = Ring()
    for value in values:
        ring.note(value)
    assert (ring.has_several_values, ring.values_are_fresh) == (are_several, are_fresh)


def test_the_bound_with_an_error_is_that_of_clopper_and_pearson() -> None:
    assert lower_bound(46, 1) == pytest.approx(0.903, abs=0.001)
    assert Evidence(same=46, different=1).loss == 1 - lower_bound(46, 1)
    assert lower_bound(10, 10) == pytest.approx(0.302, abs=0.002)
    assert lower_bound(0, 3) == 0


@pytest.mark.parametrize(
    ("same", "different", "is_hopeless"),
    [(0, 3, False), (0, 4, True), (15, 4, True), (16, 4, False), (100, 26, True)],
)
def test_a_rule_is_hopeless_with_a_few_pairs_that_are_more_than_a_fourth(
    same: int, different: int, is_hopeless: bool
) -> None:
    assert Evidence(same=same, different=different).is_hopeless is is_hopeless


def test_what_two_crawlers_have_found_is_added_once() -> None:
    mine, theirs = evidence(20), evidence(30)
    mine.different, mine.since, mine.skipped = 1, 50, 5
    theirs.since, theirs.skipped = 70, 2
    theirs.add_since(None, mine)
    assert theirs.to_list() == [50, 1, 30, 0, 50, 7]
    # What was told before does not count again, and never less than nothing.
    theirs.add_since(mine.to_list(), mine)
    assert theirs.to_list() == [50, 1, 30, 0, 50, 7]
    theirs.add_since([100, 9, 0, 4, 0, 7], mine)
    assert theirs.to_list() == [0, 0, 30, 0, 50, 5]
    fresh = Evidence()
    fresh.add_since(None, Evidence())
    assert fresh.to_list() == [0] * 6


def test_a_check_is_overdue_after_many_requests_without_any() -> None:
    assert Checks() == Checks(0, 0, 0, 0, 0)
    checks = Checks(requests=1_000)
    assert [checks.is_overdue() for _ in range(2 * MOST_UNCHECKED)].count(True) == 2
    assert [checks.is_overdue() for _ in range(MOST_UNCHECKED)].index(True) == MOST_UNCHECKED - 1
    # The more is matched for each request that is sent, the rarer.
    checks = Checks(requests=0, matched=MOST_UNCHECKED)
    assert not any(checks.is_overdue() for _ in range(UNCHECKED_OF_SENT * MOST_UNCHECKED - 1))
    assert checks.is_overdue()


def test_checks_are_due_for_each_doubling_and_each_twentieth_request() -> None:
    checks = Checks(requests=10 * EXPLORED, matched=7)
    assert [checks.is_due() for _ in range(20)].count(True) == 13
    checks.requests += EXPLORED
    assert checks.is_due()
    assert not checks.is_due()
    checks.matched = 8
    assert checks.is_due()
    checks.matched, checks.requests = 1_000, 100 * EXPLORED
    checks.use_up()
    assert not checks.is_due()


@pytest.mark.parametrize("kept", [[1, 2, 3, 4, 5, -1], [1, 2, 3, 4, 5, "6"], [1] * 7])
def test_numbers_that_are_none_of_evidence_are_refused(kept: list[int]) -> None:
    with pytest.raises(ValueError, match="six numbers"):
        Evidence.from_list(kept)


def test_a_ring_that_is_emptied_knows_the_values_but_no_urls() -> None:
    ring = Ring()
    for key in range(1, 21):
        ring.put(key, Entry(7, key, 0))
        ring.note(key)
    ring.empty()
    assert ring.find(7) is None
    assert ring.times_under(7) == 0
    assert ring.times_under(0) == SLOTS
    assert ring.values_are_fresh
