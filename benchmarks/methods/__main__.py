"""Measure how long a search takes in each way, beside the index that crawls use.

    python -m benchmarks.methods [--size 100000] [--distance 3]

Random fingerprints with a fixed seed; the mean of ``--searches`` searches, one in ten for what is near a stored one.
All ways must find the same, or the program fails. Times are those of pure Python, but for the last line.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from time import perf_counter

from benchmarks.lib.report import environment, opening, table
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
from scrapy_simhash.index import LinearScan, Plan, SimhashIndex


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, measure, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
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
    rows = []
    index: dict[str, LinearScan | SimhashIndex] = {
        "LinearScan": LinearScan(k),
        "SimhashIndex": SimhashIndex(k, k + 3),
    }
    for name, ours in index.items():
        ours.add_many(values)
        began = perf_counter()
        expected = [[(match.value, match.distance) for match in ours.find(query)] for query in queries]
        rows.append([name, f"{(perf_counter() - began) / len(queries) * 1e6:,.0f}"])
    expected = [sorted(found, key=lambda match: match[::-1]) for found in expected]
    for name, make in ways.items():
        try:
            way = make()
            if name != "FrozenTables":
                way.add_many(values)
        except ValueError:  # it would take too much memory
            rows.insert(-1, [name, "-"])
            continue
        began = perf_counter()
        found = [way.find(query) for query in queries]
        rows.insert(-1, [name, f"{(perf_counter() - began) / len(queries) * 1e6:,.0f}"])
        if found != expected:
            raise SystemExit(f"{name} does not find what SimhashIndex finds")
    print(
        opening({**environment("", []), "command": " ".join(["python -m benchmarks.methods", *sys.argv[1:]])})
    )
    print(table(["way", "us a search"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
