from __future__ import annotations

import pytest

from scrapy_simhash.index import Plan, ProbingPlan
from scrapy_simhash.index.growth import (
    CELLS_FROM,
    FOREVER,
    Step,
    as_probing,
    keys_of,
    native_steps,
    pure_steps,
)

FOUR, FIVE, SIX = (Plan.classic(3, blocks) for blocks in (4, 5, 6))


@pytest.mark.parametrize(
    ("plan", "pure", "native"),
    [
        (SIX, 80, 2_000),  # twenty probes
        (FOUR, 20, 2_000),  # four: the least a row is scanned up to
        (Plan.classic(3, 9), 336, 3_360),
        (ProbingPlan.even(8, 4), 500, 7_520),
        (ProbingPlan.even(10, 3), 500, 20_000),  # 3,378: the most
    ],
)
def test_every_index_begins_as_a_row_the_longer_the_more_probes_it_saves(
    plan: Plan | ProbingPlan, pure: int, native: int
) -> None:
    assert pure_steps([(FOREVER, plan)])[0] == Step(pure, None)
    assert native_steps([(FOREVER, plan)])[0] == (native, [])


def test_a_row_ends_where_the_next_plan_begins() -> None:
    assert pure_steps([(10, FOUR), (FOREVER, SIX)]) == [Step(10, None), Step(10, FOUR), Step(FOREVER, SIX)]
    assert native_steps([(10, FOUR), (FOREVER, SIX)]) == [
        (10, []),
        (10, keys_of(FOUR)),
        (FOREVER, keys_of(SIX)),
    ]


def test_many_fingerprints_by_one_short_block_are_kept_in_cells_by_pure_python_only() -> None:
    cells = ProbingPlan(3, FOUR.blocks, (0, 0, 0, 0))
    assert pure_steps([(FOREVER, FOUR)])[1:] == [Step(CELLS_FROM, FOUR), Step(FOREVER, cells)]
    assert pure_steps([(CELLS_FROM, FOUR), (FOREVER, FIVE)])[1:] == [
        Step(CELLS_FROM, FOUR),
        Step(FOREVER, FIVE),
    ]
    assert native_steps([(FOREVER, FOUR)])[1:] == [(FOREVER, keys_of(FOUR))]


def test_a_plan_has_cells_if_its_keys_are_single_blocks_of_up_to_sixteen_bits() -> None:
    seven = Plan.classic(3, 7).blocks
    assert as_probing(FOUR) == ProbingPlan(3, FOUR.blocks, (0, 0, 0, 0))
    assert as_probing(Plan(3, seven, ((0,), (2,), (4,), (6,)))) == ProbingPlan(
        3, seven, (0, -1, 0, -1, 0, -1, 0)
    )
    assert as_probing(FIVE) is None
    assert as_probing(Plan.classic(2, 3)) is None  # of 21 and 22 bits


def test_a_block_that_is_not_probed_has_no_table() -> None:
    plan = ProbingPlan(3, FOUR.blocks, (1, -1, 1, -1))
    assert keys_of(plan) == [(0xFFFF_0000_0000_0000, 1), (0xFFFF_0000, 1)]
