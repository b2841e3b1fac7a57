"""The tables of the C extension: growth, unevenly distributed fingerprints, and lack of memory."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.plans import Key, classic, probing
from tests.index.cores import over, tables

pytestmark = pytest.mark.skipif(
    kernel.hamming is None, reason="it is about the C extension, which is not here"
)


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


# Sizes at which entries have eight bytes, some segments are compact, all are compact, and all have grown
# again.
@pytest.mark.parametrize("count", [3_000, 60_000, 400_000])
def test_every_planted_neighbour_is_found_at_every_size_and_layout(count: int) -> None:
    draw = random.Random(count)
    values = drawn(count, count)
    index = tables("native", 3, 4)
    stored = [key for key, value in enumerate(values) if not index.find_or_add(value, key)]
    index._check()
    assert len(index) == len(stored)
    for key in draw.sample(stored, 500):
        for most in (0, 3):
            matches = index.find(near(draw, values[key], most))
            assert key in {match.key for match in matches}
    for key in draw.sample(stored, 5):
        query = near(draw, values[key], 4)
        assert found(index, query) == [pair for pair in naive(values, query, 3) if pair[1] in set(stored)]


@pytest.mark.parametrize(
    ("distance", "plan"),
    [
        (3, classic(3, 4)),
        (3, classic(3, 6)),
        (2, classic(2, 3)),
        (0, classic(0, 3)),
        (5, classic(5, 6)),
        (8, probing(8)),
        (3, [(0xFF << shift, 0) for shift in range(0, 64, 8)]),
    ],
)
def test_thousands_of_changes_have_the_same_result_as_in_a_dict(distance: int, plan: list[Key]) -> None:
    draw = random.Random(1)
    index, known = over("native", distance, plan), dict[int, int]()
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


@pytest.mark.parametrize(
    "values",
    [
        # All bits of the first block equal, or all of the second: full buckets beside normal ones.
        array("Q", [0xABCD_1234 << 32 | value & 0xFFFF_FFFF for value in drawn(3, 50_000)]),
        *(
            array("Q", dict.fromkeys(value | common for value in drawn(4, 20_000)))
            for common in (0xFFFF, 0xFF00_FF00_FF00_FF00, 0x7FFF_FFFF_FFFF_0000)
        ),
    ],
    ids=["one bucket", "16 bits", "32 bits", "47 bits"],
)
def test_fingerprints_with_common_bits_are_found_like_others(values: array[int]) -> None:
    index, draw = tables("native", 3, 4), random.Random(3)
    index.add_many(values)
    index._check()
    assert index.nbytes < 60 * len(values)
    for key in draw.sample(range(len(values)), 20):
        query = near(draw, values[key], 3)
        assert found(index, query) == naive(values, query, 3)


def test_each_insert_moves_a_few_records_to_the_tables() -> None:
    index = tables("native", 3, 10, row_limit=2_000)
    values = drawn(6, 2_200)
    index.add_many(values[:1_999])
    taken = []
    for key, value in enumerate(values[1_999:], 1_999):
        before = index.nbytes
        index.add(value, key)
        taken.append(index.nbytes - before)
        # The memory of the row is freed at the end.
        if taken[-1] < 0:
            break
    # 16 at a time, plus the records added meanwhile.
    assert 2_000 / 16 < len(taken) < 2_000 / 14
    # No single insert allocates space in all 120 tables.
    assert max(taken[1:]) < index.nbytes / 8
    index._check()


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
def test_an_insert_without_memory_fails_and_the_index_stays_valid() -> None:
    done = subprocess.run([sys.executable, "-c", STARVED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("sound True\n", "")


def test_an_emptied_table_can_be_filled_again_in_one_bucket() -> None:
    values = drawn(9, 60_000)
    index = tables("native", 3, 4)
    index.add_many(values)
    for key, value in enumerate(values):
        index.discard(value, key)
    corner = array("Q", dict.fromkeys(value & 0x0003_0003_0003_0FFF for value in drawn(10, 60_000)))
    index.add_many(corner)
    index._check()
    assert len(index) == len(corner)
    assert all(index.find(value)[0].distance == 0 for value in corner[:200])
