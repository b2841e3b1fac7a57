from __future__ import annotations

import random
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from scrapy_simhash.index import Match, ProbingIndex, ProbingPlan
from scrapy_simhash.index.plans import partition
from tests.index.cores import assert_finds_what_linear_scan_finds, every_core, probing, probing_over
from tests.index.values import (
    ALL_ONES,
    clustered_values,
    flipped,
    values_near_the_ends,
    values_of_every_kind,
)

TOO_SLOW = [(k, m) for k, m in product(range(13), range(1, 3)) if (k > 3 if m == 1 else k > 8)]
DISTANCES_AND_BLOCKS = [both for both in product(range(13), range(1, 7)) if both not in TOO_SLOW]


@every_core
@pytest.mark.parametrize(("k", "m"), DISTANCES_AND_BLOCKS)
def test_index_finds_exactly_what_linear_scan_finds(k: int, m: int, core: str) -> None:
    draw = random.Random(100 * k + m)
    values = values_of_every_kind(draw, 16, blocks=m)
    far = [flipped(value, draw.sample(range(64), draw.randrange(k + 2))) for value in draw.sample(values, 60)]
    index = probing(core, k, m)
    # A search of many probes takes milliseconds.
    every_so_many = 1 if index.plan.probes < 5000 else 10
    assert_finds_what_linear_scan_finds(index, values, [*values[::10], *far, 0, ALL_ONES][::every_so_many])


@every_core
@pytest.mark.parametrize(("k", "m"), [(0, 64), (64, 64), (20, 8), (14, 4), (31, 33)])
def test_many_blocks_and_great_distances_are_exact(k: int, m: int, core: str) -> None:
    draw = random.Random(m)
    values = clustered_values(draw, 16) + values_near_the_ends(draw, 13)
    assert_finds_what_linear_scan_finds(probing(core, k, m), values, values[::3])


@every_core
@pytest.mark.parametrize(("k", "m"), [(8, 3), (8, 4), (8, 5), (10, 3), (10, 4), (10, 5), (12, 4)])
def test_every_split_of_the_differing_bits_over_the_blocks_is_found(k: int, m: int, core: str) -> None:
    draw = random.Random(k * m)
    value = draw.getrandbits(64)
    index = probing(core, k, m)
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


@every_core
@pytest.mark.parametrize("radii", [(-1, 3, -1), (0, -1, 2), (1, 1, -1), (0, 0, 1), (3, -1, -1)])
def test_an_index_over_any_exact_plan_finds_what_linear_scan_finds(radii: tuple[int, ...], core: str) -> None:
    index = probing_over(core, ProbingPlan(3, partition(3), radii))
    values = values_of_every_kind(random.Random(6), 16, blocks=3)
    assert_finds_what_linear_scan_finds(index, values, values[::4])


@pytest.mark.parametrize("m", [3, 4, 5])
def test_every_near_copy_of_many_fingerprints_is_found(m: int) -> None:
    draw = random.Random(m)
    index = ProbingIndex(10, m)
    values = [draw.getrandbits(64) for _ in range(20_000)]
    index.add_many(values)
    for key in draw.sample(range(len(values)), 200):
        query = flipped(values[key], draw.sample(range(64), 10))
        assert Match(key, values[key], 10) in index.find(query)


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
