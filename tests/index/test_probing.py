from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_simhash.index import LinearScan, Match, ProbingIndex, ProbingPlan
from scrapy_simhash.index.plans.blocks import Block, partition

ALL_ONES = 2**64 - 1
TOO_SLOW = [(k, m) for k, m in product(range(13), range(1, 3)) if (k > 3 if m == 1 else k > 8)]
DISTANCES_AND_BLOCKS = [both for both in product(range(13), range(1, 7)) if both not in TOO_SLOW]


def flipped(value: int, bits: Iterable[int]) -> int:
    return value ^ sum(1 << bit for bit in bits)


def random_values(draw: random.Random) -> list[int]:
    return [draw.getrandbits(64) for _ in range(60)]


def clustered_values(draw: random.Random) -> list[int]:
    """A few originals, each with copies up to 16 bits away."""
    originals = [draw.getrandbits(64) for _ in range(4)]
    return [flipped(draw.choice(originals), draw.sample(range(64), draw.randrange(17))) for _ in range(60)]


def values_with_equal_leading_bits(draw: random.Random) -> list[int]:
    return [0xDEADBEEF << 32 | draw.getrandbits(32) & draw.getrandbits(32) for _ in range(90)]


def bits_at_block_borders(draw: random.Random) -> list[int]:
    value = draw.getrandbits(64)
    borders = {block.shift for m in range(1, 7) for block in partition(m)}
    return [flipped(value, {bit, (bit - 1) % 64}) for bit in borders] + [value ^ 1 << bit for bit in borders]


def zeros_and_ones(draw: random.Random) -> list[int]:
    near = [draw.sample(range(64), draw.randrange(14)) for _ in range(20)]
    return [0, ALL_ONES, *(flipped(end, bits) for end in (0, ALL_ONES) for bits in near)]


SETS = [
    random_values,
    clustered_values,
    values_with_equal_leading_bits,
    bits_at_block_borders,
    zeros_and_ones,
]


@pytest.mark.parametrize(("k", "m"), DISTANCES_AND_BLOCKS)
def test_index_finds_exactly_what_linear_scan_finds(k: int, m: int) -> None:
    draw = random.Random(100 * k + m)
    values = [value for values in SETS for value in values(draw)]
    draw.shuffle(values)
    index, scan = ProbingIndex(k, m), LinearScan(k)
    for searched in (index, scan):
        searched.add_many(values[:200])
        for key, value in enumerate(values[200:], start=200):
            searched.add(value, key)
    index._check()
    far = [flipped(value, draw.sample(range(64), draw.randrange(k + 2))) for value in draw.sample(values, 60)]
    # A search of many probes takes milliseconds.
    queries = (values[::10] + far + [0, ALL_ONES])[:: 1 if index.plan.probes < 5000 else 10]
    assert [index.find(query) for query in queries] == [scan.find(query) for query in queries]


@pytest.mark.parametrize(("k", "m"), [(0, 64), (64, 64), (20, 8), (14, 4), (31, 33)])
def test_many_blocks_and_great_distances_are_exact(k: int, m: int) -> None:
    draw = random.Random(m)
    index, scan = ProbingIndex(k, m), LinearScan(k)
    for values in (clustered_values(draw), zeros_and_ones(draw)):
        index.add_many(values)
        scan.add_many(values)
    for query in [value for value, _ in scan][::3]:
        assert index.find(query) == scan.find(query)


@pytest.mark.parametrize(("k", "m"), [(8, 3), (8, 4), (8, 5), (10, 3), (10, 4), (10, 5), (12, 4)])
def test_every_split_of_the_differing_bits_over_the_blocks_is_found(k: int, m: int) -> None:
    draw = random.Random(k * m)
    value = draw.getrandbits(64)
    index = ProbingIndex(k, m)
    index.add(value, key=1)
    cut = partition(m)
    for owners in combinations_with_replacement(range(m), k):
        bits = [
            cut[owner].shift + bit
            for owner in set(owners)
            for bit in draw.sample(range(cut[owner].width), owners.count(owner))
        ]
        query = flipped(value, bits)
        assert index.find(query) == [Match(1, value, k)]
        assert index.find(flipped(query, [next(bit for bit in range(64) if bit not in bits)])) == []


@pytest.mark.parametrize("radii", [(-1, 3, -1), (0, -1, 2), (1, 1, -1), (0, 0, 1), (3, -1, -1)])
def test_an_index_over_any_exact_plan_finds_what_linear_scan_finds(radii: tuple[int, ...]) -> None:
    draw = random.Random(6)
    index, scan = ProbingIndex.from_plan(ProbingPlan(3, partition(3), radii)), LinearScan(3)
    values = [value for values in SETS for value in values(draw)]
    for searched in (index, scan):
        searched.add_many(values[:150])
        for key, value in enumerate(values[150:]):
            searched.add(value, key)
    for query in values[::4]:
        assert index.find(query) == scan.find(query)


