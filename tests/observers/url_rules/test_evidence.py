"""Evidence for and against a rule, and how far it is believed."""

from __future__ import annotations

import pytest

from scrapy_simhash.observers.url_rules.evidence import Entry, Evidence, Ring, lower_bound


def evidence(pairs: int, clusters: int = 32) -> Evidence:
    found = Evidence()
    for number in range(pairs):
        found.add(number % clusters, True)
    return found


@pytest.mark.parametrize(("pairs", "stage"), [(28, 0), (29, 1), (58, 1), (59, 2), (148, 2), (149, 3)])
def test_a_rule_is_believed_in_stages(pairs: int, stage: int) -> None:
    assert evidence(pairs).stage == stage


def test_pages_of_few_clusters_are_no_evidence() -> None:
    assert evidence(1_000, clusters=9).stage == 0
    assert evidence(1_000, clusters=3).same == 18


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
    for number in range(149):
        found.answer(number, is_right=True)
    assert found.wrong == 0
    assert not found.answer(1, is_right=False)


def test_counts_are_bounded_and_the_latest_matter_most() -> None:
    found = evidence(100_000)
    assert found.same < 512
    for number in range(60):
        found.add(number, False)
    assert found.stage == 0


def test_what_outlives_a_crawl_is_believed_as_before() -> None:
    found = evidence(100)
    found.since, found.skipped = 1_700_000_000, 7
    kept = Evidence.from_list(found.to_list())
    assert (kept.same, kept.stage, kept.since, kept.skipped) == (100, 2, 1_700_000_000, 7)
    with pytest.raises(ValueError, match="six numbers"):
        Evidence.from_list([1, 2])


def test_a_ring_knows_the_latest_urls_and_does_not_grow_for_ever() -> None:
    ring = Ring()
    for key in range(1, 10_001):
        ring.put(key, Entry(key % 7, key, 0))
    assert ring.find(10_000) == Entry(10_000 % 7, 10_000, 0)
    assert ring.find(1) is None
    assert 5 <= ring.times_under(3) <= 12


def test_a_ring_tells_values_that_are_fresh_in_each_url() -> None:
    fresh, kept = Ring(), Ring()
    for number in range(100):
        fresh.note(number)
        kept.note(number % 5)
    assert fresh.values_are_fresh
    assert not kept.values_are_fresh
