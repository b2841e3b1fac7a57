"""What ``hamming`` measures: one function for each kind of run, and the process it runs in.

Each takes the name of a run and a size, makes its own fingerprints and its own index, and returns figures by name:
times in microseconds unless it says otherwise, memory in bytes a fingerprint. Times are processor time, so that other
work on the machine is not in them; only how slow the slowest calls are is told by the clock.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from statistics import median
from time import perf_counter_ns, process_time_ns
from typing import Any, TypeAlias

from benchmarks.lib import hamming_peers
from benchmarks.lib.fingerprints import DISTANCE, draw
from benchmarks.lib.hamming_peers import CHUNK
from benchmarks.lib.memory import resident_bytes
from benchmarks.lib.report import progress
from scrapy_simhash import kernel
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.plans import plans_for

Measure: TypeAlias = Callable[[str, int], dict[str, Any]]

#: By run the blocks of its plan.
PLANS: dict[str, int | str] = {"auto": "auto", "lean": 4, "classic": 6}
#: Fresh fingerprints for the batch calls, and as many for the single ones.
FRESH = 20_000
#: Fingerprints of a batch call that fills an index.
FILLING = 65_536
#: Rounds of ``pairs``, and queries answered by a linear scan.
ROUNDS, SCANS = 3, 20


def alone(measure: Measure, run: str, size: int) -> dict[str, Any]:
    """Return what *measure* returns in a process of its own, where memory is untouched."""
    spawn = multiprocessing.get_context("spawn")
    with (
        _kernel("pure" if run == "pure" else None),
        ProcessPoolExecutor(1, mp_context=spawn, initializer=_take_one_core) as pool,
    ):
        return pool.submit(measure, run, size).result()


@contextmanager
def _kernel(name: str | None) -> Iterator[None]:
    """Force the kernel *name*, if any, on the processes that are started meanwhile."""
    before = os.environ.get(kernel.VARIABLE)
    if name:
        os.environ[kernel.VARIABLE] = name
    try:
        yield
    finally:
        os.environ.pop(kernel.VARIABLE, None)
        if before is not None:
            os.environ[kernel.VARIABLE] = before


def _take_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure_calls(run: str, size: int) -> dict[str, Any]:
    """Return what calls to an index over one plan cost, in microseconds, and the bytes of a fingerprint."""
    drawn = draw(size, 2 * FRESH)
    gc.collect()
    before = resident_bytes()
    index = made(run)
    filling = 0
    for chunk in chunks(memoryview(drawn.values), FILLING):
        start = process_time_ns()
        index.find_or_add_many(chunk)
        filling += process_time_ns() - start
        progress(f"{run}: {len(index):,} of {size:,} ...")
    stored = len(index)
    nbytes, resident = index.nbytes / stored, (resident_bytes() - before) / stored
    batches, singles, found, planted = [], [], 0, 0
    for number, chunk in enumerate(chunks(drawn.fresh[:FRESH], CHUNK)):
        start = process_time_ns()
        answers = index.find_or_add_many(chunk)
        batches.append((process_time_ns() - start) / CHUNK)
        of_planted = [key for at, key in enumerate(answers, number * CHUNK) if at in drawn.planted]
        planted += len(of_planted)
        found += sum(key >= 0 for key in of_planted)
    for number, chunk in enumerate(chunks(drawn.fresh[FRESH:].tolist(), CHUNK)):
        singles.append(_nanoseconds(index.find_or_add, chunk, size + FRESH + number * CHUNK))
    return {
        "tables": index.plan.name,
        "kernel": kernel.NAME,
        "batch": median(batches) / 1e3,
        "growing": filling / size / 1e3,
        "filling": filling / 1e9,
        "single": median(singles) / 1e3,
        "nbytes": nbytes,
        "resident": resident,
        "bytes": max(nbytes, resident),
        "found": found / planted,
    }


def _nanoseconds(find_or_add: Callable[[int, int], object], values: Sequence[int], first_key: int) -> float:
    """Return what a call takes, without the loop around it."""
    start = process_time_ns()
    for key, value in enumerate(values, first_key):
        find_or_add(value, key)
    called = process_time_ns()
    for _key, _value in enumerate(values, first_key):
        pass
    return (2 * called - start - process_time_ns()) / len(values)


def measure_growth(run: str, size: int) -> dict[str, Any]:
    """Return how many microseconds the slowest calls took of those that filled an index one by one."""
    values = draw(size, 0).values
    index = made(run)
    find_or_add, clock = index.find_or_add, perf_counter_ns
    # How often each time occurs, in tenths of a microsecond: a list of all would be larger than the index.
    times: Counter[int] = Counter()
    before = _preemptions()
    for key, value in enumerate(values):
        start = clock()
        find_or_add(value, key)
        times[(clock() - start) // 100] += 1
        if not key % FILLING:
            progress(f"{run}: {key:,} of {size:,}, one by one ...")
    preempted = _preemptions() - before
    return {
        "p999": quantile(times, 0.999) / 10,
        "max": max(times) / 10,
        "clock": median(-clock() + clock() for _ in range(1_000)) / 1e3,
        "preempted": preempted,
    }


def _preemptions() -> int:
    """Return how often this process has lost its core to another."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def quantile(times: Mapping[int, int], part: float) -> int:
    """Return the least of *times*, which has how often each occurs, that a *part* of all do not exceed.

    >>> quantile({5: 998, 7: 1, 90: 1}, 0.999), quantile({5: 998, 7: 1, 90: 1}, 0.9991)
    (7, 90)
    """
    left = part * sum(times.values())
    for time in sorted(times):
        left -= times[time]
        if left < 1e-6:  # 0.999 times a whole number is seldom exact
            return time
    raise ValueError(f"part must be from 0 to 1 and times not empty, got {part} of {len(times)}")


