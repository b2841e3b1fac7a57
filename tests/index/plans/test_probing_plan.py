from __future__ import annotations

import random
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index import ProbingIndex
from scrapy_simhash.index.plans.blocks import Block, partition
from scrapy_simhash.index.plans.probing_plan import (
    MAX_PROBES,
    NATIVE,
    PURE,
    ProbingPlan,
    Times,
    blocks_for,
    cost,
)
from scrapy_simhash.index.pure.cells import CellTable

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


distances_and_blocks = st.tuples(st.integers(0, 64), st.integers(1, 64)).filter(
    lambda both: blocks_are_enough(*both)
)


def blocks_are_enough(k: int, m: int) -> bool:
    try:
        ProbingPlan.even(k, m)
    except ValueError:
        return False
    return True


@given(distances_and_blocks, st.data())
def test_differing_bits_leave_some_block_within_its_radius(
    both: tuple[int, int], data: st.DataObject
) -> None:
    plan = ProbingPlan.even(*both)
    bits = data.draw(st.sets(st.integers(0, 63), max_size=both[0]))
    differing = sum(1 << bit for bit in bits)
    assert any(
        block.of(differing).bit_count() <= radius
        for block, radius in zip(plan.blocks, plan.radii, strict=True)
    )


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


@pytest.mark.parametrize(("k", "m"), [(10, 4), (10, 5), (8, 3), (8, 4), (8, 6), (3, 2)])
def test_cost_says_how_many_probes_and_candidates_a_search_has(k: int, m: int) -> None:
    draw = random.Random(m)
    plan = ProbingPlan.even(k, m)
    tables = [CellTable(block, radius) for block, radius in zip(plan.blocks, plan.radii, strict=True)]
    for value in (draw.getrandbits(64) for _ in range(20_000)):
        for table in tables:
            table.insert(value)
    expected = cost(plan, 20_000)
    assert expected.probes == plan.probes == sum(len(table._flips) for table in tables)
    queries = [draw.getrandbits(64) for _ in range(200)]
    found = sum(len(cell) // 8 for query in queries for table in tables for cell in table.probe(query))
    assert found / len(queries) == pytest.approx(expected.candidates, rel=0.05, abs=0.05)


# The table in the docstring of ProbingIndex: max_distance, blocks, probes, candidates of a million.
DOCUMENTED = [
    (8, 3, 718, 282),
    (8, 4, 188, 2869),
    (8, 5, 56, 8423),
    (10, 3, 3378, 1550),
    (10, 4, 428, 6531),
    (10, 5, 135, 26_123),
]


@pytest.mark.parametrize(("k", "m", "probes", "candidates"), DOCUMENTED)
def test_the_costs_are_those_documented(k: int, m: int, probes: int, candidates: int) -> None:
    plan = ProbingPlan.even(k, m)
    for size in (10**4, 10**5, 10**6):
        assert cost(plan, size).probes == probes
        assert cost(plan, size).candidates == pytest.approx(candidates * size / 10**6, rel=0.002)


def test_cost_grows_with_the_index_and_has_no_table_of_a_block_without_radius() -> None:
    plan = ProbingPlan(1, (Block(48, 16), Block(0, 48)), (1, -1))
    assert cost(plan, 0)[:2] == (17, 0)
    assert cost(plan, 2**16)[:2] == (17, 17)
    assert cost(plan, 2**16).microseconds > cost(plan, 0).microseconds


# The greater the index, the wider its blocks should be: more probes, fewer candidates.
@pytest.mark.parametrize("times", [PURE, NATIVE], ids=["pure", "native"])
@pytest.mark.parametrize("k", [0, 3, 5, 8, 10, 12, 16])
def test_more_fingerprints_are_never_given_more_blocks(k: int, times: Times) -> None:
    chosen = [blocks_for(k, 10**exponent, times) for exponent in range(2, 10)]
    assert chosen == sorted(chosen, reverse=True)


@pytest.mark.parametrize(("k", "expected"), list(product([0, 3, 10, 33, 64], [0, 1, 10**4, 10**7])))
def test_blocks_for_takes_the_cheapest_that_the_limit_of_probes_allows(k: int, expected: int) -> None:
    costs = {m: cost(ProbingPlan.even(k, m), expected) for m in range(1, 65) if blocks_are_enough(k, m)}
    chosen = costs[blocks_for(k, expected)]
    assert chosen.microseconds == min(one.microseconds for one in costs.values())
    assert chosen.probes <= MAX_PROBES


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((65, 10), ValueError, "max_distance must be from 0 to 64, got 65"),
        ((10, -1), ValueError, r"expected must be from 0 to 2\*\*63 - 1, got -1"),
        ((10, 1e6), TypeError, "expected must be an integer, got 1000000.0"),
        ((True, 10), TypeError, "max_distance must be an integer, got True"),
    ],
)
def test_blocks_for_refuses_what_is_no_distance_or_number(
    arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    for function in (blocks_for, ProbingIndex.blocks_for):
        with pytest.raises(error, match=message):
            function(*arguments)


@pytest.mark.parametrize("blocks", [(Block(0, 8), Block(4, 8)), (Block(60, 8),), (Block(0, 1), Block(0, 1))])
def test_blocks_that_overlap_or_leave_the_64_bits_are_refused(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(ValueError, match="blocks must be apart and within 64 bits"):
        ProbingPlan(0, blocks, (0,) * len(blocks))
