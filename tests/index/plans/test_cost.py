from __future__ import annotations

import random
from array import array
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.index import Plan, SimhashIndex
from scrapy_simhash.index.plans.blocks import key_mask
from scrapy_simhash.index.plans.cost import (
    LEEWAY,
    MAX_BYTES,
    NATIVE,
    PURE,
    UNFELT,
    WORTH_IT,
    Core,
    choose,
    cost,
    running,
    schedule,
)
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.growth import FOREVER

both = pytest.mark.parametrize("core", [NATIVE, PURE], ids=lambda core: core.name)
DISTANCES = [0, 1, 2, 3, 4, 6, 8, 12, 13, 64]
SIZES = [0, 1, 1000, 30_000, 10**6, 10**8, 10**11]
#: A core whose figures are easy: a microsecond a call, two a table, three a candidate.
PLAIN = replace(
    NATIVE,
    row=(0, 0, 0),
    call=1.0,
    table=((1.0, 2.0),),
    compact_table=0.5,
    candidate=3.0,
    compact_candidate=1.0,
    once_bytes=8,
    entry_bytes=8,
    compact_entry_bytes=6,
    bucket_bytes=4,
    compact_bucket_bytes=4,
    bucket=8,
)


def names(stages: list[tuple[int, Plan]]) -> list[str]:
    return [plan.name for _, plan in stages]


# --- What a plan takes.


def test_a_plan_takes_the_time_of_its_tables_and_of_its_candidates() -> None:
    plan = Plan.classic(max_distance=3, blocks=6)
    n = 2**33
    candidates = sum(n / 2**bits for bits in plan.key_bits)
    foreseen = cost(plan, n, PLAIN)
    assert foreseen.candidates == pytest.approx(candidates)
    assert foreseen.microseconds == pytest.approx(1 + 20 * 2 + 3 * candidates)


def test_candidates_are_those_that_agree_in_a_key() -> None:
    draw = random.Random(5)
    values = [draw.getrandbits(64) for _ in range(20_000)]
    plan = plans_for(3)["5x18"]
    found = 0
    for key in plan.keys:
        mask = key_mask(plan.blocks, key)
        stored = Counter(value & mask for value in values)
        found += sum(stored[draw.getrandbits(64) & mask] for _ in range(4000))
    assert found / 4000 == pytest.approx(cost(plan, 20_000).candidates, rel=0.1)


def test_keys_of_neighbouring_bits_take_six_bytes_when_each_has_a_bucket() -> None:
    triangles = plans_for(3)["6x21"]  # AB, BC, DE and EF are neighbours, AC and DF are not
    assert cost(triangles, 2**10, PLAIN).bytes == pytest.approx(8 + 6 * 8 + 6 * 4 / 8)
    n = 2**40
    buckets = sum(2**bits for bits in triangles.key_bits)
    assert cost(triangles, n, PLAIN).bytes == pytest.approx(8 + 4 * 6 + 2 * 8 + 4 * buckets / n)
    # Compact candidates cost a third here.
    candidates = [n / 2**bits for bits in triangles.key_bits]
    whole = candidates[1] + candidates[4]
    assert cost(triangles, n, PLAIN).microseconds == pytest.approx(
        1 + 2 * 2 + 4 * 1 + 2 * whole + sum(candidates)
    )


def test_effective_bits_take_the_place_of_those_of_the_keys() -> None:
    plan = Plan.classic(max_distance=3, blocks=4)
    random_ones = cost(plan, 2**20, PLAIN)
    uneven = cost(plan, 2**20, PLAIN, bits=[16, 14, 16, 16])
    assert uneven.candidates == random_ones.candidates + 3 * 16
    assert uneven.microseconds > random_ones.microseconds
    assert uneven.bytes == random_ones.bytes


@both
@pytest.mark.parametrize("k", DISTANCES)
def test_more_fingerprints_never_take_less_time_unless_their_tables_have_become_compact(
    core: Core, k: int
) -> None:
    for plan in plans_for(k).values():
        sizes = [2**exponent for exponent in range(15, 40)]
        for fewer, more in pairwise(sizes):
            if core.compact(plan, fewer) == core.compact(plan, more):
                assert cost(plan, fewer, core).microseconds <= cost(plan, more, core).microseconds


@both
def test_few_fingerprints_are_scanned_and_take_as_much_memory_whatever_the_plan(core: Core) -> None:
    few = core.row[1] - 1
    assert {cost(plan, few, core)[1:] for plan in plans_for(3).values()} == {
        cost(Plan.classic(), few, core)[1:]
    }


@pytest.mark.parametrize("name", ["4x16", "6x21", "20x32"])
def test_the_bytes_foreseen_are_those_of_a_real_index(name: str) -> None:
    draw = random.Random(1)
    plan = plans_for(3)[name]
    index = SimhashIndex.from_plan(plan)
    index.add_many(array("Q", draw.randbytes(8 * 60_000)))
    assert index.nbytes / len(index) == pytest.approx(cost(plan, 60_000).bytes, rel=0.15)


def test_it_is_the_running_core_that_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    assert running() is (PURE if kernel.hamming is None else NATIVE)
    monkeypatch.setattr(kernel, "hamming", None)
    assert running() is PURE
    assert cost(Plan.classic(), 10**6) == cost(Plan.classic(), 10**6, PURE)
    monkeypatch.setattr(kernel, "hamming", object())
    assert running() is NATIVE
    assert cost(Plan.classic(), 10**6) == cost(Plan.classic(), 10**6, NATIVE)


