"""Measure the search for all pairs within three bits, by number of fingerprints, beside other ways to do it.

    python benchmarks/pairs.py                          # table; --json for programs
    python benchmarks/pairs.py --sizes 1000000 --plans 4x16 6x21
    python benchmarks/pairs.py --peers                  # pip install hammingbird numpy

``auto`` is ``pairs()`` as it comes, ``pure`` the same without the compiled kernel, and names like ``6x21`` are
``pairs()`` with that plan of ``scrapy_simhash.index.plans``. ``connected`` makes clusters of the pairs,
``representatives`` clusters around the first that come. ``one key`` is the worst case for four blocks: fingerprints
that all share 16 bits. ``4 dicts`` is the plain way in Python: four dicts, from 16 bits each to a list of values.
The peers: ``hammingbird`` (``find_pairs_self``) and ``simhash-py`` (``find_all`` with 6 blocks).

Of each: seconds of processor time for all of it, the median of the rounds, with what turns values into what is taken
(a set, a row of numpy) and pairs into Python's; pairs found; the share of the planted ones among them; bytes a value
by which the process had grown at its most, which is what pairs kept in a list take too. The fingerprints are uniform
but for the planted ones, see ``benchmarks.lib.fingerprints``: real ones are less even and have more candidates.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any, TypeAlias

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.fingerprints import DISTANCE, PLANTED_EVERY, draw
from benchmarks.lib.memory import resident_bytes
from benchmarks.lib.processes import alone
from benchmarks.lib.report import environment, opening, progress, share, table
from scrapy_simhash import kernel
from scrapy_simhash.index.index import representatives
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.plans import plans_for

K, M = 1_000, 1_000_000
SIZES = (100 * K, M, 10 * M)
ROUNDS = 3

#: Takes values, and yields pairs or whatever is to be counted.
Search: TypeAlias = Callable[["array[int]"], Iterable[Any]]


def four_dicts(values: array[int]) -> Iterable[tuple[int, int]]:
    """Yield all pairs within three bits, (earlier, later), by the design of most packages in pure Python."""
    buckets: list[dict[int, list[int]]] = [{}, {}, {}, {}]
    for value in dict.fromkeys(values):
        near: set[int] = set()
        for number, by_bits in enumerate(buckets):
            bucket = by_bits.setdefault(value >> 16 * number & 0xFFFF, [])
            near.update(other for other in bucket if (other ^ value).bit_count() <= DISTANCE)
            bucket.append(value)
        for other in near:
            yield other, value


def hammingbird(values: array[int]) -> Iterable[tuple[int, int]]:
    """Yield all pairs of the package of this name, which returns positions."""
    rows = import_module("numpy").frombuffer(values, "uint8").reshape(-1, 8)
    for first, second, _ in import_module("hammingbird").find_pairs_self(rows, k=DISTANCE):
        yield values[first], values[second]


def simhash_py(values: array[int]) -> Iterable[tuple[int, int]]:
    """Return all pairs of simhash-py, whose module has the name of another package."""
    found: Iterable[tuple[int, int]] = import_module("simhash").find_all(values, 6, DISTANCE)
    return found


OURS: dict[str, Search] = {
    "auto": pairs,
    "pure": pairs,
    "connected": lambda values: connected(pairs(values)),
    "representatives": representatives,
    "one key": lambda values: pairs(array("Q", (value & ~0xFFFF for value in values)), blocks=4),
    "4 dicts": four_dicts,
}
PEERS: dict[str, Search] = {"hammingbird": hammingbird, "simhash-py": simhash_py}
#: The largest size of a run: beyond it takes minutes, or more memory than a machine has.
LARGEST = {"pure": M, "one key": 100 * K, "4 dicts": 100 * K, "hammingbird": M, "simhash-py": M}


def search_of(run: str) -> Search:
    """Return what *run* does: one of ours, a peer, or a plan."""
    if run in OURS or run in PEERS:
        return OURS.get(run) or PEERS[run]
    plan = plans_for(DISTANCE)[run]
    return lambda values: pairs(values, blocks=plan)


def measure(run: str, size: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the figures of one run at one size, or why it cannot be made."""
    if run == "pure":
        kernel.hamming = None
    drawn = draw(size, 0)
    values, search = drawn.values, search_of(run)
    try:
        search(values[:0])
        resident = resident_bytes()
        times = []
        for _ in range(rounds):
            start = process_time_ns()
            found = sum(1 for _ in search(values))
            times.append(process_time_ns() - start)
    except (ImportError, AttributeError) as error:
        return {"run": run, "size": size, "missing": str(error)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    result = {
        "run": run,
        "size": size,
        "seconds": median(times) / 1e9,
        "found": found,
        "bytes": max(0, peak - resident) / size,
        "recall": None,
    }
    if run not in ("connected", "representatives", "one key"):
        planted = {
            frozenset((values[position], values[original]))
            for position, original in zip(
                range(PLANTED_EVERY - 1, size, PLANTED_EVERY), drawn.originals, strict=True
            )
        }
        result["recall"] = len(planted.intersection(frozenset(pair[:2]) for pair in search(values))) / len(
            planted
        )
    return result


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    measured = [one for one in result["results"] if "missing" not in one]
    rows = [
        [
            one["run"],
            f"{one['size']:,}",
            f"{one['seconds']:.3f}",
            f"{one['found']:,}",
            share(one["recall"]),
            f"{one['bytes']:.0f}",
        ]
        for one in measured
    ]
    notes = [f"{one['run']} is missing: {one['missing']}" for one in result["results"] if "missing" in one]
    head = ["", "size", "seconds", "found", "recall", "bytes"]
    return "\n".join([opening(result), "", table(head, rows), *notes])


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument(
        "--plans",
        nargs="+",
        choices=list(plans_for(DISTANCE)),
        metavar="NAME",
        help="measure these plans only",
    )
    parser.add_argument("--peers", action="store_true", help="measure other libraries too")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    if min(options.sizes) < PLANTED_EVERY:
        parser.error(f"a size must be at least {PLANTED_EVERY}, got {min(options.sizes)}")

    runs = [*(options.plans or OURS), *(PEERS if options.peers else ())]
    result: dict[str, Any] = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    result["results"] = []
    for size in options.sizes:
        for run in runs:
            if size <= LARGEST.get(run, size):
                progress(f"{run} at {size:,} ...")
                # A process each: memory freed by the one before would hide the growth of the next.
                result["results"].append(alone(measure, run, size))
    progress("")
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
