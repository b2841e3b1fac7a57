"""Measure how long a search takes in each way, beside the index that crawls use.

    python -m benchmarks.methods [--size 100000] [--distance 3]

Random fingerprints with a fixed seed; the mean of ``--searches`` searches, one in ten for what is near a stored one.
All ways must find the same, or the program fails. Times are those of pure Python, but for ``SimhashIndex``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from time import perf_counter

from benchmarks.lib.report import arguments_of, show
from benchmarks.methods import (
    ExpandedSet,
    FlipProbing,
    FrozenTables,
    ShardedTables,
    SortedRuns,
    SortedTables,
    SortedTrie,
    Way,
    by_guessing,
)
from benchmarks.methods.way import Plan
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.scan import Scan


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, measure, print a table."""
    parser = arguments_of(__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--searches", type=int, default=200)
    options = parser.parse_args(arguments)
    draw = random.Random(2007)
    values = [draw.getrandbits(64) for _ in range(options.size)]
    queries = [draw.getrandbits(64) for _ in range(options.searches)]
    for place in range(0, len(queries), 10):
        queries[place] = draw.choice(values) ^ 1 << draw.randrange(64)
    k, plan = options.distance, Plan.classic(options.distance, options.distance + 3)
    ways: dict[str, Callable[[], Way]] = {
        "FlipProbing": lambda: FlipProbing(k),
        "ExpandedSet": lambda: ExpandedSet(k),
        "SortedTrie": lambda: SortedTrie(k),
        "SortedTables, halving": lambda: SortedTables(plan),
        "SortedTables, guessing": lambda: SortedTables(plan, by_guessing),
        "SortedRuns": lambda: SortedRuns(plan),
        "FrozenTables": lambda: FrozenTables(plan, values),
        "ShardedTables": lambda: ShardedTables(plan, 8),
    }
    times: dict[str, float | None] = {}
    index = {"Scan": SimhashIndex(k, k + 3), "SimhashIndex": SimhashIndex(k, k + 3)}
    index["Scan"].core = Scan(k)
    for name, ours in index.items():
        ours.add_many(values)
        began = perf_counter()
        expected = [[(match.value, match.distance) for match in ours.find(query)] for query in queries]
        times[name] = (perf_counter() - began) / len(queries) * 1e6
    expected = [sorted(found, key=lambda match: match[::-1]) for found in expected]
    for name, make in ways.items():
        try:
            way = make()
            if name != "FrozenTables":
                way.add_many(values)
        except ValueError:  # it would take too much memory
            times[name] = None
            continue
        began = perf_counter()
        found = [way.find(query) for query in queries]
        times[name] = (perf_counter() - began) / len(queries) * 1e6
        if found != expected:
            raise SystemExit(f"{name} does not find what SimhashIndex finds")
    return show("methods/__main__.py", options, arguments, {"microseconds a search": times})


if __name__ == "__main__":
    sys.exit(main())
