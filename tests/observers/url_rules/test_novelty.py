"""Novelty: after how many URLs a group is stopped, what keeps it from that, and what undoes it."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from scrapy_simhash.observers.url_rules.evidence import Checks
from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, Page
from scrapy_simhash.observers.url_rules.novelty import (
    MOST_BARREN,
    MOST_DOUBLED,
    MOST_GROUPS,
    SLOWED_AFTER,
    STOPPED_AFTER,
    Novelty,
)
from scrapy_simhash.observers.url_rules.rules import Choice, UrlRules

SITE = "https://example.com"
DAYS = ("/day/{number}", "/day/*")
RULE = "group /day/{number}"


def add(novelty: Novelty, number: int, groups: tuple[str, ...] = DAYS, start: int = 0) -> list[str]:
    """Add pages that bring nothing new, and return which groups were stopped."""
    stopped = [novelty.add_barren(groups, start + key) for key in range(number)]
    return [group for group in stopped if group]


def test_the_narrowest_group_is_stopped_that_has_enough_pages() -> None:
    novelty = Novelty(Checks())
    assert add(novelty, STOPPED_AFTER - 1) == []
    assert novelty.has_to_wait(DAYS)
    assert add(novelty, 1) == ["/day/{number}"]
    assert novelty.stopped_by(DAYS) == "/day/{number}"
    # What is known of the wider one was about this one.
    assert novelty.stopped_by(("/day/*",)) is None
    assert add(novelty, 1_000) == []


def test_a_wide_group_is_stopped_where_its_pages_came_under_many_narrow_ones() -> None:
    novelty = Novelty(Checks())
    stopped = [novelty.add_barren((f"/day/{number}?q", "/day/*"), number) for number in range(STOPPED_AFTER)]
    assert stopped[-1] == "/day/*"


def test_something_new_begins_the_row_again_and_undoes_what_was_stopped() -> None:
    novelty = Novelty(Checks())
    add(novelty, STOPPED_AFTER - 1)
    assert novelty.add_new(DAYS) == []
    assert add(novelty, STOPPED_AFTER - 1) == []
    assert add(novelty, 1) == ["/day/{number}"]
    for undone in range(1, 6):
        assert novelty.add_new(DAYS) == [RULE]
        assert novelty.stopped_by(DAYS) is None
        # It takes twice as many each time.
        enough = STOPPED_AFTER << min(undone, MOST_DOUBLED)
        assert add(novelty, enough - 1, DAYS[:1]) == []
        assert add(novelty, 1, DAYS[:1]) == ["/day/{number}"]


def test_what_a_page_leads_to_counts_for_it_once() -> None:
    novelty = Novelty(Checks())
    add(novelty, STOPPED_AFTER)
    assert novelty.led_on(10_000) is None
    page = novelty.led_on(7)
    assert page is not None
    assert novelty.add_new(page.groups) == [RULE]
    assert novelty.led_on(7) is None
    add(novelty, 2 * STOPPED_AFTER, start=100)
    # Nobody knows where it came from.
    assert novelty.led_on(None) == page


def test_a_group_is_stopped_only_for_what_its_pages_were_for() -> None:
    novelty = Novelty(Checks())
    add(novelty, STOPPED_AFTER)
    assert novelty.skips(DAYS, 2) is None
    assert {novelty.skips(DAYS, 1) for _ in range(9)} == {None, RULE}


def test_a_pinned_group_is_always_stopped_and_a_forbidden_one_never() -> None:
    novelty = Novelty(Checks(), ["group /day/{number}", "parameter sid"], ["group /night/*"])
    assert all(novelty.skips(DAYS, 1) == RULE for _ in range(9))
    assert novelty.add_new(DAYS) == []
    assert novelty.stopped_by(DAYS)
    assert add(novelty, 200, ("/night/*",)) == []
    novelty.begin_again()
    assert novelty.stopped_by(DAYS)


def test_what_may_not_be_stopped_goes_on() -> None:
    novelty = Novelty(Checks())
    add(novelty, STOPPED_AFTER)
    novelty.never_stop("/day/{number}")
    assert add(novelty, 1_000, DAYS[:1]) == []
    assert novelty.stopped_by(DAYS) is None


def test_only_so_many_groups_are_remembered_and_the_stopped_ones_stay() -> None:
    novelty = Novelty(Checks())
    add(novelty, STOPPED_AFTER)
    for number in range(2 * MOST_GROUPS):
        novelty.add_barren((f"/{number}/*",), number)
    assert len(novelty.rows) <= MOST_GROUPS
    assert len(novelty.barren or ()) <= MOST_BARREN
    assert novelty.stopped_by(DAYS)


def visit(
    rules: UrlRules, path: str, content: int, parent: str = "/", host: str = SITE, **more: Any
) -> list[Choice]:
    url = host + path
    page = Page(url, content, lambda any_variant: 0, asked=url, parent=SITE + parent, **more)
    return rules.learn([page], 1)


def stopped(rules: UrlRules) -> set[str]:
    return set(rules.of(SITE).novelty.stopped)


def test_a_host_on_which_each_page_is_new_is_remembered_by_nothing() -> None:
    rules = UrlRules()
    for number in range(1, 300):
        visit(rules, f"/day/{number}", number)
    assert rules.of(SITE).novelty.rows == {}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        # One page, a few in turn.
        ([7], {"/day/{number}"}),
        ([7, 8, 9], {"/day/{number}"}),
        # Short pages, and pages that are not there, say nothing.
        ([FETCHED], set()),
        ([MISSING], set()),
    ],
)
def test_what_counts_as_nothing_new(contents: list[int], expected: set[str]) -> None:
    rules = UrlRules()
    for number in range(100):
        visit(rules, f"/day/{number}", contents[number % len(contents)])
    assert stopped(rules) == expected


def test_pages_without_any_text_bring_nothing_new() -> None:
    rules = UrlRules()
    for number in range(100):
        visit(rules, f"/day/{number}", FETCHED, is_silent=True)
    assert stopped(rules) == {"/day/{number}"}


def test_repeats_of_one_reduced_url_count_only_against_that_url() -> None:
    rules = UrlRules()
    # Thirty lists that come under ever new session ids: all of them are known, and none is stopped.
    visits = ((f"/list/{number % 30}?sid={number:032x}", 1 + number % 30) for number in count())
    for _, (path, content) in zip(range(900), visits, strict=False):
        if not rules.would_skip(SITE + path):
            visit(rules, path, content)
    assert rules.of(SITE).in_force == ["parameter sid"]
    assert stopped(rules) == set()


def test_a_list_that_leads_to_new_pages_is_not_stopped() -> None:
    rules = UrlRules()
    for number in range(1, 300):
        visit(rules, f"/list/{number}", 7)
        visit(rules, f"/thing/{number}", 1_000 + number, f"/list/{number}")
    assert stopped(rules) == set()
    assert not rules.would_skip(f"{SITE}/list/new")


def test_pages_of_other_hosts_are_reached_through_a_list_too() -> None:
    rules = UrlRules()
    for number in range(STOPPED_AFTER + 1):
        visit(rules, f"/list/{number}", 7)
    assert stopped(rules) == {"/list/{number}"}
    undone = visit(rules, "/1", 9, "/list/5", host="https://other.example")
    assert undone == [Choice("group /list/{number}", "example.com")]


def test_what_leads_to_a_list_that_leads_on_is_not_stopped_either() -> None:
    rules = UrlRules()
    for number in range(1, 300):
        visit(rules, f"/year/{number}", 7, f"/year/{number - 1}")
        visit(rules, f"/month/{number}", 8, f"/year/{number}")
        visit(rules, f"/thing/{number}", 1_000 + number, f"/month/{number}")
    assert stopped(rules) == set()


def test_what_leads_to_pages_that_are_never_stopped_is_not_stopped_either() -> None:
    rules = UrlRules(forbidden=[Choice("group /picture/{number}", "")])
    for number in range(1, 300):
        visit(rules, f"/list/{number}", 7)
        visit(rules, f"/picture/{number}", FETCHED, f"/list/{number}", is_silent=True)
    assert stopped(rules) == set()


def test_a_page_that_was_sent_after_all_counts_for_what_it_leads_to() -> None:
    rules = UrlRules()
    for number in range(STOPPED_AFTER + 1):
        visit(rules, f"/list/{number}", 7)
    row = rules.of(SITE).novelty.rows["/list/{number}"]
    visit(rules, "/list/999", 7, is_after_all=True)
    assert row.length == STOPPED_AFTER
    assert visit(rules, "/thing/1", 9, "/list/999") == [Choice("group /list/{number}", "example.com")]
    assert not rules.of(SITE).is_doubted
    for number in range(1_000, 1_000 + 2 * STOPPED_AFTER):
        visit(rules, f"/list/{number}", 7)
    assert rules.of(SITE).is_doubted


def test_a_calendar_in_a_parameter_ends_although_any_parameter_may_have_no_effect() -> None:
    rules = UrlRules()
    sent = 0
    for number in range(500):
        if not rules.would_skip(f"{SITE}/calendar?month={number}"):
            visit(rules, f"/calendar?month={number}", 7)
            sent += 1
    assert STOPPED_AFTER < sent <= SLOWED_AFTER + STOPPED_AFTER + 40


def test_requests_that_are_sent_after_all_do_not_stop_a_group() -> None:
    rules = UrlRules()
    for number in range(200):
        visit(rules, f"/day/{number}", 7, is_after_all=True)
    assert stopped(rules) == set()


def test_a_protected_page_is_new_to_its_group_whatever_its_text() -> None:
    rules = UrlRules()
    for number in range(3 * STOPPED_AFTER):
        visit(rules, f"/boot?variant={number}", 7, is_protected=lambda: True)
    assert stopped(rules) == set()


def test_without_room_to_keep_requests_only_pinned_groups_are_skipped() -> None:
    rules = UrlRules(pinned=[Choice("group /pinned/{number}", "")])
    for number in range(STOPPED_AFTER + 1):
        visit(rules, f"/day/{number}", 7)
    asked = [f"{SITE}/day/{number}" for number in range(100, 120)]
    assert not any(rules.would_skip(url, may_stop=False) for url in asked)
    assert any(rules.would_skip(url) for url in asked)
    assert rules.would_skip(f"{SITE}/pinned/1", may_stop=False)
