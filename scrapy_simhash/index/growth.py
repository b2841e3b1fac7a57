"""Which tables serve an index at which size: first a plain scan, then the tables of a plan, perhaps those of others.

Few fingerprints are compared faster one by one than any table is asked. So every index begins as a row, whatever its
plan, and an index for each of ten thousand hosts costs 16 bytes a page as long as the hosts are small. How long a row
pays depends on what answers: the compiled kernel compares five fingerprints in a nanosecond, pure Python ten in a
microsecond.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple, SupportsIndex

from scrapy_simhash.index.plans import Plan, ProbingPlan, key_mask, plans_for
from scrapy_simhash.index.values import checked_distance, checked_expected

#: A row is scanned up to so many fingerprints for each probe of the tables that would answer instead, but at least
#: and at most so many: (for each probe, least, most). Measured with random fingerprints.
NATIVE_ROW = 40, 2_000, 20_000
PURE_ROW = 4, 20, 500
#: From so many fingerprints on, pure Python keeps those of one short block in cells instead of sorted leaves:
#: half the time at a million, but two megabytes for the cells as such.
CELLS_FROM = 200_000
CELL_BITS = 16

FOREVER = sys.maxsize

#: The plans of ``blocks="auto"`` by distance, each with the number of fingerprints up to which it serves: the fastest
#: that takes up to 40 bytes a fingerprint in the compiled kernel, or, for wider distances, a quarter more than the
#: leanest. Measured with random fingerprints, ten thousand to a hundred million (AMD EPYC at 2.6 GHz, 2026-10).
#: Beyond these distances every plan compares so many that a scan is as fast.
AUTO: dict[int, tuple[tuple[int, str], ...]] = {
    0: ((FOREVER, "1x64"),),
    1: ((FOREVER, "2x32"),),
    2: ((FOREVER, "3x21"),),
    3: ((FOREVER, "4x16"),),
    4: ((2_500_000, "5x12"), (FOREVER, "7x16")),
    5: ((6_000_000, "6x10"), (FOREVER, "7x11")),
    6: ((FOREVER, "7x9"),),
    7: ((FOREVER, "9x8"),),
    8: ((FOREVER, "11x8"),),
    9: ((FOREVER, "12x7"),),
    10: ((FOREVER, "13x6"),),
    11: ((FOREVER, "18x7"),),
    12: ((FOREVER, "21x6"),),
}


def schedule(max_distance: SupportsIndex, expected: SupportsIndex = 0) -> list[tuple[int, Plan]]:
    """Return the plans of an index that grows, in turn, each with the number of fingerprints up to which it serves.

    The first is that for *expected* fingerprints. The last number is FOREVER.

    >>> [(upto, plan.name) for upto, plan in schedule(max_distance=3)] == [(FOREVER, "4x16")]
    True
    >>> [plan.name for _, plan in schedule(max_distance=4)], [plan.name for _, plan in schedule(4, 10**7)]
    (['5x12', '7x16'], ['7x16'])
    """
    distance, least = checked_distance(max_distance), checked_expected(expected)
    plans = plans_for(distance)
    named = AUTO.get(distance) or [(FOREVER, name) for name in plans]
    return [(upto, plans[name]) for upto, name in named if min(least, FOREVER - 1) < upto]


def choose(max_distance: SupportsIndex, expected: SupportsIndex) -> Plan:
    """Return the plan that ``blocks="auto"`` takes for *expected* fingerprints, by a table of measurements.

    >>> choose(max_distance=3, expected=10_000_000).name
    '4x16'
    """
    return schedule(max_distance, expected)[0][1]


class Step(NamedTuple):
    """Tables of *plan* serve while there are fewer than *upto* distinct fingerprints; None is a plain scan."""

    upto: int
    plan: Plan | ProbingPlan | None


Stage = tuple[int, list[tuple[int, int]]]
"""A step as the compiled kernel takes it: of each table's key the bits, and how far from it is probed."""


def pure_steps(plans: Iterable[tuple[int, Plan | ProbingPlan]]) -> list[Step]:
    """Return the steps of pure Python through *plans*, each with the size up to which it is good."""
    steps: list[Step] = []
    for upto, plan in plans:
        if not steps:
            steps.append(Step(min(upto, row_of(plan, *PURE_ROW)), None))
        cells = as_probing(plan) if isinstance(plan, Plan) else None
        if cells is not None and upto > CELLS_FROM:
            steps += [Step(CELLS_FROM, plan), Step(upto, cells)]
        else:
            steps.append(Step(upto, plan))
    return steps


def native_steps(plans: Iterable[tuple[int, Plan | ProbingPlan]]) -> list[Stage]:
    """Return the same for the compiled kernel."""
    stages: list[Stage] = []
    for upto, plan in plans:
        if not stages:
            stages.append((min(upto, row_of(plan, *NATIVE_ROW)), []))
        stages.append((upto, keys_of(plan)))
    return stages


def keys_of(plan: Plan | ProbingPlan) -> list[tuple[int, int]]:
    """Return the bits of each table's key, and the radius around it that is probed.

    >>> [(hex(mask), radius) for mask, radius in keys_of(ProbingPlan.even(max_distance=3, blocks=2))]
    [('0xffffffff00000000', 1), ('0xffffffff', 1)]
    """
    if isinstance(plan, Plan):
        return [(key_mask(plan.blocks, key), 0) for key in plan.keys]
    return [
        (block.mask << block.shift, radius)
        for block, radius in zip(plan.blocks, plan.radii, strict=True)
        if radius >= 0
    ]


def as_probing(plan: Plan) -> ProbingPlan | None:
    """Return *plan* as a plan of single short blocks that are probed at their own key only; None if it is none.

    >>> as_probing(Plan.classic(max_distance=3, blocks=4)).radii
    (0, 0, 0, 0)
    >>> as_probing(Plan.classic(max_distance=3, blocks=5)) is None
    True
    """
    single = {key[0] for key in plan.keys if len(key) == 1}
    if len(single) < len(plan.keys) or any(plan.blocks[number].width > CELL_BITS for number in single):
        return None
    radii = tuple(0 if number in single else -1 for number in range(len(plan.blocks)))
    return ProbingPlan(plan.max_distance, plan.blocks, radii)


def row_of(plan: Plan | ProbingPlan, each: int, least: int, most: int) -> int:
    """Return up to how many fingerprints an index of *plan* is a row, by NATIVE_ROW or PURE_ROW."""
    probes = len(plan.keys) if isinstance(plan, Plan) else plan.probes
    return max(least, min(most, each * probes))
