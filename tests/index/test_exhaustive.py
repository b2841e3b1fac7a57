"""Proof by exhaustion: every pair of fingerprints of a few bits, in a real index of every shape of plan.

The few bits are *spread* over the 64, since what a plan does depends on which blocks the differing bits fall into.
Of 12 bits there are eight million pairs, which the kernel tries for every shape up to a distance of 4 in
``make rest``; ``make test`` tries fewer bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import combinations

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import Plan, ProbingIndex, ProbingPlan, SimhashIndex, growth
from scrapy_simhash.index.index import Door
from scrapy_simhash.index.plans import Block, key_mask, partition, plans_for, scan
from scrapy_simhash.index.pure import postings
from tests.index.cores import every_core

DISTANCES = range(7)
#: How many bits all numbers have that are tried, by distance: the wider it is, the more there are of each number.
WIDTHS = {
    "native": {0: 12, 1: 12, 2: 12, 3: 12, 4: 12, 5: 10, 6: 9},
    "pure": {0: 10, 1: 10, 2: 10, 3: 9, 4: 8, 5: 8, 6: 8},
}
#: The same for a run that somebody waits for.
FEWER = {"native": dict.fromkeys(DISTANCES, 8), "pure": dict.fromkeys(DISTANCES, 7)}
#: Plans for a distance of 3 that pure Python tries with 12 bits as well.
LONG = ["4x16", "6x21"]
#: Plans with more probes take long, and are no other shape.
FEW_PROBES = 1000

Spread = tuple[int, ...]
"""The places of the bits 0, 1, 2, ... of a small number among the 64."""
Searched = SimhashIndex | ProbingIndex
Make = Callable[[Plan | ProbingPlan], Searched]


@pytest.fixture
def make(core: str, monkeypatch: pytest.MonkeyPatch) -> Make:
    """How to make an index of a plan, with either core, whose tables are in use from the first fingerprint on."""
    if core == "pure":
        monkeypatch.setattr(kernel, "hamming", None)
    monkeypatch.setattr(growth, "PURE_ROW", (0, 0, 0))
    monkeypatch.setattr(growth, "NATIVE_ROW", (0, 0, 0))
    # To sort the matches takes longer than to find them, and would hide those that are found twice.
    monkeypatch.setattr(postings, "nearest_first", list)
    monkeypatch.setattr(Door, "nearest_first", list)
    return lambda plan: (
        SimhashIndex.from_plan(plan) if isinstance(plan, Plan) else ProbingIndex.from_plan(plan)
    )


def dealt(blocks: tuple[Block, ...], width: int) -> Spread:
    """Deal the bits out to the blocks in turn, as cards, so that they lie in as many blocks as can be."""
    columns = [range(block.shift, block.shift + block.width) for block in blocks]
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


def assert_every_pair_is_found_once(index: Searched, values: list[int]) -> None:
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


def assert_every_pair_is_found_both_ways(index: Searched, values: list[int]) -> None:
    """Store all numbers at once and look all of them up, with what is said of each."""
    numbers = range(len(values))
    index.add_many(values)
    near = [number for number in numbers if number.bit_count() <= index.max_distance]
    for number, matches in zip(numbers, index.find_many(values), strict=True):
        keys, found, distances = zip(*matches, strict=True)
        differences = list(map(number.__xor__, keys))
        assert len(keys) == len(near)
        assert set(differences) == set(near)
        assert list(distances) == list(map(int.bit_count, differences))
        assert list(found) == list(map(values.__getitem__, keys))


def all_plans() -> Iterator[Plan | ProbingPlan]:
    for k in DISTANCES:
        yield from plans_for(k).values()
        yield scan(k)
        for m in range(k + 1, k + 4):
            yield Plan.classic(k, m)
        for m in (1, 2, 3, 4, 6):
            with suppress(ValueError):
                plan = ProbingPlan.even(k, m)
                if plan.probes < FEW_PROBES:
                    yield plan
    yield ProbingPlan(2, partition(4), (1, 0, 0, -1))
    yield ProbingPlan(2, partition(4), (-1, 2, -1, -1))


def named(plan: Plan | ProbingPlan) -> str:
    shape = f"{plan.name} of {len(plan.blocks)}" if isinstance(plan, Plan) else f"radii {plan.radii}"
    return f"{shape} for {plan.max_distance}"


PLANS = list(dict.fromkeys(all_plans()))
exhaustive = pytest.mark.slow("of 12 bits there are eight million pairs")
every_plan = pytest.mark.parametrize("plan", PLANS, ids=named)


@pytest.mark.parametrize(
    "widths", [pytest.param(FEWER, id="few bits"), pytest.param(WIDTHS, id="many bits", marks=exhaustive)]
)
@every_core
@every_plan
def test_every_pair_of_small_fingerprints_is_found_within_the_distance_and_no_other(
    plan: Plan | ProbingPlan, core: str, widths: dict[str, dict[int, int]], make: Make
) -> None:
    spread = dealt(plan.blocks, widths[core][plan.max_distance])
    assert_every_pair_is_found_once(make(plan), of_all_numbers(spread, background=0x9E37_79B9_7F4A_7C15))


@pytest.mark.parametrize(
    ("side_by_side", "scattered"),
    [
        pytest.param(5, 6, id="few bits"),
        pytest.param(6, 7, id="more bits", marks=pytest.mark.slow("pure Python takes three times as long")),
    ],
)
@every_core
@every_plan
def test_it_is_so_wherever_the_bits_are(
    plan: Plan | ProbingPlan, make: Make, side_by_side: int, scattered: int
) -> None:
    assert_every_pair_is_found_both_ways(make(plan), of_all_numbers(together(60, side_by_side), background=0))
    assert_every_pair_is_found_both_ways(
        make(plan), of_all_numbers(anywhere(f"{plan}", scattered), background=2**64 - 1)
    )


@exhaustive
@pytest.mark.parametrize("core", ["pure"])
@pytest.mark.parametrize("name", LONG)
def test_every_pair_of_twelve_bits_is_found(name: str, make: Make) -> None:
    plan = plans_for(3)[name]
    assert_every_pair_is_found_once(make(plan), of_all_numbers(dealt(plan.blocks, 12), background=0))


# --- What two fingerprints share depends on their difference alone, of which there are far fewer than pairs.


def is_found(plan: Plan | ProbingPlan) -> Callable[[int], bool]:
    """Return what tells whether fingerprints with a difference are in one cell of some table."""
    if isinstance(plan, Plan):
        masks = [key_mask(plan.blocks, key) for key in plan.keys]
        return lambda difference: any(not difference & mask for mask in masks)
    blocks = list(zip(plan.blocks, plan.radii, strict=True))
    return lambda difference: any(block.of(difference).bit_count() <= radius for block, radius in blocks)


@pytest.mark.parametrize("plan", [plan for plan in PLANS if plan.max_distance <= 3], ids=named)
def test_every_difference_of_up_to_three_of_the_64_bits_is_found(plan: Plan | ProbingPlan) -> None:
    found = is_found(plan)
    bits = [1 << place for place in range(64)]
    # Of fewer bits is part of one of so many.
    assert all(found(sum(some)) for some in combinations(bits, plan.max_distance))


@pytest.mark.parametrize("plan", [plan for plan in PLANS if plan.max_distance > 3], ids=named)
def test_every_difference_among_sixteen_bits_is_found_wherever_they_are(plan: Plan | ProbingPlan) -> None:
    found = is_found(plan)
    spreads = [
        dealt(plan.blocks, 16),
        together(0, 16),
        together(40, 16),
        anywhere("a", 16),
        anywhere("b", 16),
    ]
    for spread in spreads:
        bits = [1 << place for place in spread]
        assert all(found(sum(some)) for some in combinations(bits, plan.max_distance))


@pytest.mark.parametrize("k", range(1, 7))
def test_a_plan_for_one_bit_less_misses_some_difference(k: int) -> None:
    """So that the tests above can fail."""
    plan = next(iter(plans_for(k - 1).values()))
    bits = [1 << place for place in dealt(plan.blocks, 16)]
    assert not all(map(is_found(plan), map(sum, combinations(bits, k))))