@pytest.mark.parametrize("radii", [(0, 0, 0, 0), (1, 0, 0, -1), (-1, 3, -1, -1)])
def test_all_fingerprints_of_twelve_bits_find_all_their_neighbours(radii: tuple[int, ...]) -> None:
    blocks = (Block(9, 3), Block(6, 3), Block(3, 3), Block(0, 3))
    index = ProbingIndex.from_plan(ProbingPlan(2, blocks, radii))
    index.add_many(range(2**12))
    neighbours = comb(12, 0) + comb(12, 1) + comb(12, 2)
    for value in range(0, 2**12, 7):
        found = {match.key for match in index.find(value)}
        assert len(found) == neighbours
        assert all((value ^ key).bit_count() <= 2 for key in found)


near_values = st.builds(
    flipped,
    st.sampled_from([0, ALL_ONES, 0x4BBB22FBBC29D9B5]) | st.integers(0, ALL_ONES),
    st.sets(st.integers(0, 63), max_size=12),
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(0, 1), (0, 6), (1, 2), (3, 2), (8, 4), (10, 4), (10, 5), (12, 6)]),
    st.lists(st.tuples(near_values, st.integers(0, 20)), max_size=40),
    st.lists(near_values, max_size=10),
)
def test_index_equals_linear_scan_for_any_postings(
    distance_and_blocks: tuple[int, int], postings: list[tuple[int, int]], queries: list[int]
) -> None:
    k, m = distance_and_blocks
    index, scan = ProbingIndex(k, m), LinearScan(k)
    for value, key in postings:
        index.add(value, key)
        scan.add(value, key)
    index._check()
    assert sorted(index) == sorted(scan)
    for query in queries + [value for value, _ in postings]:
        assert index.find(query) == scan.find(query)


@pytest.mark.parametrize("m", [3, 4, 5])
def test_every_near_copy_of_many_fingerprints_is_found(m: int) -> None:
    draw = random.Random(m)
    index = ProbingIndex(10, m)
    values = [draw.getrandbits(64) for _ in range(20_000)]
    index.add_many(values)
    for key in draw.sample(range(len(values)), 200):
        query = flipped(values[key], draw.sample(range(64), 10))
        assert Match(key, values[key], 10) in index.find(query)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 150), st.integers(64, 200), st.integers(0, 2**32))
def test_add_many_is_the_same_as_adding_one_by_one(before: int, together: int, seed: int) -> None:
    draw = random.Random(seed)
    pool = [draw.getrandbits(64) for _ in range(150)]
    postings = [(draw.choice(pool), draw.randrange(1000)) for _ in range(before + together)]
    one_by_one, batch = ProbingIndex(8, 5), ProbingIndex(8, 5)
    for value, key in postings:
        one_by_one.add(value, key)
    for value, key in postings[:before]:
        batch.add(value, key)
    batch.add_many(*zip(*postings[before:], strict=True))
    batch._check()
    assert list(batch) == list(one_by_one)
    assert all(batch.find(value) == one_by_one.find(value) for value in pool)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((10, 0), ValueError, "blocks must be from 1 to 64, got 0"),
        ((10, 65), ValueError, "blocks must be from 1 to 64, got 65"),
        ((-1, 4), ValueError, "max_distance must be from 0 to 64, got -1"),
        ((65, 4), ValueError, "max_distance must be from 0 to 64, got 65"),
        (
            (10, 2),
            ValueError,
            "max_distance 10 with 2 blocks: 284,274 probes a search are too many, the limit is 50,000",
        ),
        (
            (64, 1),
            ValueError,
            r"max_distance 64 with 1 blocks: 18,446,744,073,709,551,616 probes a search are too many",
        ),
        ((True, 4), TypeError, "max_distance must be an integer, got True"),
        ((10, True), TypeError, "blocks must be an integer, got True"),
        ((10.0, 4), TypeError, "max_distance must be an integer, got 10.0"),
        ((10, "4"), TypeError, "blocks must be an integer, got '4'"),
    ],
)
def test_an_index_that_cannot_work_is_refused(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ProbingIndex(*arguments)


@pytest.mark.parametrize(("k", "m"), TOO_SLOW)
def test_what_the_other_tests_leave_out_is_refused(k: int, m: int) -> None:
    with pytest.raises(ValueError, match="probes a search are too many"):
        ProbingIndex(k, m)
