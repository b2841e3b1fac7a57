from __future__ import annotations

import random
import tracemalloc

import pytest

from scrapy_simhash.index.alternatives import ExpandedSet, estimate
from tests.index.values import ALL_ONES


# The fullest and the emptiest dicts: it doubles at 2/3 of a power of two.
@pytest.mark.parametrize(("count", "max_distance"), [(1, 0), (1, 2), (84, 1), (86, 1), (84, 2)])
def test_the_estimate_is_not_too_small_and_not_far_too_large(count: int, max_distance: int) -> None:
    draw = random.Random(1)
    values = [draw.getrandbits(64) for _ in range(count)]
    tracemalloc.start()
    try:
        way = ExpandedSet(max_distance)
        way.add_many(values)
        needed, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if count > 1:  # one fingerprint is less than what surrounds it
        assert peak <= estimate(count, max_distance) <= 3 * needed
    assert len(way) == count


def test_the_estimate_is_65_2081_and_43745_neighbours() -> None:
    neighbours = [estimate(1, max_distance) / estimate(1, 0) for max_distance in range(4)]
    assert neighbours == [1, 65, 2081, 43_745]
    assert estimate(0, 3) == 0


def test_what_would_take_too_much_memory_is_refused_with_the_estimate() -> None:
    way = ExpandedSet(max_distance=1, memory=estimate(10, 1))
    way.add_many(range(9))
    for batch in ([9, 10], range(11), iter([ALL_ONES, ALL_ONES - 1])):
        with pytest.raises(
            ValueError, match=r"11 fingerprints within 1 bit take up to 91,520 bytes, the limit is 83,200"
        ):
            way.add_many(batch)
        assert sorted(way) == list(range(9)), "all or nothing"
        assert [found.value for found in way.find(9)] == [1, 8]
    # What is there already takes nothing.
    way.add_many([*range(9), 9, 9])
    way.add(9)
    assert len(way) == 10
    with pytest.raises(ValueError, match="11 fingerprints"):
        way.add(10)


def test_a_distance_for_which_not_even_one_fits_is_refused() -> None:
    with pytest.raises(
        ValueError, match="1 fingerprint within 3 bits take up to 5,599,360 bytes, the limit is 5,599,359"
    ):
        ExpandedSet(max_distance=3, memory=estimate(1, 3) - 1)
    assert ExpandedSet(max_distance=3, memory=estimate(1, 3)).find(0) == []


def test_a_search_is_one_look_up() -> None:
    way = ExpandedSet(max_distance=2)
    way.add_many([0b0000, 0b0011, 0b1111])
    assert sorted(way.candidates(0b0001)) == [0b0000, 0b0011]
    assert list(way.candidates(0b1000_0000_1111)) == [0b1111]
    assert list(way.candidates(ALL_ONES)) == []
