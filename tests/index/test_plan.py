from __future__ import annotations

from itertools import combinations, product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.plans import Block, Plan, find_hole, partition

CLASSIC = [(k, m) for k, m in product(range(7), range(1, 11)) if k < m]


def test_the_classic_plan_of_the_paper_has_twenty_tables_of_31_to_33_bits() -> None:
    plan = Plan.classic(max_distance=3, blocks=6)
    assert len(plan.keys) == 20
    assert plan.keys == tuple(combinations(range(6), 3))
    assert set(plan.key_bits) == {31, 32, 33}


@pytest.mark.parametrize(("k", "m"), [*CLASSIC, (1, 64), (0, 64), (2, 45), (43, 45)])
def test_the_classic_plan_has_a_table_for_every_choice_of_the_blocks_that_agree(k: int, m: int) -> None:
    plan = Plan.classic(k, m)
    assert len(set(plan.keys)) == len(plan.keys) == comb(m, k)
    assert find_hole(plan.keys, m, k) is None


@pytest.mark.parametrize(("k", "m"), CLASSIC)
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
