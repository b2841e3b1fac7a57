"""Measure what find_or_add costs, and how many bytes a posting takes.

    python benchmarks/index.py --sizes 10000 100000 1000000 --blocks 4 6
    python benchmarks/index.py --sizes 10000 100000 1000000 --distance 10 --probing 3 4 5

For each size and design, each in a process of its own:

* ``add``: one fingerprint at a time into an empty index, mean; the memory it took by the index's own account
  (``nbytes``) and by the growth of the process (resident set), per posting;
* ``add_many``: all of them in one call, mean;
* ``find`` and ``find_or_add``: 10,000 single calls into the full index, one in a hundred of them planted at
  distance 1 to ``--distance`` of a stored fingerprint; median and 99th percentile, with the clock's 40 ns;
* recall: the planted ones whose original was among the matches. Anything but 1.000 is a bug.

Fingerprints are uniform random numbers with a fixed seed: real ones are less even and have more candidates.
Not measured: fingerprints of clustered pages, deletion, keys that share a value. Beside the index stand the
linear scan (small sizes only) and the plain way to do it in Python: four dicts, one for each 16 bits, from
those bits to a list of (value, key). That one is exact for distances up to 3. ``--probing`` measures the index
for wide distances.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.memory import resident_bytes
from benchmarks.lib.processes import alone
from scrapy_simhash.index import LinearScan, Match, ProbingIndex, SimhashIndex

SEED = 64
CALLS = 10_000
PLANTED_EVERY = 100
#: A scan compares about ten million fingerprints a second.
SCAN_LIMIT = 10_000
SCAN_CALLS = 500


class Searched(Protocol):
    """What every design under test can do."""

    def add(self, value: int, key: int, /) -> None:
        """Store a posting."""

    def add_many(self, values: Iterable[int], /) -> None:
        """Store values under the keys 0, 1, 2, ..."""

    def find(self, value: int, /) -> list[Match]:
        """Return the matches."""

    def find_or_add(self, value: int, key: int, /) -> list[Match]:
        """Return the matches; if there is none, store the posting."""

    @property
    def nbytes(self) -> int:
        """The memory it believes to take, in bytes."""


class FourDicts:
    """The baseline: dicts from 16 bits to a list of (value, key), the design of most pure-Python packages."""

    def __init__(self, max_distance: int) -> None:
        self.max_distance = max_distance
        self.buckets: list[dict[int, list[tuple[int, int]]]] = [{}, {}, {}, {}]

    def add(self, value: int, key: int) -> None:
        """Store a posting in four lists."""
        posting = value, key
        for number, buckets in enumerate(self.buckets):
            buckets.setdefault(value >> 16 * number & 0xFFFF, []).append(posting)

    def add_many(self, values: Iterable[int]) -> None:
        """Store values one by one."""
        for key, value in enumerate(values):
            self.add(value, key)

    def find(self, value: int) -> list[Match]:
        """Return the matches, from four lists."""
        found = {}
        for number, buckets in enumerate(self.buckets):
            for stored, key in buckets.get(value >> 16 * number & 0xFFFF, ()):
                distance = (stored ^ value).bit_count()
                if distance <= self.max_distance:
                    found[key] = Match(key, stored, distance)
        return sorted(found.values(), key=lambda match: (match.distance, match.key))

    def find_or_add(self, value: int, key: int) -> list[Match]:
        """Return the matches; if there is none, store the posting."""
        matches = self.find(value)
        if not matches:
            self.add(value, key)
        return matches

    @property
    def nbytes(self) -> int:
        """Lists, tuples and ints of 32 bytes each; O(n)."""
        lists = [postings for buckets in self.buckets for postings in buckets.values()]
        postings = sum(map(len, self.buckets[0].values()))
        return sum(map(sys.getsizeof, [*self.buckets, *lists])) + postings * (56 + 32 + 32)


def make(design: str, distance: int) -> Searched:
    """Return an empty *design*: ``scan``, ``4 dicts``, ``N blocks`` or ``probing N``."""
    if design == "scan":
        return LinearScan(distance)
    if design == "4 dicts":
        return FourDicts(distance)
    if design.startswith("probing"):
        return ProbingIndex(distance, int(design.split()[1]))
    return SimhashIndex(distance, int(design.split()[0]))


def measure(design: str, size: int, distance: int) -> dict[str, Any]:
    """Return the figures of one design at one size: times in microseconds, memory in bytes per posting."""
    draw = random.Random(SEED)
    values = [draw.getrandbits(64) for _ in range(size)]
    originals: dict[int, int] = {}
    queries = []
    for number in range(SCAN_CALLS if design == "scan" else CALLS):
        query = draw.getrandbits(64)
        if number % PLANTED_EVERY == 0 and distance:
            originals[number] = draw.randrange(size)
            query = values[originals[number]]
            for bit in draw.sample(range(64), draw.randint(1, distance)):
                query ^= 1 << bit
        queries.append(query)

    searched = make(design, distance)
    resident_before = resident_bytes()
    start = perf_counter_ns()
    for key, value in enumerate(values):
        searched.add(value, key)
    add = (perf_counter_ns() - start) / size
    resident = (resident_bytes() - resident_before) / size
    nbytes = searched.nbytes / size

    find_times, find_or_add_times, hits = [], [], 0
    for number, query in enumerate(queries):
        start = perf_counter_ns()
        matches = searched.find(query)
        find_times.append(perf_counter_ns() - start)
        hits += number in originals and originals[number] in {match.key for match in matches}
    for number, query in enumerate(queries):
        start = perf_counter_ns()
        searched.find_or_add(query, size + number)
        find_or_add_times.append(perf_counter_ns() - start)

    del searched
    batch = make(design, distance)
    start = perf_counter_ns()
    batch.add_many(values)
    add_many = (perf_counter_ns() - start) / size

    return {
        "size": size,
        "design": design,
        "add": add / 1000,
        "add_many": add_many / 1000,
        "find": statistics.median(find_times) / 1000,
        "find_p99": percentile_99(find_times) / 1000,
        "find_or_add": statistics.median(find_or_add_times) / 1000,
        "find_or_add_p99": percentile_99(find_or_add_times) / 1000,
        "nbytes": nbytes,
        "resident": resident,
        "recall": hits / len(originals) if originals else None,
    }


def percentile_99(times: list[int]) -> float:
    """Return the time that 99 in 100 do not exceed."""
    return statistics.quantiles(times, n=100)[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument(
        "--blocks",
        type=int,
        nargs="*",
        help="one SimhashIndex for each (default: 6, or none if the distance is greater than 5)",
    )
    parser.add_argument(
        "--probing",
        type=int,
        nargs="*",
        help="one ProbingIndex for each number of blocks (default: none, or 4 if the distance is greater than 5)",
    )
    parser.add_argument(
        "--distance", type=int, default=3, help="the greatest distance of a match (default: 3)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)

    is_wide = options.distance > 5
    blocks = options.blocks if options.blocks is not None else [] if is_wide else [6]
    probing = options.probing if options.probing is not None else [4] if is_wide else []
    indexes = [*(f"{number} blocks" for number in blocks), *(f"probing {number}" for number in probing)]
    rivals = ["4 dicts"] if options.distance <= 3 else []
    runs = [
        (design, size, options.distance)
        for size in options.sizes
        for design in [*indexes, *rivals, *(["scan"] if size <= SCAN_LIMIT else [])]
    ]
    machine = f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}"
    results = []
    if not options.json:
        print(f"{machine}; distance {options.distance}; microseconds a call, bytes a posting")
        print(
            f"{'size':>9} {'design':>9} | {'add':>7} {'add_many':>8} | {'find':>7} {'p99':>7} | "
            f"{'find_or_add':>11} {'p99':>7} | {'nbytes':>6} {'resident':>8} | recall"
        )
    for run in runs:
        if sys.stderr.isatty():
            print(f"measuring {run[0]} at {run[1]:,} ...", end="\r", file=sys.stderr, flush=True)
        # A process each: memory freed by the one before would hide the growth of the next.
        result = alone(measure, *run)
        results.append(result)
        if not options.json:
            print(
                "{size:>9,} {design:>9} | {add:7.2f} {add_many:8.2f} | {find:7.2f} {find_p99:7.2f} | "
                "{find_or_add:11.2f} {find_or_add_p99:7.2f} | {nbytes:6.0f} {resident:8.0f} | ".format(
                    **result
                )
                + ("-" if result["recall"] is None else f"{result['recall']:.3f}"),
                flush=True,
            )
    if options.json:
        print(json.dumps({"machine": machine, "distance": options.distance, "results": results}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
