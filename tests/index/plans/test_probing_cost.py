from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from scrapy_simhash.index import ProbingIndex
from scrapy_simhash.index.plans.blocks import Block
from scrapy_simhash.index.plans.cost import CORES, NATIVE, Core, running
from scrapy_simhash.index.plans.probing_cost import blocks_for, probing_cost
from scrapy_simhash.index.plans.probing_plan import MAX_PROBES, ProbingPlan
from scrapy_simhash.index.pure.cells import CellTable
from tests.index.plans.test_probing_plan import blocks_are_enough


@pytest.mark.parametrize(("k", "m"), [(10, 4), (10, 5), (8, 3), (8, 4), (8, 6), (3, 2)])
def test_cost_says_how_many_probes_and_candidates_a_search_has(k: int, m: int) -> None:
    draw = random.Random(m)
    plan = ProbingPlan.even(k, m)
    tables = [CellTable(block, radius) for block, radius in zip(plan.blocks, plan.radii, strict=True)]
    for value in (draw.getrandbits(64) for _ in range(20_000)):
        for table in tables:
            table.insert(value)
    expected = probing_cost(plan, 20_000)
    assert plan.probes == sum(len(table._flips) for table in tables)
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
        assert plan.probes == probes
        assert probing_cost(plan, size).candidates == pytest.approx(candidates * size / 10**6, rel=0.002)


# The same table: distance, blocks, and microseconds as measured with 10,000, 100,000 and a million fingerprints.
MEASURED: dict[str, list[tuple[Any, ...]]] = {
    "pure": [
        *((8, 3, 52, 133, 268), (8, 4, 18, 56, 229), (8, 5, 13, 61, 467)),
        *((10, 3, 233, 453, 1223), (10, 4, 35, 128, 532), (10, 5, 28, 171, 1454)),
    ],
    "native": [
        *((8, 3, None, 16, 67), (8, 4, None, 4.3, 11), (8, 5, None, 1.6, 9.2)),
        *((10, 3, None, 72, 258), (10, 4, None, 9.9, 31), (10, 5, None, 3.7, 19)),
    ],
}


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_the_times_foreseen_are_near_those_measured(core: Core) -> None:
    for k, m, *measured in MEASURED[core.name]:
        for size, microseconds in zip((10**4, 10**5, 10**6), measured, strict=True):
            if microseconds is not None:
                foreseen = probing_cost(ProbingPlan.even(k, m), size, core).microseconds
                assert foreseen == pytest.approx(microseconds, rel=0.5), (k, m, size)


def test_the_search_of_a_crawl_takes_what_the_docs_say() -> None:
    """10, 36, and about 106 microseconds with ten million; ten times as many take nearly ten times as long."""
    plan = ProbingPlan.even(10, 4)
    times = [probing_cost(plan, 10**digits, NATIVE).microseconds for digits in (5, 6, 7, 8, 9)]
    assert times[:3] == [pytest.approx(us, rel=0.03) for us in (9.9, 36, 104)]
    assert 7 < times[3] / times[2] < 10
    assert times[4] / times[3] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_cost_grows_with_the_index_and_has_no_table_of_a_block_without_radius(core: Core) -> None:
    plan = ProbingPlan(1, (Block(48, 16), Block(0, 48)), (1, -1))
    assert (plan.probes, plan.widths) == (17, (16,))
    assert probing_cost(plan, 0, core).candidates == 0
    assert probing_cost(plan, 2**16, core).candidates == 17
    times = [probing_cost(plan, size, core).microseconds for size in (0, 100, 2**15, 2**16, 2**20)]
    assert times == sorted(times)


@pytest.mark.parametrize("blocks", [3, 4, 5])
@pytest.mark.parametrize("size", [400, 1_000, 3_000, 20_000, 60_000])
def test_the_bytes_foreseen_are_those_of_the_index(blocks: int, size: int) -> None:
    draw = random.Random(size)
    index = ProbingIndex(10, blocks)
    index.add_many([draw.getrandbits(64) for _ in range(size)])
    foreseen = probing_cost(index.plan, size).bytes
    assert foreseen == pytest.approx(index.nbytes / size, rel=0.25)


# The greater the index, the wider its blocks should be: more probes, fewer candidates.
@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
@pytest.mark.parametrize("k", [0, 3, 5, 8, 10, 12, 16])
def test_more_fingerprints_are_never_given_more_blocks(k: int, core: Core) -> None:
    chosen = [blocks_for(k, 10**exponent, core) for exponent in range(2, 10)]
    assert chosen == sorted(chosen, reverse=True)


@pytest.mark.parametrize(("k", "expected"), list(product([0, 3, 10, 33, 64], [0, 1, 10**4, 10**7])))
def test_blocks_for_takes_the_cheapest_that_the_limit_of_probes_allows(k: int, expected: int) -> None:
    # Fewer are scanned, whatever the plan.
    size = max(expected, running().row[2])
    plans = {m: ProbingPlan.even(k, m) for m in range(1, 65) if blocks_are_enough(k, m)}
    times = {m: probing_cost(plan, size).microseconds for m, plan in plans.items()}
    assert times[blocks_for(k, expected)] == min(times.values())
    assert plans[blocks_for(k, expected)].probes <= MAX_PROBES


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
