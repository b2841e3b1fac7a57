from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives import Found
from scrapy_simhash.index.alternatives.base import nearest
from tests.index.alternatives.every_way import neighbourhoods, scanned
from tests.index.values import ALL_ONES


@given(neighbourhoods(max_distance=3), st.integers(0, 64))
def test_the_nearest_of_all_are_what_the_scan_finds(drawn: tuple[list[int], int], max_distance: int) -> None:
    values, query = drawn
    assert nearest(query, values, max_distance) == scanned(values, query, max_distance)


def test_the_nearest_come_first_then_the_smallest() -> None:
    assert nearest(0, [ALL_ONES, 4, 3, 1, 0, 4], 64) == [
        Found(0, 0),
        Found(1, 1),
        Found(4, 1),
        Found(3, 2),
        Found(ALL_ONES, 64),
    ]
