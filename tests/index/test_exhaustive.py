"""Proof by exhaustion: every pair of fingerprints of a few bits, in a real index of every shape of plan.

The few bits are *spread* over the 64, since what a plan does depends on which blocks the differing bits fall into.
Of 12 bits there are eight million pairs, which the C extension tries for every shape up to a distance of 4 in
``make rest``; ``make test`` tries fewer bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import combinations

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.plans import Key, classic, partition, probes_of, probing
from tests.index.cores import over

pytestmark = pytest.mark.skipif(kernel.hamming is None, reason="without the C extension there are no tables")

DISTANCES = range(7)
#: How many bits all numbers have that are tried, by distance: the wider it is, the more there are of each number.
WIDTHS = {0: 12, 1: 12, 2: 12, 3: 12, 4: 12, 5: 10, 6: 9}
#: The same for a run that somebody waits for.
FEWER = dict.fromkeys(DISTANCES, 8)
#: Plans with more probes take long, and are no other shape.
FEW_PROBES = 1000

Spread = tuple[int, ...]
"""The places of the bits 0, 1, 2, ... of a small number among the 64."""
#: A distance, its plan, and the blocks that the plan is made of.
Shape = tuple[int, list[Key], list[int]]


def all_shapes() -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for k in DISTANCES:
        shapes[f"a scan for {k}"] = k, [(0, 0)], partition(1)
        for m in range(k + 1, k + 4):
            shapes[f"{m} blocks for {k}"] = k, classic(k, m), partition(m)
        for m in (1, 2, 3, 4, 6):
            if probes_of(plan := probing(k, m)) < FEW_PROBES:
                shapes[f"{m} blocks probed for {k}"] = k, plan, partition(m)
    shapes["some blocks probed"] = 2, list(zip(partition(4), (1, 0, 0), strict=False)), partition(4)
    shapes["one block probed"] = 2, [(partition(4)[1], 2)], partition(4)
    return shapes


SHAPES = all_shapes()
exhaustive = pytest.mark.slow("of 12 bits there are eight million pairs")
every_shape = pytest.mark.parametrize("name", SHAPES)


def index_of(name: str) -> SimhashIndex:
    k, plan, _ = SHAPES[name]
    return over("native", k, plan)


def dealt(blocks: list[int], width: int) -> Spread:
    """Deal the bits out to the blocks in turn, as cards, so that they lie in as many blocks as can be."""
    columns = [[bit for bit in range(64) if block >> bit & 1] for block in blocks]
    rounds = [column[turn] for turn in range(64) for column in columns if turn < len(column)]
    return tuple(rounds[:width])


def together(start: int, width: int) -> Spread:
    """Put the bits side by side from *start* on, round the end."""
    return tuple((start + number) % 64 for number in range(width))


def anywhere(seed: str, width: int) -> Spread:
    """Put the bits at random places."""
    return tuple(random.Random(seed).sample(range(64), width))


def spread_out(number: int, spread: Spread) -> int:
    return sum(1 << place for bit, place in enumerate(spread) if number >> bit & 1)


def of_all_numbers(spread: Spread, background: int) -> list[int]:
    """Return all numbers of the spread's bits, among the bits of *background*."""
    return [spread_out(number, spread) ^ background for number in range(2 ** len(spread))]


@cache
def neighbours(width: int, distance: int) -> list[int]:
    """Return how many smaller ones are within a distance, for every number of *width* bits."""
    differences = [number for number in range(2**width) if number.bit_count() <= distance]
    return [sum(number ^ other < number for other in differences) for number in range(2**width)]


def assert_every_pair_is_found_once(index: SimhashIndex, values: list[int]) -> None:
    """Look every one of all numbers up before it is stored: those found are the smaller ones near it.

    For they are within the distance, no two are the same, and there are as many of them.
    """
    near = {number for number in range(len(values)) if number.bit_count() <= index.max_distance}
    there_are = neighbours(len(values).bit_length() - 1, index.max_distance)
    for number, value in enumerate(values):
        # All in passes in C: there are millions of matches.
        found = [key for key, _, _ in index.find(value)]
        differences = set(map(number.__xor__, found))
        assert len(found) == len(differences) == there_are[number]
        assert differences <= near
        index.add(value, number)


@pytest.mark.parametrize(
    "widths", [pytest.param(FEWER, id="few bits"), pytest.param(WIDTHS, id="many bits", marks=exhaustive)]
)
@every_shape
def test_every_pair_of_small_fingerprints_is_found_within_the_distance_and_no_other(
    name: str, widths: dict[int, int]
) -> None:
    k, _, blocks = SHAPES[name]
    numbers = of_all_numbers(dealt(blocks, widths[k]), background=0x9E37_79B9_7F4A_7C15)
    assert_every_pair_is_found_once(index_of(name), numbers)


# --- What two fingerprints share depends on their difference alone, of which there are far fewer than pairs.


def is_found(plan: list[Key]) -> Callable[[int], bool]:
    """Return what shows whether fingerprints with a difference are found by some table."""
    return lambda difference: any((difference & mask).bit_count() <= radius for mask, radius in plan)


@pytest.mark.parametrize("name", [name for name, (k, *_) in SHAPES.items() if k > 3])
def test_every_difference_among_sixteen_bits_is_found_wherever_they_are(name: str) -> None:
    k, plan, blocks = SHAPES[name]
    found = is_found(plan)
    spreads = [
        dealt(blocks, 16),
        together(0, 16),
        together(40, 16),
        anywhere("a", 16),
        anywhere("b", 16),
    ]
    for spread in spreads:
        bits = [1 << place for place in spread]
        assert all(found(sum(some)) for some in combinations(bits, k))


@pytest.mark.parametrize("k", range(1, 7))
def test_a_plan_for_one_bit_less_misses_some_difference(k: int) -> None:
    """So that the tests above can fail."""
    bits = [1 << place for place in dealt(partition(k), 16)]
    assert not all(map(is_found(classic(k - 1, k)), map(sum, combinations(bits, k))))
