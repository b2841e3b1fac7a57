"""The scans of candidates, on every kind of processor that this one can be."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from types import ModuleType

import pytest

from scrapy_simhash import kernel

SIZES = [*range(70), 100, 127, 128, 129, 200]


@pytest.fixture(params=range(4))
def hamming(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The kernel, scanning on one level."""
    if kernel.hamming is None:
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    in_use, _ = kernel.hamming.scan_in_use()
    assert kernel.hamming.use_scan(request.param) <= request.param  # this processor may have less
    yield kernel.hamming
    kernel.hamming.use_scan(in_use)


def near_and_far(query: int, size: int, draw: random.Random) -> list[int]:
    """Return *size* numbers at all distances from *query*, small ones above all."""
    values = []
    for _ in range(size):
        distance = draw.choice([draw.randint(0, 64), draw.randint(0, 5)])
        values.append(query ^ sum(1 << bit for bit in draw.sample(range(64), distance)))
    return values


@pytest.mark.parametrize("max_distance", [0, 1, 2, 3, 4, 7, 16, 31, 32, 33, 48, 63, 64])
def test_every_value_within_the_distance_is_hit_and_no_other(hamming: ModuleType, max_distance: int) -> None:
    draw = random.Random(max_distance)
    for size in SIZES:
        query = draw.getrandbits(64)
        values = near_and_far(query, size, draw)
        hits = array("I", hamming.scan_values(array("Q", values).tobytes(), query, max_distance))
        assert hits.tolist() == [
            place for place, value in enumerate(values) if (value ^ query).bit_count() <= max_distance
        ]


@pytest.mark.parametrize("max_distance", [0, 1, 2, 3, 4, 7, 16, 31, 32, 33, 48, 63, 64])
def test_what_lies_in_two_pieces_is_hit_by_the_sum_of_both(hamming: ModuleType, max_distance: int) -> None:
    draw = random.Random(max_distance)
    for size in SIZES:
        query = draw.getrandbits(48)
        values = [value & 2**48 - 1 for value in near_and_far(query, size, draw)]
        tags = array("I", [value >> 16 for value in values]).tobytes()
        rests = array("H", [value & 0xFFFF for value in values]).tobytes()
        hits = array("I", hamming.scan_tags(tags, rests, query >> 16, query & 0xFFFF, max_distance))
        assert hits.tolist() == [
            place for place, value in enumerate(values) if (value ^ query).bit_count() <= max_distance
        ]


def test_one_hit_is_found_wherever_it_stands(hamming: ModuleType) -> None:
    for size in (1, 9, 50, 200):
        for place in range(size):
            values = array("Q", bytes(8 * size))
            values[place] = 2**64 - 1
            assert array("I", hamming.scan_values(values.tobytes(), 2**64 - 4, 3)).tolist() == [place]


def test_each_level_has_a_name(hamming: ModuleType) -> None:
    level, name = hamming.scan_in_use()
    assert name == ("portable", "popcnt", "avx2", "avx512")[level]
