"""The tables of the kernel where they are unlike those of pure Python: growth, skew, and no memory."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import Match, Plan, SimhashIndex
from scrapy_simhash.index.growth import FOREVER
from scrapy_simhash.index.index import Door
from tests.index.cores import over

pytestmark = pytest.mark.skipif(
    kernel.hamming is None, reason="it is about the compiled kernel, which is not here"
)

FOUR_BY_SIXTEEN = Plan.classic(3, 4)


def drawn(seed: int, count: int) -> array[int]:
    return array("Q", random.Random(seed).randbytes(8 * count))


def near(draw: random.Random, value: int, most: int) -> int:
    return value ^ sum(1 << bit for bit in draw.sample(range(64), draw.randint(0, most)))


def naive(values: array[int], query: int, most: int) -> list[tuple[int, int]]:
    return sorted(
        (distance, key)
        for key, value in enumerate(values)
        if (distance := (value ^ query).bit_count()) <= most
    )


def found(index: SimhashIndex, query: int) -> list[tuple[int, int]]:
    return [(match.distance, match.key) for match in index.find(query)]


# Sizes at which entries are eight bytes, a few segments are compact, all are, and all have grown since.
@pytest.mark.parametrize("count", [3_000, 60_000, 400_000, 900_000])
def test_every_planted_neighbour_is_found_at_every_size_and_layout(count: int) -> None:
    draw = random.Random(count)
    values = drawn(count, count)
    index = over("native", FOUR_BY_SIXTEEN)
    nearest = index.find_or_add_many(values)
    index._check()
    stored = [key for key, answer in enumerate(nearest) if answer == -1]
    assert len(index) == len(stored)
    for key in draw.sample(stored, 500):
        for most in (0, 3):
            matches = index.find(near(draw, values[key], most))
            assert key in {match.key for match in matches}
    for key in draw.sample(stored, 5):
        query = near(draw, values[key], 4)
        assert found(index, query) == [pair for pair in naive(values, query, 3) if nearest[pair[1]] == -1]


@pytest.mark.parametrize(
    "plan",
    [
        FOUR_BY_SIXTEEN,
        Plan.classic(3, 6),
        Plan.classic(2, 3),
        Plan.classic(0, 3),
        Plan.classic(5, 6),
        Plan(3, Plan.classic(3, 6).blocks, ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))),
    ],
    ids=lambda plan: f"k = {plan.max_distance}, {plan.name}",
)
def test_a_life_of_thousands_of_changes_leaves_what_it_leaves_in_a_dict(plan: Plan) -> None:
    draw = random.Random(1)
    index, known = over("native", plan), dict[int, int]()
    values = list(dict.fromkeys(drawn(2, 40_000)))
    for start in range(0, len(values), 4_000):
        batch = values[start : start + 4_000]
        index.add_many(batch, range(start, start + len(batch)))
        known.update(zip(batch, range(start, start + len(batch)), strict=True))
        for value in draw.sample(list(known), 1_500):
            assert index.discard(value, known.pop(value))
        index._check()
        assert dict(index) == known
    for value in draw.sample(list(known), 300):
        assert index.find(value)[0] == (known[value], value, 0)


def test_one_value_a_million_times_is_one_fingerprint() -> None:
    index = SimhashIndex(3, "auto")
    assert set(index.find_or_add_many(array("Q", [42]) * 1_000_000)[1:]) == {0}
    assert (len(index), list(index)) == (1, [(42, 0)])
    assert index.nbytes < 10_000


@pytest.mark.parametrize(
    "values",
    [
        # All 16 bits of the first block alike, and those of the second: hot buckets beside even ones.
        array("Q", [0xABCD_1234 << 32 | value & 0xFFFF_FFFF for value in drawn(3, 50_000)]),
        *(
            array("Q", dict.fromkeys(value | common for value in drawn(4, 20_000)))
            for common in (0xFFFF, 0xFF00_FF00_FF00_FF00, 0x7FFF_FFFF_FFFF_0000)
        ),
    ],
    ids=["one bucket", "16 bits", "32 bits", "47 bits"],
)
def test_fingerprints_that_share_bits_are_found_like_others(values: array[int]) -> None:
    index, draw = over("native", FOUR_BY_SIXTEEN), random.Random(3)
    index.add_many(values)
    index._check()
    assert index.nbytes < 60 * len(values)
    for key in draw.sample(range(len(values)), 20):
        query = near(draw, values[key], 3)
        assert found(index, query) == naive(values, query, 3)


def test_tables_that_replace_others_answer_the_same_before_while_and_after() -> None:
    values, draw = drawn(5, 30_000), random.Random(5)
    steps = [
        (2_000, None),
        (8_000, FOUR_BY_SIXTEEN),
        (20_000, Plan.classic(3, 5)),
        (FOREVER, Plan.classic(3, 6)),
    ]
    index = over("native", FOUR_BY_SIXTEEN, steps=steps)
    was_moving = set()
    for key, value in enumerate(values):
        index.add(value, key)
        was_moving.add(index.core.is_moving)
        if key % 499 == 0:
            index._check()
            asked = draw.randrange(key + 1)
            query = near(draw, values[asked], 3)
            assert found(index, query) == naive(values[: key + 1], query, 3)
            # One goes and comes back, before it is moved or after.
            assert index.discard(values[asked], asked)
            index.add(values[asked], asked)
    assert was_moving == {True, False}
    assert sorted(index) == sorted(zip(values, range(len(values)), strict=True))


@pytest.fixture
def any_scan() -> Iterator[None]:
    yield
    assert kernel.hamming is not None
    kernel.hamming.use_scan(3)


@pytest.mark.parametrize("level", range(4))
def test_every_processor_s_scan_finds_the_same(level: int, any_scan: None) -> None:
    assert kernel.hamming is not None
    assert kernel.hamming.use_scan(level) <= level
    draw = random.Random(level)
    values = drawn(7, 3_000)
    queries = [near(draw, draw.choice(values), 12) for _ in range(40)]
    for distance, blocks in ((3, 4), (10, 11), (0, 4)):
        row = over("native", Plan.classic(distance, blocks), steps=[(FOREVER, None)])
        tables = over("native", Plan.classic(distance, blocks))
        for index in (row, tables):
            index.add_many(values)
        for query in queries:
            expected = naive(values, query, distance)
            assert found(row, query) == expected
            assert found(tables, query) == expected


STARVED = """
import resource, sys
from array import array
from random import Random
from scrapy_simhash.index import SimhashIndex
index = SimhashIndex(3, 4)
draw = Random(1)
index.add_many(array("Q", draw.randbytes(8 * 300_000)))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), resource.RLIM_INFINITY))
failed = 0
for key in range(300_000, 900_000):
    value = draw.getrandbits(64)
    before = len(index)
    try:
        index.add(value, key)
    except MemoryError:
        failed += 1
        assert len(index) == before
        if failed == 50:
            break
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
index._check()
assert failed == 50, failed
for key in range(900_000, 900_100):
    index.add(key, key)
