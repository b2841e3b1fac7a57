"""Sequences of pages without new text: when a URL shape is stopped, and when it is resumed."""

from __future__ import annotations

import pytest

from scrapy_simhash.observers.url_rules.traps import (
    IN_A_ROW,
    MAX_KNOWN_PAGES,
    MAX_ROWS,
    OUTAGE_SECONDS,
    OUTAGE_SHAPES,
    Kind,
    Traps,
)
from scrapy_simhash.observers.url_rules.urls import parsed_rule

DAY: Kind = ("/day/{number}", "parse")
LIST: Kind = ("/list/{number}", "parse")


def add_pages(traps: Traps, number: int, start: int = 0) -> bool:
    """Count *number* days without new text, and return whether the last one stopped their shape."""
    stopped = [traps.add_known(DAY, f"/day/{start + each}", None) for each in range(number)]
    assert not any(stopped[:-1])
    return stopped[-1]


def test_59_pages_in_a_row_stop_a_shape_and_one_new_page_resumes_it() -> None:
    traps = Traps()
    assert not add_pages(traps, IN_A_ROW - 1)
    assert not traps.skips(DAY)
    assert add_pages(traps, 1, start=100)
    assert traps.skips(DAY)
    assert traps.add_new(None, DAY) == [DAY]
    assert not traps.skips(DAY)
    assert traps.add_new(None, DAY) == []


def test_each_new_page_doubles_the_required_number() -> None:
    traps, start = Traps(), 0
    for needed in (IN_A_ROW, 2 * IN_A_ROW, 4 * IN_A_ROW, 8 * IN_A_ROW, 8 * IN_A_ROW):
        assert add_pages(traps, needed, start=start)
        start += needed
        traps.add_new(None, DAY)


def test_a_url_counts_once() -> None:
    traps = Traps()
    assert not any(traps.add_known(DAY, "same", None) for _ in range(3 * IN_A_ROW))


def test_a_new_page_resumes_the_shapes_of_pages_that_led_to_it() -> None:
    traps = Traps()
    for number in range(IN_A_ROW):
        traps.add_known(LIST, f"/list/{number}", None)
        traps.add_known(DAY, f"/day/{number}", f"/list/{number}")
    assert traps.skips(LIST)
    assert traps.skips(DAY)
    assert traps.add_new("/day/3", None) == [DAY, LIST]
    # Once only: the pages behind these links are known now.
    assert traps.add_new("/day/3", None) == []


def test_a_page_without_a_known_parent_counts_for_the_latest_page() -> None:
    traps = Traps()
    add_pages(traps, IN_A_ROW)
    assert traps.add_new("", LIST) == [DAY]


def test_another_callback_is_counted_separately() -> None:
    traps = Traps()
    add_pages(traps, IN_A_ROW)
    assert not traps.skips((DAY[0], "parse_event"))


def test_some_requests_of_a_stopped_shape_are_sent() -> None:
    traps = Traps()
    add_pages(traps, IN_A_ROW)
    assert sum(not traps.skips(DAY, requests=1_000) for _ in range(100)) == 5


def test_pinned_shapes_are_always_stopped_and_forbidden_ones_never() -> None:
    rule = parsed_rule("trap /day/{number}")
    pinned, forbidden = Traps(pinned=[rule]), Traps(forbidden=[rule])
    assert all(pinned.skips(DAY) for _ in range(100))
    assert pinned.add_new(None, DAY) == []
    assert not add_pages(forbidden, 2 * IN_A_ROW)
    assert not forbidden.skips(DAY)


def test_memory_is_bounded_and_stopped_shapes_are_kept() -> None:
    traps = Traps()
    add_pages(traps, IN_A_ROW)
    for number in range(2 * MAX_ROWS):
        traps.add_known((f"/{number}/*", "parse"), f"/{number}/a", None)
    assert len(traps.rows) <= MAX_ROWS
    assert len(traps.known_pages) <= MAX_KNOWN_PAGES
    assert traps.skips(DAY)


@pytest.mark.parametrize(("pause", "is_outage"), [(0.1, True), (OUTAGE_SECONDS, False)])
def test_the_same_text_under_many_shapes_within_a_short_time_is_an_outage(
    pause: float, is_outage: bool
) -> None:
    traps = Traps()
    found = [traps.is_outage(7, f"/{shape}/*", shape * pause) for shape in range(OUTAGE_SHAPES)]
    assert found == [False] * (OUTAGE_SHAPES - 1) + [is_outage]
    assert traps.is_outage(7, "/any/*", 10_000.0) is is_outage
