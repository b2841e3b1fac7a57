"""Measure the index: calls, memory and recall by size, and the search for all pairs.

    python benchmarks/index.py                                   # tables; --json for programs
    python benchmarks/index.py --distance 8 --only auto
    python benchmarks/index.py --sizes 100000000 --only auto     # takes about ten minutes

Designs, of which ``--only`` selects some: ``auto`` (the plan that ``SimhashIndex`` chooses), ``classic`` (6 blocks,
20 tables, for distances up to 5) and ``scan`` (without the C extension). Each design runs in a separate process. All
times are processor time in microseconds:

* many: ``add_many`` with 2,000 new fingerprints per call, into an index of the given size; median of the calls;
* single, find: ``find_or_add`` and ``find``, one fingerprint per call, without the time of the loop;
* growing: mean of the calls that filled the index, 65,536 fingerprints at a time;
* nbytes, resident: bytes per fingerprint with its key, according to ``nbytes`` and to the growth of the process;
* recall: the share of planted fingerprints whose original was found. Less than 1 is a bug.

``pairs``: seconds of a search for all pairs of values, and the share of planted pairs that were found.

Fingerprints are uniformly random, and one in a hundred is planted near another one. Real fingerprints are less even
and have more candidates. Not measured: deletion.
"""

from __future__ import annotations

import random
import sys
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any, NamedTuple

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.processes import alone, resident_bytes, timed
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.scan import Scan

SEED = 67
#: One fingerprint in this many is near an earlier one: among those of the index, and among new ones.
PLANTED_EVERY, FRESH_PLANTED_EVERY = 100, 20
#: New fingerprints in total and per measurement, and fingerprints per call when an index is filled.
FRESH, CHUNK, FILLING = 20_000, 2_000, 65_536
#: Rounds of ``pairs``.
ROUNDS = 3
PLANS: dict[str, Any] = {"auto": "auto", "classic": 6, "scan": "auto"}
#: Max size of a design; a larger one takes too long, or too much memory.
LARGEST = {"scan": 100_000, "pairs": 10_000_000}


class Drawn(NamedTuple):
    """The fingerprints and queries of an index."""

    values: array[int]
    #: The position of the original of each ``PLANTED_EVERY``-th value.
    originals: array[int]
    fresh: array[int]
    #: From a position in ``fresh`` to the position of its original in ``values``.
    planted: dict[int, int]


def draw(size: int, fresh: int, distance: int = 3) -> Drawn:
    """Return *size* fingerprints and *fresh* more, always the same; planted ones differ in up to *distance* bits.

    An original is not planted itself, so ``find_or_add`` has stored it. Each original has one planted value, so apart
    from pairs by chance, the number of pairs is that of planted values.

    >>> drawn = draw(size=1_000, fresh=40)
    >>> len(drawn.values), len(drawn.originals), sorted(drawn.planted)
    (1000, 10, [0, 20])
    >>> (drawn.values[99] ^ drawn.values[drawn.originals[0]]).bit_count() <= 3
    True
    """
    randoms = random.Random(SEED)
    values, originals, used = array("Q"), array("Q"), bytearray(size)
    while len(values) < size:
        # Small batches, so that freed memory does not hide the growth of the index.
        values.frombytes(randoms.randbytes(8 * min(4_096, size - len(values))))

    def not_planted(end: int) -> int:
        position = randoms.randrange(end)
        return position - (position % PLANTED_EVERY == PLANTED_EVERY - 1)

    def near(value: int) -> int:
        for bit in randoms.sample(range(64), randoms.randint(1, distance)):
            value ^= 1 << bit
        return value

    for position in range(PLANTED_EVERY - 1, size, PLANTED_EVERY):
        original = not_planted(position)
        while used[original]:
            original = not_planted(position)
        used[original] = True
        originals.append(original)
        values[position] = near(values[original])
    added, planted = array("Q", randoms.randbytes(8 * fresh)), {}
    for number in range(0, fresh, FRESH_PLANTED_EVERY):
        planted[number] = not_planted(size)
        added[number] = near(values[planted[number]])
    return Drawn(values, originals, added, planted)