index._check()
print("sound", len(index) > 300_000)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited the way Linux does it")
def test_without_memory_an_insert_fails_alone_and_the_index_stays_sound() -> None:
    done = subprocess.run([sys.executable, "-c", STARVED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("sound True\n", "")


def test_a_table_that_was_emptied_fills_again_in_one_corner() -> None:
    values = drawn(9, 60_000)
    index = over("native", FOUR_BY_SIXTEEN)
    index.add_many(values)
    for key, value in enumerate(values):
        index.discard(value, key)
    corner = array("Q", dict.fromkeys(value & 0x0003_0003_0003_0FFF for value in drawn(10, 60_000)))
    index.add_many(corner)
    index._check()
    assert len(index) == len(corner)
    assert all(index.find(value)[0].distance == 0 for value in corner[:200])


def test_a_limit_that_no_index_reaches_is_none() -> None:
    index = over("native", FOUR_BY_SIXTEEN, steps=[(2, None), (2**70, FOUR_BY_SIXTEEN)])
    index.add_many([1, 2**20, 2**40])
    index._check()
    assert len(index) == 3


def test_who_searches_while_matches_are_made_harms_nobody() -> None:
    assert kernel.hamming is not None
    centre, others = 2**64 - 1, []

    class Nosy(Door):
        @staticmethod
        def match(key: int, value: int, distance: int) -> Match:  # type: ignore[override]
            if value == 5:
                # So many that the room for hits grows, and moves.
                others.append(len(core.find(centre)))
            return Match(key, value, distance)

    core = kernel.hamming.Postings(Nosy, 3, [(FOREVER, [])])
    core.add(5, 1)
    core.add(5, 2)
    for key, (one, other) in enumerate(combinations(range(64), 2)):
        core.add(centre ^ 1 << one ^ 1 << other, key)
    assert core.find(5) == [(1, 5, 0), (2, 5, 0)]
    assert others == [2016, 2016]
