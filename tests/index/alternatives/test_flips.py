from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives import FlipProbing, Found, probes
from scrapy_simhash.index.alternatives.flips import MAX_PROBES
from tests.index.values import fingerprints


class CountingSet(set[int]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, number: object) -> bool:
        self.asked += 1
        return super().__contains__(number)


def counting(way: FlipProbing) -> CountingSet:
    way._values = counted = CountingSet(way)
    return counted


@pytest.mark.parametrize(
    ("max_distance", "exactly", "within"), [(1, 64, 65), (2, 2016, 2081), (3, 41_664, 43_745)]
)
def test_there_are_so_many_probes(max_distance: int, exactly: int, within: int) -> None:
    numbers = list(probes(0, max_distance))
    assert sum(number.bit_count() == max_distance for number in numbers) == exactly
    assert len(numbers) == len(set(numbers)) == FlipProbing(max_distance).probes == within


@given(fingerprints, st.integers(0, 2))
def test_probes_are_all_numbers_within_the_distance_the_nearest_first(number: int, max_distance: int) -> None:
    distances = [(probe ^ number).bit_count() for probe in probes(number, max_distance)]
    assert distances == sorted(distances)
    assert len(distances) == sum(comb(64, differing) for differing in range(max_distance + 1))
    assert distances[-1] == max_distance


def test_a_search_takes_one_look_a_probe() -> None:
    way = FlipProbing(max_distance=2)
    way.add_many(range(100))
    counted = counting(way)
    way.find(0)
    assert counted.asked == way.probes


@pytest.mark.parametrize(
    ("stored", "looks"), [(0b0, 1), (0b1, 2), (0b1000, 5), (0b11, 66), (1 << 63 | 1 << 62, 2081)]
)
def test_the_search_stops_with_the_one_who_asks(stored: int, looks: int) -> None:
    way = FlipProbing(max_distance=3)
    way.add(stored)
    counted = counting(way)
    assert next(way.nearest_first(0), None) == Found(stored, stored.bit_count())
    assert counted.asked == looks


def test_the_likely_bits_are_tried_first() -> None:
    way = FlipProbing(max_distance=3)
    way.add(1 << 63 | 1 << 62 | 1 << 61)
    counted = counting(way)
    assert next(way.nearest_first(0, likely_bits=range(63, -1, -1))).distance == 3
    # The first of those that differ in three bits.
    assert counted.asked == FlipProbing(2).probes + 1


@given(st.lists(fingerprints, max_size=5), fingerprints, st.permutations(range(64)))
def test_one_by_one_come_the_same_as_all_at_once(numbers: list[int], query: int, bits: list[int]) -> None:
    way = FlipProbing(max_distance=1)
    way.add_many([*numbers, query ^ 1, query ^ 4])
    one_by_one = list(way.nearest_first(query, bits))
    assert sorted(one_by_one, key=lambda found: (found.distance, found.value)) == way.find(query)
    assert [found.distance for found in one_by_one] == [found.distance for found in way.find(query)]


@pytest.mark.parametrize("bits", [range(63), [0, *range(63)], range(1, 65)])
def test_likely_bits_are_each_bit_once(bits: list[int]) -> None:
    with pytest.raises(ValueError, match="each once"):
        FlipProbing().nearest_first(0, bits)


def test_more_probes_than_seconds_are_refused() -> None:
    assert FlipProbing(max_distance=5).probes == 8_303_633 <= MAX_PROBES
    with pytest.raises(ValueError, match="max_distance 6 takes 83,278,001 probes, the limit is 10,000,000"):
        FlipProbing(max_distance=6)