def make(design: str, distance: int) -> SimhashIndex:
    """Return an empty index of a *design*."""
    index = SimhashIndex(distance, PLANS[design])
    if design == "scan":
        index.core = Scan(distance)
    return index


def measure_calls(design: str, size: int, distance: int) -> dict[str, Any]:
    """Return the times and the memory of one index design at one size."""
    drawn = draw(size, 2 * FRESH, distance)
    resident = resident_bytes()
    index = make(design, distance)
    filling = 0
    for first in range(0, size, FILLING):
        chunk = memoryview(drawn.values)[first : first + FILLING]
        _, took = timed(partial(index.add_many, chunk))
        filling += took
        progress(f"{design}: {first:,} of {size:,} ...")
    resident = resident_bytes() - resident
    found: dict[str, Any] = {
        "growing": filling / size / 1e3,
        "resident": resident / len(index),
        "nbytes": index.nbytes / len(index),
    }
    many, single, find = [], [], []
    hits, planted = 0, 0
    for first in range(0, FRESH, CHUNK):
        values = drawn.fresh[first : first + CHUNK]
        find.append(_without_loop(lambda value, key: index.find(value), values, 0))
        for number in range(0, len(values), FRESH_PLANTED_EVERY):
            planted += 1
            hits += drawn.planted[first + number] in {match.key for match in index.find(values[number])}
        many.append(timed(partial(index.add_many, values))[1] / CHUNK)
    for first in range(FRESH, 2 * FRESH, CHUNK):
        values = drawn.fresh[first : first + CHUNK]
        single.append(_without_loop(index.find_or_add, values, size + first))
    return {
        **found,
        "many": median(many) / 1e3,
        "single": median(single) / 1e3,
        "find": median(find) / 1e3,
        "recall": hits / planted,
    }


def _without_loop(call: Callable[[int, int], object], values: Sequence[int], first: int) -> float:
    """Return the nanoseconds per call, without those of the loop."""
    start = process_time_ns()
    for key, value in enumerate(values, first):
        call(value, key)
    called = process_time_ns()
    for _key, _value in enumerate(values, first):
        pass
    return (2 * called - start - process_time_ns()) / len(values)


def measure_pairs(size: int, distance: int) -> dict[str, Any]:
    """Return the seconds of a search for all pairs, their number, and the share of planted pairs among them."""
    drawn = draw(size, 0, distance)
    values = drawn.values
    rounds = [timed(lambda: {frozenset(pair[:2]) for pair in pairs(values, distance)}) for _ in range(ROUNDS)]
    found = rounds[0][0]
    places = range(PLANTED_EVERY - 1, size, PLANTED_EVERY)
    wanted = {
        frozenset((values[place], values[original]))
        for place, original in zip(places, drawn.originals, strict=True)
    }
    seconds = median(time for _, time in rounds) / 1e9
    return {"seconds": seconds, "found": len(found), "recall": len(wanted & found) / len(wanted)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000], metavar="N")
    parser.add_argument("--distance", type=int, default=3, help="of a match, in bits (default: 3)")
    names = [*PLANS, "pairs"]
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help=f"some of: {', '.join(names)}"
    )
    options = parser.parse_args(arguments)
    if min(options.sizes) < PLANTED_EVERY:
        parser.error(f"a size must be at least {PLANTED_EVERY}, got {min(options.sizes)}")
    wide = options.distance > 5
    designs = options.only or ["auto", "scan"] + ([] if wide else ["classic", "pairs"])
    result: dict[str, Any] = {}
    for size in options.sizes:
        calls = {}
        for design in dict.fromkeys(designs):
            if size > LARGEST.get(design, size):
                continue
            progress(f"{design} at {size:,} ...")
            # Each in a separate process, because freed memory would hide the growth of the next index.
            if design == "pairs":
                result[f"pairs at {size:,}"] = alone(measure_pairs, size, options.distance)
            else:
                calls[design] = alone(measure_calls, design, size, options.distance)
        if calls:
            result[f"microseconds a call, bytes a fingerprint, at {size:,}"] = calls
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
