from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import LinearScan


def test_scan_finds_every_value_within_the_distance_and_no_other() -> None:
    bits_0_to_4 = [sum(1 << 13 * bit for bit in bits) for n in range(5) for bits in combinations(range(5), n)]
    scan = LinearScan(max_distance=3)
    scan.add_many(bits_0_to_4)
    assert [match.distance for match in scan.find(0)] == [0] + [1] * 5 + [2] * 10 + [3] * 10


@given(st.sets(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1)), max_size=30))
def test_scan_of_distance_64_finds_every_key(postings: set[tuple[int, int]]) -> None:
    scan = LinearScan(max_distance=64)
    for value, key in postings:
        scan.add(value, key)
    assert set(scan) == postings
    assert len(scan) == len(postings)
    assert {match.key for match in scan.find(0)} == {key for _, key in postings}


def test_of_the_nearest_of_several_values_so_many_are_returned_and_all_are_counted() -> None:
    scan = LinearScan(max_distance=2)
    for value, key in ((0b0000, 4), (0b0001, 3), (0b0011, 2), (0b0111, 4), (0xFF << 40, 1)):
        scan.add(value, key)
    matches, counts = scan.nearest([0b0000, 0xFF << 40], 3)
    assert [(match.key, match.distance) for match in matches] == [(1, 0), (4, 0), (3, 1)]
    assert counts == [3, 1]
    assert scan.nearest([], 3) == ([], [])