# --- Which plan is chosen.


@pytest.mark.parametrize(
    ("core", "expected", "name"),
    [
        (NATIVE, 10**4, "4x16"),
        (NATIVE, 10**6, "4x16"),
        (NATIVE, 10**8, "4x16"),
        (PURE, 10**4, "4x16"),
        (PURE, 10**6, "4x16"),
        (PURE, 10**8, "6x21"),  # which takes a fifth more memory, and an eighth of the time
    ],
)
def test_the_default_for_three_bits_is_four_tables_as_long_as_python_can_bear_it(
    core: Core, expected: int, name: str
) -> None:
    assert choose(3, expected, core=core).name == name


@both
@pytest.mark.parametrize("k", DISTANCES)
@pytest.mark.parametrize("max_bytes", [200, 250, 500])
def test_no_plan_within_the_bound_is_faster_than_the_one_chosen(core: Core, k: int, max_bytes: int) -> None:
    for expected in SIZES:
        n = max(expected, core.row[2])
        chosen = cost(choose(k, expected, max_bytes, core), n, core)
        within = [cost(plan, n, core) for plan in plans_for(k).values()]
        within = [one for one in within if one.bytes <= max_bytes]
        if n * chosen.bytes > UNFELT:
            assert chosen.bytes <= max_bytes
        assert chosen.microseconds <= min(one.microseconds for one in within)


@both
def test_while_it_is_small_a_plan_may_take_more_than_it_will(core: Core) -> None:
    lean = Plan.classic(max_distance=3, blocks=4)
    bound = cost(lean, 10**12, core).bytes
    for n in (210_000, 300_000, 390_000):
        assert cost(lean, n, core).bytes > bound
        assert choose(3, n, bound, core) == lean


@both
def test_no_plan_that_will_take_more_is_chosen_while_it_is_small(core: Core) -> None:
    for k in DISTANCES:
        bound = 1.1 * min(cost(plan, 10**12, core).bytes for plan in plans_for(k).values())
        for n in (0, 10**4, 10**5):
            assert cost(choose(k, n, bound, core), 10**12, core).bytes <= bound


@both
@pytest.mark.parametrize("k", DISTANCES)
def test_by_default_there_is_room_for_forty_bytes_or_a_quarter_more_than_the_leanest(
    core: Core, k: int
) -> None:
    n = 10**12
    leanest = min(cost(plan, n, core).bytes for plan in plans_for(k).values())
    bound = max(MAX_BYTES, LEEWAY * leanest)
    assert choose(k, n, core=core) == choose(k, n, bound, core)
    assert cost(choose(k, n, core=core), n, core).bytes <= bound


@both
def test_a_bound_that_no_plan_ever_keeps_is_refused(core: Core) -> None:
    for function in (lambda: choose(3, 10**6, 20, core), lambda: schedule(3, 20, core)):
        with pytest.raises(
            ValueError, match=r"max_bytes must be at least \d+ for a distance of 3, .* got 20"
        ):
            function()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((65, 10), ValueError, "max_distance must be from 0 to 64, got 65"),
        ((3, -1), ValueError, r"expected must be from 0 to 2\*\*63 - 1, got -1"),
        ((3, 1e6), TypeError, "expected must be an integer, got 1000000.0"),
    ],
)
def test_what_is_no_distance_or_number_is_refused(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        choose(*arguments)


# --- How it changes as an index grows.


@both
@pytest.mark.parametrize("k", DISTANCES)
@pytest.mark.parametrize("max_bytes", [None, 200, 500])
def test_a_schedule_goes_on_for_ever_and_never_back(core: Core, k: int, max_bytes: float | None) -> None:
    stages = schedule(k, max_bytes, core)
    limits = [upto for upto, _ in stages]
    assert limits == sorted(set(limits))
    assert limits[-1] == FOREVER
    assert limits[0] > core.row[1]
    assert all(one != other for one, other in pairwise(names(stages)))
    assert {plan.max_distance for _, plan in stages} == {k}


@both
@pytest.mark.parametrize("max_bytes", [150, 500])
def test_a_plan_serves_until_another_is_so_much_faster_that_the_change_is_worth_it(
    core: Core, max_bytes: float
) -> None:
    serving = iter(schedule(3, max_bytes, core))
    upto, plan = next(serving)
    for exponent in range(40, 160):
        n = int(2 ** (exponent / 4))
        if n < core.row[2]:
            continue
        while n >= upto:
            before = plan
            upto, plan = next(serving)
            assert cost(before, n, core).microseconds > WORTH_IT * cost(plan, n, core).microseconds / 1.05
        best = cost(choose(3, n, max_bytes, core), n, core).microseconds
        # A step of the schedule is a quarter of a doubling: somewhat more may have come of it meanwhile.
        assert cost(plan, n, core).microseconds <= WORTH_IT * best * 1.25


def test_four_tables_are_followed_by_more_where_there_is_memory() -> None:
    stages = names(schedule(3, 300, NATIVE))
    assert stages[0] == "4x16"
    tables = [int(name.split("x")[0]) for name in stages]
    assert tables == sorted(tables)
    assert len(stages) > 2


def test_whoever_changes_a_schedule_changes_it_for_nobody_else() -> None:
    schedule(3).clear()
    assert schedule(3)
