from __future__ import annotations

import random
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives import SortedTrie
from tests.index.alternatives.every_way import scanned
from tests.index.values import ALL_ONES, flipped

draw = random.Random(12)


@settings(deadline=None)
@given(st.integers(0, 99), st.integers(0, 64), st.integers(1, 20), st.data())
def test_a_list_longer_than_few_finds_what_the_scan_finds(
    seed: int, max_distance: int, few: int, drawn: st.DataObject
) -> None:
    draw = random.Random(seed)
    # Some as even as can be, others that share most of their bits: the last ones, or the first.
    values = [draw.getrandbits(64) for _ in range(40)]
    values += [value << 58 & ALL_ONES | 5 for value in values] + [value >> 58 for value in values]
    way = SortedTrie(max_distance, few)
    way.add_many(values)
    query = flipped(draw.choice(values), drawn.draw(st.sets(st.integers(0, 63), max_size=5)))
    assert way.find(query) == scanned(values, query, max_distance)


def test_the_machine_comes_to_few_others_than_it_finds() -> None:
    way = SortedTrie(max_distance=3, few=1)
    way.add_many(draw.getrandbits(64) for _ in range(20_000))
    # At most one for every way to place the errors among the first bits; log2(20,000) is 14.3.
    most = sum(comb(18, errors) for errors in range(4))
    for query in list(way)[::1000]:
        assert len(list(way.candidates(query))) < most


@pytest.mark.parametrize("bits", [(0,), (63,), (0, 63), (0, 1, 2), (61, 62, 63), (5, 33)])
def test_errors_may_be_at_either_end(bits: tuple[int, ...]) -> None:
    way = SortedTrie(max_distance=len(bits), few=1)
    values = [flipped(0, chosen) for number in range(4) for chosen in combinations(range(0, 64, 7), number)]
    way.add_many([*values, flipped(0, bits)])
    assert flipped(0, bits) in {found.value for found in way.find(0)}
    assert way.find(flipped(0, bits))[0].distance == 0


@pytest.mark.parametrize("few", [0, -3])
def test_one_is_compared_at_least(few: int) -> None:
    with pytest.raises(ValueError, match=f"few must be at least 1, got {few}"):
        SortedTrie(few=few)
