from __future__ import annotations

import random
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import Plan
from scrapy_simhash.index.alternatives import SortedRuns

PLAN = Plan.classic(max_distance=1, blocks=2)


@given(st.integers(1, 5), st.lists(st.integers(1, 30), max_size=20))
def test_runs_are_few_and_each_fingerprint_moves_seldom(fresh: int, batches: list[int]) -> None:
    draw = random.Random(6)
    way = SortedRuns(PLAN, fresh)
    for count in batches:
        way.add_many([draw.getrandbits(64) for _ in range(count)])
        way._check()
    assert len(way) == sum(batches)
    if len(way) >= fresh:
        doublings = int(log2(len(way) / fresh))
        assert len(way.run_sizes) <= doublings + 1
        assert way.moved <= len(way) * doublings


def test_runs_carry_as_a_counter_does() -> None:
    way = SortedRuns(PLAN, fresh=2)
    sizes = []
    for number in range(16):
        way.add(number)
        sizes.append(way.run_sizes)
    assert sizes[:8] == [(), (2,), (2,), (4,), (4,), (4, 2), (4, 2), (8,)]
    assert sizes[-2:] == [(8, 4, 2), (16,)]
    # Of 16, eight times two are written; then 4 * 4, 2 * 8 and 1 * 16 are moved.
    assert way.moved == 48


def test_many_at_once_become_a_run_without_waiting() -> None:
    way = SortedRuns(PLAN, fresh=4)
    way.add_many(range(100))
    assert (way.run_sizes, way.moved) == ((100,), 0)


def test_what_is_stored_already_does_not_wait_again() -> None:
    way = SortedRuns(PLAN, fresh=4)
    for _ in range(3):
        way.add_many(range(10))
        for number in range(10):
            way.add(number)
    assert (way.run_sizes, len(way)) == ((10,), 10)
    assert 9 in way
    assert 10 not in way


@pytest.mark.parametrize("fresh", [0, -1])
def test_a_run_begins_with_one_fingerprint_at_least(fresh: int) -> None:
    with pytest.raises(ValueError, match="fresh must be at least 1"):
        SortedRuns(PLAN, fresh)
