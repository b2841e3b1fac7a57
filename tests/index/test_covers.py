from __future__ import annotations

from itertools import combinations

import pytest

from scrapy_simhash.index.plans import (
    MOST_CANDIDATES,
    MOST_TABLES,
    TURNED,
    Plan,
    cliques,
    find_hole,
    nested,
    planes,
    plans_for,
    turned,
)

ALL_TURNED = [(k, blocks, first) for k, plans in TURNED.items() for blocks, first in plans]


def tables_of(plan: Plan) -> list[str]:
    return ["".join("ABCDEFGHIJ"[number] for number in key) for key in plan.keys]


# --- Shapes.


def test_two_triangles_are_six_tables_of_20_to_22_bits() -> None:
    plan = cliques(max_distance=3, blocks=6)
    assert tables_of(plan) == ["AB", "AC", "BC", "DE", "DF", "EF"]
    assert plan.key_bits == (22, 22, 22, 21, 21, 20)


@pytest.mark.parametrize("k", range(1, 8))
def test_one_clique_is_a_classic_plan_and_as_many_as_there_are_pairs_is_another(k: int) -> None:
    assert cliques(k, k + 2) == Plan.classic(k, k + 2)
    pairs = cliques(k, 2 * k + 2)
    assert pairs.keys == tuple((2 * number, 2 * number + 1) for number in range(k + 1))


@pytest.mark.parametrize(("k", "m"), [(k, m) for k in range(1, 8) for m in range(k + 2, 2 * k + 3)])
def test_a_clique_plan_has_no_table_too_many(k: int, m: int) -> None:
    keys = cliques(k, m).keys
    for missing in keys:
        assert find_hole([key for key in keys if key != missing], m, k) is not None


def test_cliques_need_more_blocks_than_can_differ_and_one_more() -> None:
    with pytest.raises(ValueError, match=r"blocks must be at least max_distance \+ 2 \(5\), got 4"):
        cliques(max_distance=3, blocks=4)


def exact_first_keys(k: int, blocks: int, size: int) -> list[tuple[int, ...]]:
    """The program that found the turned plans: every first key that has block 0, tried."""
    found = []
    for others in combinations(range(1, blocks), size - 1):
        first = (0, *others)
        keys = [[(number + turn) % blocks for number in first] for turn in range(blocks)]
        if find_hole(keys, blocks, k) is None:
            found.append(first)
    return found


def test_the_key_of_8x24_is_the_first_of_three_blocks_that_can_be_turned() -> None:
    assert exact_first_keys(k=3, blocks=8, size=3)[0] == (0, 1, 3)


@pytest.mark.parametrize(("k", "blocks", "size"), [(3, 7, 3), (3, 8, 4), (4, 10, 4), (5, 14, 5)])
def test_turning_a_longer_key_would_not_be_exact(k: int, blocks: int, size: int) -> None:
    assert exact_first_keys(k, blocks, size) == []


@pytest.mark.parametrize(("k", "blocks", "first"), ALL_TURNED)
def test_a_turned_plan_has_every_block_in_as_many_keys(k: int, blocks: int, first: tuple[int, ...]) -> None:
    plan = turned(k, blocks, first)
    assert len(set(plan.keys)) == blocks
    numbers = [number for key in plan.keys for number in key]
    assert {numbers.count(number) for number in range(blocks)} == {len(first)}


def test_a_key_that_cannot_be_turned_is_refused() -> None:
    with pytest.raises(ValueError, match="the keys miss pairs"):
        turned(max_distance=3, blocks=8, first=(0, 1, 2))


@pytest.mark.parametrize(
    ("plan", "together", "left_over_by"),
    [
        (turned(2, 7, (0, 1, 2, 4)), 2, {1}),  # the Fano plane: two points lie in one line
        (planes(), 3, {1}),  # three points lie in one plane
        (turned(3, 15, (0, 1, 2, 3, 5, 7, 8, 11)), 3, {1, 3}),  # or in three, if they lie in a line
    ],
    ids=["7x36", "14x32", "15x34"],
)
def test_points_of_a_space_lie_together_in_what_a_key_leaves_over(
    plan: Plan, together: int, left_over_by: set[int]
) -> None:
    points = combinations(range(len(plan.blocks)), together)
    assert {sum(not {*some} & {*key} for key in plan.keys) for some in points} == left_over_by


def test_the_nested_plan_has_in_each_key_one_of_four_blocks_and_twelve_other_bits() -> None:
    plan = nested()
    assert plan.key_bits == (28,) * 16
    wholes = [
        [block for block in range(4) if {*range(4 * block, 4 * block + 4)} <= {*key}] for key in plan.keys
    ]
    assert wholes == [[block] for block in range(4) for _ in range(4)]
    for whole in range(4):
        parts = [
            set(key) - {*range(4 * whole, 4 * whole + 4)} for key in plan.keys[4 * whole : 4 * whole + 4]
        ]
        assert set.union(*parts) == set(range(16)) - {*range(4 * whole, 4 * whole + 4)}
        assert sum(map(len, parts)) == 12


# --- Which are offered.


@pytest.mark.parametrize("k", range(65))
def test_every_distance_has_plans_that_are_named_by_their_tables_and_bits(k: int) -> None:
    plans = plans_for(k)
    assert plans
    for name, plan in plans.items():
        tables, bits = map(int, name.split("x"))
        assert plan.max_distance == k
        assert plan.name == name
        assert len(plan.keys) == tables <= MOST_TABLES
        assert min(plan.key_bits) <= bits + 1 <= max(plan.key_bits) + 1
    assert [len(plan.keys) for plan in plans.values()] == sorted(len(plan.keys) for plan in plans.values())


@pytest.mark.parametrize(
    ("name", "k", "like"),
    [
        ("1x64", 0, Plan.classic(0, 1)),
        ("2x32", 1, Plan.classic(1, 2)),
        ("3x21", 2, Plan.classic(2, 3)),
        ("4x25", 2, cliques(2, 5)),
        ("4x16", 3, Plan.classic(3, 4)),
        ("10x25", 3, Plan.classic(3, 5)),
        ("14x32", 3, planes()),
        ("16x28", 3, nested()),
        ("20x32", 3, Plan.classic(3, 6)),
        ("28x16", 6, Plan.classic(6, 8)),
    ],
)
def test_the_plans_of_the_literature_are_offered(name: str, k: int, like: Plan) -> None:
    assert plans_for(k)[name] == like


def test_where_every_plan_would_compare_a_quarter_of_all_there_is_only_the_scan() -> None:
    assert {k for k in range(65) if list(plans_for(k)) == ["1x0"]} == set(range(13, 65))
    for k in range(13):
        shares = [sum(2.0**-bits for bits in plan.key_bits) for plan in plans_for(k).values()]
        assert max(shares) <= MOST_CANDIDATES


def test_whoever_changes_the_plans_changes_them_for_nobody_else() -> None:
    plans_for(3).clear()
    assert "4x16" in plans_for(3)


@pytest.mark.parametrize("k", [-1, 65])
def test_there_are_plans_for_0_to_64_bits(k: int) -> None:
    with pytest.raises(ValueError, match=f"max_distance must be from 0 to 64, got {k}"):
        plans_for(k)