def measure_pairs(run: str, size: int) -> dict[str, Any]:
    """Return the seconds of a pass over all pairs, of an index and of bare values, and how many there are."""
    drawn = draw(size, 0)
    index = made("auto")
    index.add_many(drawn.values)
    ways: dict[str, Callable[[], Iterable[object]]] = {
        "index": index.pairs,
        "values": lambda: pairs(drawn.values, DISTANCE),
    }
    result: dict[str, Any] = {"planted": len(drawn.originals)}
    for name, way in ways.items():
        times = []
        for number in range(1, ROUNDS + 1):
            progress(f"{run} of {size:,}, {name}: round {number} of {ROUNDS} ...")
            start = process_time_ns()
            result[f"found_of_{name}"] = sum(1 for _ in way())
            times.append(process_time_ns() - start)
        result[f"pass_of_{name}"] = median(times) / 1e9
    return result


def measure_recall(run: str, size: int) -> dict[str, Any]:
    """Return by plan the share of planted fingerprints found, and of queries answered as a linear scan does."""
    drawn = draw(size, FRESH)
    # Every other one of them planted, the others right before one that is.
    scanned = [at - number % 2 for number, at in enumerate(drawn.planted)][:SCANS]
    truth = []
    for number, at in enumerate(scanned, 1):
        progress(f"{run} at {size:,}: linear scan {number} of {len(scanned)} ...")
        value = drawn.fresh[at]
        truth.append({key for key, one in enumerate(drawn.values) if (one ^ value).bit_count() <= DISTANCE})
    plans = {}
    for name, index in every_plan():
        progress(f"{run} at {size:,}: {name} ...")
        index.add_many(drawn.values)
        answers = {
            at: {match.key for match in index.find(drawn.fresh[at])} for at in {*drawn.planted, *scanned}
        }
        found = sum(original in answers[at] for at, original in drawn.planted.items())
        alike = sum(answers[at] == keys for at, keys in zip(scanned, truth, strict=True))
        plans[name] = {"planted": found / len(drawn.planted), "scanned": alike / len(scanned)}
    least = min(share for plan in plans.values() for share in plan.values())
    return {"recall": least, "plans": plans, "queries": len(drawn.planted), "scans": len(scanned)}


def every_plan() -> Iterator[tuple[str, Any]]:
    """Yield an empty index over every plan there is for the distance, with its name."""
    yield "auto", made("auto")
    for name, plan in plans_for(DISTANCE).items():
        yield name, SimhashIndex.from_plan(plan)


def measure_peer(run: str, size: int) -> dict[str, Any]:
    """Return the figures of another library."""
    drawn = draw(size, FRESH)
    return hamming_peers.measure(run, drawn.values, drawn.fresh, drawn.planted)


def chunks(values: Any, length: int) -> Iterator[Any]:
    """Yield slices of *values*, each of *length* but for the last."""
    return (values[first : first + length] for first in range(0, len(values), length))


def made(run: str) -> SimhashIndex:
    """Return an empty index over the plan of *run*."""
    blocks: Any = PLANS.get(run, 4)
    return SimhashIndex(DISTANCE, blocks)
