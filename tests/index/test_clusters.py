from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import LinearScan, Plan
from scrapy_simhash.index.index import representatives
from scrapy_simhash.index.pairs import connected, pairs

PLAN = Plan.classic(3, 4)


def spread(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Connect by letting each member take the least number it is paired with, until nothing changes."""
    least = {value: value for pair in pairs for value in pair}
    while any(least[a] != least[b] for a, b in pairs):
        for a, b in pairs:
            least[a] = least[b] = min(least[a], least[b])
    members = sorted(least)
    return [[value for value in members if least[value] == first] for first in sorted(set(least.values()))]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
def test_a_group_is_all_that_a_chain_of_pairs_leads_to(chosen: list[tuple[int, int]]) -> None:
    assert connected(chosen) == spread(chosen)


@pytest.mark.parametrize("step", [1, -1])
def test_a_long_chain_is_one_group_from_either_end(step: int) -> None:
    chain = [(value, value + 1) for value in range(5000)]
    assert connected(chain[::step]) == [list(range(5001))]


def test_groups_are_sorted_and_a_value_without_a_pair_is_in_none() -> None:
    assert connected([(90, 80), (5, 70), (80, 1)]) == [[1, 80, 90], [5, 70]]
    assert connected([]) == []


def test_near_fingerprints_are_connected_over_any_distance() -> None:
    steps = [(1 << 3 * number) - 1 for number in range(20)]
    assert connected(pairs([*steps, 2**64 - 1])) == [steps]


values = st.lists(st.sampled_from([0, 2**64 - 1]).flatmap(
    lambda centre: st.integers(0, 255).map(lambda bits: centre ^ bits)), max_size=40)  # fmt: skip


@given(values=values, max_distance=st.integers(0, 4))
def test_each_joins_the_nearest_representative_before_it(values: list[int], max_distance: int) -> None:
    chosen: list[int] = []
    for place, value in enumerate(values):
        near = [
            (distance, other)
            for other in sorted(set(chosen))
            if (distance := (value ^ values[other]).bit_count()) <= max_distance
        ]
        chosen.append(min(near, default=(0, place))[1])
    assert representatives(values, max_distance).tolist() == chosen


def test_representatives_are_what_a_scan_makes_of_the_same_order() -> None:
    draw = random.Random(11)
    row = array("Q", [draw.getrandbits(64)])
    for _ in range(2000):
        row.append(draw.choice(row) ^ 1 << draw.randrange(64) ^ 1 << draw.randrange(64))
    scan = LinearScan()
    chosen = []
    for place, value in enumerate(row):
        matches = scan.find_or_add(value, place)
        chosen.append(matches[0].key if matches else place)
    assert representatives(row).tolist() == representatives(row, 3, PLAN).tolist() == chosen


def test_the_earliest_of_equally_near_ones_is_joined() -> None:
    assert representatives([0b0000, 0b1111, 0b0011], 2).tolist() == [0, 1, 0]
    assert representatives([0b1111, 0b0000, 0b0011], 2).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 2**64],), ValueError, r"value must be from 0 to 2\*\*64 - 1"),
        (([True],), TypeError, "value must be an integer, got True"),
        (([], 65), ValueError, "max_distance must be from 0 to 64, got 65"),
        (([], 3, 3), ValueError, r"blocks must be greater than max_distance \(3\), got 3"),
        (([], 2, PLAN), ValueError, "blocks is a plan for distance 3, but max_distance is 2"),
    ],
)
def test_what_is_wrong_is_said(arguments: Sequence[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        representatives(*arguments)


@pytest.mark.parametrize("size", [0, 1, 3000])
def test_progress_rises_to_the_end_and_says_so_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # At every step, not every quarter of a second.
    monkeypatch.setitem(representatives.__globals__, "paced", lambda progress: progress)
    shares: list[float] = []
    representatives(range(0, size << 20, 1 << 20), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares.count(1) == 1
    assert len(shares) == max(1, (size + 1023) // 1024)
