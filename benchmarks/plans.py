"""Measure what ``find_or_add`` costs under each plan, beside what ``scrapy_simhash.index.plans.cost`` foresees.

    python benchmarks/plans.py --sizes 10k 100k 1M 10M --plans 4x16 6x21 8x24 11x29 20x32
    SCRAPY_SIMHASH_KERNEL=pure python benchmarks/plans.py --sizes 10k 100k --json
    python benchmarks/plans.py --distance 10 --plans "probing 4" "probing 5" --sizes 100k 1M 10M

For each size and plan an index is filled with so many random fingerprints (fixed seed). Then nine batches of new
ones are timed, ``find_or_add_many`` each, ``--calls`` in all; next to none is near a stored one. What counts is the
processor time of the fastest batch, to which other programs on the machine add the least. Bytes are by the index's
own account. Beside both stands the forecast, and the measured over the forecast, which should be near 1.

The last two columns are a point of the tables in ``cost.py`` and ``probing_cost.py``: the megabytes of the whole
index, and the microseconds a table, or a probe of a probing plan, which are what was measured without a call and its
candidates. Not measured: single calls, skewed fingerprints, growth.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time_ns
from typing import NamedTuple

if not __package__:  # started as a file
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.lib.report import environment, progress, table
from scrapy_simhash.cli.plan import parsed_number
from scrapy_simhash.index import Plan, ProbingIndex, ProbingPlan, SimhashIndex
from scrapy_simhash.index.plans.cost import between, cost, running
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.probing_cost import TIMES, probing_cost

SEED = 64
BATCHES = 9
HEAD = ["plan", "us", "foreseen", "ratio", "bytes", "foreseen", "ratio", "MB", "us a table"]
#: The plans of ProbingIndex that are measured too, by their blocks, from the distance on where they differ from 4x16.
PROBING, PROBING_FROM = (3, 4, 5), 4


class Measured(NamedTuple):
    """A plan at a size: what was measured, and what was foreseen."""

    plan: str
    size: int
    microseconds: float
    foreseen_microseconds: float
    bytes: float
    foreseen_bytes: float
    #: What a table took, or a probe, if all else took what was foreseen.
    table_microseconds: float


def measure(plan: Plan | ProbingPlan, size: int, calls: int) -> Measured:
    """Fill an index of *plan* with *size* fingerprints and time *calls* more."""
    draw = random.Random(SEED)
    index = SimhashIndex.from_plan(plan) if isinstance(plan, Plan) else ProbingIndex.from_plan(plan)
    filled = size - calls // 2  # so that it is *size* while it is timed, on average
    for start in range(0, filled, 1 << 20):
        index.add_many(_fingerprints(draw, min(1 << 20, filled - start)))
    spent = []
    for _ in range(BATCHES):
        batch = _fingerprints(draw, max(1, calls // BATCHES))
        start = process_time_ns()
        index.find_or_add_many(batch)
        spent.append((process_time_ns() - start) / len(batch) / 1000)
    if isinstance(plan, Plan):
        foreseen, walks = cost(plan, size), len(plan.keys)
        rest = cost(plan, size, replace(running(), table=((1, 0.0),))).microseconds
    else:
        foreseen, walks = probing_cost(plan, size), plan.probes
        times = TIMES[running().name]
        rest = times.search + between(times.candidate, size) * foreseen.candidates
    return Measured(
        plan.name,
        size,
        min(spent),
        foreseen.microseconds,
        index.nbytes / len(index),
        foreseen.bytes,
        (min(spent) - rest) / walks,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=parsed_number, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument(
        "--distance", type=int, default=3, help="the greatest distance of a match (default: 3)"
    )
    parser.add_argument("--plans", nargs="+", metavar="PLAN", help="by name, such as 4x16 (default: all)")
    parser.add_argument(
        "--calls", type=parsed_number, help="how many calls are timed (default: a tenth, to 100k)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args(arguments)

    known: dict[str, Plan | ProbingPlan] = {**plans_for(options.distance)}
    if options.distance >= PROBING_FROM:
        known |= {plan.name: plan for plan in (ProbingPlan.even(options.distance, m) for m in PROBING)}
    names = options.plans or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"--plans must be of {', '.join(known)}, got {unknown[0]}")
    plans = [known[name] for name in names]
    core = running()
    where = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    if not options.json:
        print("\n".join(where.values()))
        print(
            f"{core.name} index, distance {options.distance}; microseconds a find_or_add, bytes a fingerprint"
        )
    results = []
    for size in options.sizes:
        measured = []
        for plan in plans:
            progress(f"measuring {plan.name} at {size:,} ...")
            measured.append(measure(plan, size, options.calls or max(BATCHES, min(size // 10, 100_000))))
        progress("")
        results += measured
        if not options.json:
            print(f"\n{size:,} fingerprints")
            print(table(HEAD, [_row(result) for result in measured]))
    if options.json:
        print(
            json.dumps(
                {**where, "core": core.name, "results": [result._asdict() for result in results]}, indent=2
            )
        )
    return 0


def _fingerprints(draw: random.Random, count: int) -> array[int]:
    return array("Q", draw.randbytes(8 * count))


def _row(result: Measured) -> list[str]:
    return [
        result.plan,
        f"{result.microseconds:.3f}",
        f"{result.foreseen_microseconds:.3f}",
        f"{result.microseconds / result.foreseen_microseconds:.2f}",
        f"{result.bytes:.1f}",
        f"{result.foreseen_bytes:.1f}",
        f"{result.bytes / result.foreseen_bytes:.2f}",
        f"{result.bytes * result.size / 1e6:.1f}",
        f"{result.table_microseconds:.3f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
