"""What a probing plan costs in time and memory, foreseen, and how many blocks are the fastest.

A search takes so long for each key it probes, and so long for each fingerprint it compares. A probe is a walk to
distant memory, which is slower the larger the index; candidates grow with the index. So small indexes want many
blocks (few probes), large ones few blocks (few candidates).

The model is of random fingerprints. Real ones share bits and have more candidates: ``skew`` measures a sample.
"""

from __future__ import annotations

from contextlib import suppress
from math import exp
from typing import NamedTuple, SupportsIndex

from scrapy_simhash.index._arguments import checked_distance, checked_expected
from scrapy_simhash.index.plans.blocks import BITS
from scrapy_simhash.index.plans.cost import NATIVE, PURE, Core, Cost, between, running, tables_bytes
from scrapy_simhash.index.plans.growth import row_of
from scrapy_simhash.index.plans.probing_plan import ProbingPlan
from scrapy_simhash.index.pure.cells import LISTED_BITS, LISTED_SHARE

Points = tuple[tuple[float, float], ...]


class Times(NamedTuple):
    """What a search takes in one implementation of the index, in microseconds.

    A probe and a candidate by (number of fingerprints, microseconds), by the logarithm in between: memory is slower
    the more there is of it.
    """

    search: float
    probe: Points
    candidate: Points


#: By the name of the core. Measured by ``benchmarks/index.py --probing 3 4 5`` with ``--distance`` 8 and 10 (AMD EPYC
#: at 2.6 GHz with AVX-512, idle, Python 3.11, random fingerprints). Most of those figures are foreseen within a
#: fifth, all within a half. From ten million on nearly all the time is that of the candidates, and so linear.
TIMES = {
    NATIVE.name: Times(0.2, ((1e5, 0.022), (1e6, 0.075)), ((1e5, 0.0003), (1e6, 0.0006), (1e7, 0.0011))),
    PURE.name: Times(3.0, ((1e3, 0.025), (1e4, 0.068), (1e5, 0.18), (1e6, 0.32)), ((1, 0.055),)),
}
#: Bytes of a cell of pure Python beside its fingerprints, of its place in a dict and in a list, and of a flip.
CELL_BYTES, IN_DICT_BYTES, IN_LIST_BYTES, FLIP_BYTES = 33, 65, 8, 36


def probing_cost(
    plan: ProbingPlan, expected: SupportsIndex, core: Core | None = None, share: float | None = None
) -> Cost:
    """Return what *plan* takes with *expected* fingerprints, microseconds of a ``find_or_add`` in a batch.

    For *core*, by default the one that runs. *share* is the part of all fingerprints that are candidates of one, by
    default that of random ones.

    >>> probing_cost(ProbingPlan.even(max_distance=10, blocks=4), 65_536).candidates
    428.0
    """
    n, core = checked_expected(expected), core or running()
    candidates = n * (plan.share if share is None else share)
    if n < row_of(plan, *core.row):
        return Cost(candidates, core.row_bytes, core.call + core.scanned * n)
    size = tables_bytes(plan.widths, n, core) if core.name == NATIVE.name else _cells_bytes(plan, n, core)
    search, probe, candidate = TIMES[core.name]
    microseconds = search + between(probe, n) * plan.probes + between(candidate, n) * candidates
    return Cost(candidates, size, microseconds)


def blocks_for(max_distance: SupportsIndex, expected: SupportsIndex, core: Core | None = None) -> int:
    """Return how many blocks make a search of *expected* fingerprints the fastest, by ``probing_cost``.

    The kernel compares so fast that it is best with more blocks than pure Python: fewer probes, more candidates.

    Raises ValueError unless *max_distance* is from 0 to 64 and *expected* at least 0.

    >>> blocks_for(max_distance=10, expected=1_000_000, core=PURE)
    4
    >>> blocks_for(max_distance=10, expected=1_000_000, core=NATIVE)
    5
    """
    k, core = checked_distance(max_distance), core or running()
    # Fewer are scanned whatever the plan, which is for what may come.
    n = max(checked_expected(expected), core.row[2])
    costs = {}
    for blocks in range(1, BITS + 1):
        # With 64 blocks there are 65 probes at most: some plan is always within the limit.
        with suppress(ValueError):
            costs[blocks] = probing_cost(ProbingPlan.even(k, blocks), n, core).microseconds
    return min(costs, key=costs.__getitem__)


def _cells_bytes(plan: ProbingPlan, n: int, core: Core) -> float:
    """Return the bytes a fingerprint takes in cells of pure Python."""
    size = core.once_bytes + core.entry_bytes + plan.probes * FLIP_BYTES / n
    for width in plan.widths:
        places = 2.0**width
        used = places * (1 - exp(-n / places))
        is_listed = width <= LISTED_BITS and used >= LISTED_SHARE * places
        size += 8 + (used * CELL_BYTES + (places * IN_LIST_BYTES if is_listed else used * IN_DICT_BYTES)) / n
    return size
