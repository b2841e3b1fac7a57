"""The plans of tables and of probes: their shapes, which are offered, and what is no plan."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.plans import (
    MOST_CANDIDATES,
    MOST_TABLES,
    Block,
    Plan,
    ProbingPlan,
    cliques,
    find_hole,
    nested,
    partition,
    planes,
    plans_for,
    turned,
)

# --- Blocks.


@pytest.mark.parametrize(
    ("blocks", "widths"),
    [
        (1, [64]),
        (2, [32, 32]),
        (3, [22, 21, 21]),
        (4, [16] * 4),
        (6, [11, 11, 11, 11, 10, 10]),
        (7, [10] + [9] * 6),
        (64, [1] * 64),
    ],
)
def test_blocks_are_as_equal_as_can_be_the_wider_ones_leading(blocks: int, widths: list[int]) -> None:
    assert [block.width for block in partition(blocks)] == widths


@pytest.mark.parametrize("blocks", range(1, 65))
def test_every_bit_is_in_one_block_most_significant_first(blocks: int) -> None:
    cut = partition(blocks)
    bits = [bit for block in cut for bit in reversed(range(block.shift, block.shift + block.width))]
    assert bits == list(range(63, -1, -1))


@pytest.mark.parametrize("blocks", [-1, 0, 65])
def test_there_are_from_1_to_64_blocks(blocks: int) -> None:
    with pytest.raises(ValueError, match=f"blocks must be from 1 to 64, got {blocks}"):
        partition(blocks)


@pytest.mark.parametrize(
    "blocks",
    [
        (Block(32, 32), Block(16, 32), Block(0, 16)),  # a bit in two blocks would count twice
        (Block(0, 16), Block(0, 16)),
        (Block(32, 33), Block(0, 32)),
        (Block(-1, 32), Block(32, 32)),
        (Block(32, 32), Block(20, -4)),
    ],
)
def test_blocks_that_overlap_or_leave_the_64_bits_make_no_plan(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(ValueError, match="blocks must not overlap and must lie within 64 bits"):
        Plan(1, blocks, tuple((number,) for number in range(len(blocks))))
    with pytest.raises(ValueError, match="blocks must not overlap and must lie within 64 bits"):
        ProbingPlan(0, blocks, (0,) * len(blocks))


# --- Plans of tables.

CLASSIC = [(k, m) for k, m in product(range(7), range(1, 11)) if k < m]


@pytest.mark.parametrize(("k", "m"), [*CLASSIC, (1, 64), (0, 64), (2, 45), (43, 45)])
def test_the_classic_plan_has_a_table_for_every_choice_of_the_blocks_that_agree(k: int, m: int) -> None:
    plan = Plan.classic(k, m)
    assert len(set(plan.keys)) == len(plan.keys) == comb(m, k)
    assert find_hole(plan.keys, m, k) is None


@pytest.mark.parametrize(("k", "m"), [(k, m) for k, m in CLASSIC if m <= 8])
def test_a_classic_plan_without_one_of_its_keys_has_a_hole(k: int, m: int) -> None:
    keys = Plan.classic(k, m).keys
    for missing in keys:
        rest = tuple(key for key in keys if key != missing)
        assert find_hole(rest, m, k) == tuple(block for block in range(m) if block not in missing)
        with pytest.raises(ValueError, match=r"miss pairs|at least one key"):
            Plan(k, partition(m), rest)


@given(st.data(), st.integers(1, 8), st.integers(0, 9))
def test_a_hole_is_found_exactly_where_trying_every_set_finds_one(
    data: st.DataObject, m: int, k: int
) -> None:
    keys = data.draw(st.lists(st.sets(st.integers(0, m - 1)).map(sorted), max_size=8))
    holes = [
        differing
        for differing in combinations(range(m), min(k, m))
        if all(set(differing) & set(key) for key in keys)
    ]
    hole = find_hole(keys, m, k)
    assert hole in holes if holes else hole is None


def test_blocks_may_leave_bits_out_and_come_in_any_order() -> None:
    assert Plan(1, (Block(0, 8), Block(40, 24), Block(10, 6)), ((0,), (1,), (2,))).key_bits == (8, 24, 6)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ((), "a plan needs at least one key"),
        (((0, 6),), r"a key must be rising block numbers below 6, got \(0, 6\)"),
        (((1, 0),), r"a key must be rising block numbers below 6, got \(1, 0\)"),
        (((0, 0),), r"a key must be rising block numbers below 6, got \(0, 0\)"),
        (((-1, 0),), r"a key must be rising block numbers below 6, got \(-1, 0\)"),
        (((0, 1, 2),), r"miss pairs that differ in blocks \(0, 1, 2\)"),
        (((0,),) * 1001, "1,001 tables are too many, the limit is 1,000"),
    ],
)
def test_a_plan_that_is_malformed_or_not_exact_cannot_be_made(
    keys: tuple[tuple[int, ...], ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Plan(3, partition(6), keys)


@pytest.mark.parametrize(
    ("plan", "key_bits"),
    [
        (Plan.classic(max_distance=3, blocks=6), {31, 32, 33}),  # that of the paper
        (cliques(max_distance=3, blocks=6), {20, 21, 22}),
        (nested(), {28}),
    ],
)
def test_the_bits_of_keys(plan: Plan, key_bits: set[int]) -> None:
    assert set(plan.key_bits) == key_bits


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


def test_a_key_that_cannot_be_turned_is_refused() -> None:
    with pytest.raises(ValueError, match="the keys miss pairs"):
        turned(max_distance=3, blocks=8, first=(0, 1, 2))


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


# --- Plans of probes.

# max_distance, blocks, radii, probes
EVEN = [
    (10, 4, (1, 2, 2, 2), 428),
    (10, 3, (2, 3, 3), 3378),  # the wide block, of 22 bits, has the small radius
    (10, 5, (1, 1, 1, 1, 2), 135),
    (8, 4, (1, 1, 1, 2), 188),
    (7, 4, (1, 1, 1, 1), 68),
    (3, 2, (1, 1), 66),
    (8, 2, (3, 4), 46_938),
    (3, 1, (3,), 43_745),
    (0, 1, (0,), 1),
    (1, 3, (0, 0, -1), 2),  # fewer units than blocks: the wide ones have tables
    (64, 64, (0,) * 63 + (1,), 65),
]


@pytest.mark.parametrize(("k", "m", "radii", "probes"), EVEN)
def test_units_are_shared_out_evenly_for_the_fewest_probes(
    k: int, m: int, radii: tuple[int, ...], probes: int
) -> None:
    plan = ProbingPlan.even(k, m)
    assert (plan.radii, plan.probes) == (radii, probes)


@pytest.mark.parametrize(("k", "m"), list(product(range(8), range(3, 7))))
def test_no_other_even_share_makes_fewer_probes(k: int, m: int) -> None:
    units, left = divmod(k + 1, m)
    for extra in product((0, 1), repeat=m):
        if sum(extra) == left:
            radii = tuple(units - 1 + more for more in extra)
            assert ProbingPlan.even(k, m).probes <= ProbingPlan(k, partition(m), radii).probes


@pytest.mark.parametrize(("k", "m"), list(product(range(13), range(3, 7))))
def test_however_differing_bits_are_split_over_blocks_one_is_within_its_radius(k: int, m: int) -> None:
    radii = ProbingPlan.even(k, m).radii
    for owners in combinations_with_replacement(range(m), k):
        assert any(owners.count(block) <= radius for block, radius in enumerate(radii))


@pytest.mark.parametrize(("k", "m"), list(product(range(1, 13), range(3, 7))))
def test_a_smaller_radius_anywhere_would_miss_a_pair(k: int, m: int) -> None:
    plan = ProbingPlan.even(k, m)
    for block, radius in enumerate(plan.radii):
        if radius >= 0:
            fewer = tuple(r - (number == block) for number, r in enumerate(plan.radii))
            with pytest.raises(ValueError, match="miss pairs"):
                ProbingPlan(k, plan.blocks, fewer)


@pytest.mark.parametrize(
    ("radii", "message"),
    [
        ((1, 1, 1), r"must be a radius, -1 or more, for each of 2 blocks, got \(1, 1, 1\)"),
        ((), r"must be a radius, -1 or more, for each of 2 blocks, got \(\)"),
        ((5, -2), r"must be a radius, -1 or more, for each of 2 blocks, got \(5, -2\)"),
        ((1, 0), r"radii \(1, 0\) miss pairs that differ in 3 bits"),
        ((-1, -1), r"radii \(-1, -1\) miss pairs that differ in 3 bits"),
        (
            (9, 9),
            "max_distance 3 with 2 blocks: 86,163,946 probes a search are too many, the limit is 50,000",
        ),
    ],
)
def test_a_plan_that_is_malformed_not_exact_or_too_slow_cannot_be_made(
    radii: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ProbingPlan(3, partition(2), radii)
