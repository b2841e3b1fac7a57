"""Measure the Hamming index from a hundred thousand to a hundred million fingerprints, beside what is wanted of it.

    python benchmarks/hamming.py                                # tables; --json for programs
    python benchmarks/hamming.py --sizes 100000 --only auto lean
    python benchmarks/hamming.py --sizes 100000000 --only auto  # some ten minutes
    python benchmarks/hamming.py --peers                        # and other libraries, see ``hamming_peers``

All is about matches within three bits. ``auto``, ``lean`` (4 blocks, 4 tables) and ``classic`` (6 blocks, 20
tables) are plans of ``SimhashIndex``. Of each is measured:

* batch: ``find_or_add_many`` with 2,000 fresh fingerprints at a time, told to an index that has got as many as the
  size says, the median of ten calls; growing: the mean of the batch calls that filled it, from empty;
* single: ``find_or_add`` for each of a list of 2,000 ints, without the time of the loop, the median of ten lists;
* bytes of a fingerprint with its key: the index's own account (``nbytes``) and the growth of the process (resident
  set) while it was filled; what counts is the greater of the two;
* p99.9 and maximum of a call to ``find_or_add`` while an index grows from empty to the size by such calls. Beside it
  the time of the clock itself, which is in it, and how often another process took the core: where that is more than
  one call in a thousand, p99.9 tells of the machine;
* found: the share of the planted ones among the fresh for which a batch call returned a key.

Besides: ``pure``, the lean plan without the compiled kernel; ``pairs``, a pass of ``pairs()`` over a filled index,
and of ``scrapy_simhash.index.pairs.pairs`` over the bare values, the median of three, with how many are planted and
how many are found; ``recall``, every plan at hand, filled by ``add_many``: what share of 1,000 planted ones ``find``
finds, and for what share of 20 it returns what a linear scan does.

The fingerprints are those of ``benchmarks.lib.fingerprints``, uniform ones. Real ones are less even and have more
candidates. Times are processor time, but for p99.9 and maximum. Each run has a process of its own, on one core where
the system allows. Runs that would take too long, or more memory than there is, are left out, which is said.

Not measured: deletion, several keys of one value, files. Other designs in pure Python: ``benchmarks/index.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib import hamming_runs
from benchmarks.lib.hamming_peers import PEERS
from benchmarks.lib.hamming_runs import PLANS, Measure
from benchmarks.lib.report import environment, opening, progress, table

K, M = 1_000, 1_000_000
SIZES = (100 * K, M, 10 * M)
#: Fewer have too few planted among them.
LEAST_SIZE = 1_000

#: What is measured in each run, one after another.
MEASURES: dict[str, tuple[Measure, ...]] = {
    **dict.fromkeys(PLANS, (hamming_runs.measure_calls, hamming_runs.measure_growth)),
    "pure": (hamming_runs.measure_calls,),
    "pairs": (hamming_runs.measure_pairs,),
    "recall": (hamming_runs.measure_recall,),
}
#: The largest size of a run: beyond it nothing is wanted of it, and it would take long.
LARGEST = {
    "pure": M,
    "pairs": 10 * M,
    "recall": 10 * M,
    **{name: peer.largest for name, peer in PEERS.items()},
}
LARGEST_GROWTH = 10 * M
#: Bytes a fingerprint that a run may need, at most and about.
ROOM = {"auto": 110, "lean": 110, "classic": 500, "pure": 300, "pairs": 300, "recall": 500,
        "faiss": 500, "pynear": 500, "simhash": 2_500, "gaoya": 2_500}  # fmt: skip


class Figure(NamedTuple):
    """One line of what is wanted: a field of a run's results."""

    name: str
    run: str
    field: str
    unit: str
    #: By size what may not be exceeded; of a recall what must be reached.
    wanted: Mapping[int, float]

    def is_reached(self, measured: float, size: int) -> bool | None:
        """Return whether *measured* is what is wanted at *size*, None where nothing is."""
        if size not in self.wanted:
            return None
        return measured >= self.wanted[size] if self.is_floor else measured <= self.wanted[size]

    @property
    def is_floor(self) -> bool:
        """Whether more is better."""
        return self.field == "recall"


BATCH = {100 * K: 0.35, M: 0.5, 10 * M: 0.9, 100 * M: 3.0}
SINGLE = {100 * K: 0.6, M: 0.8, 10 * M: 1.3}
FIGURES = (
    Figure("find_or_add, batch call, auto plan", "auto", "batch", "µs", BATCH),
    Figure("filling by batch calls, auto plan", "auto", "filling", "s", {100 * M: 600}),
    Figure("find_or_add, single call, auto plan", "auto", "single", "µs", SINGLE),
    Figure("bytes with its key, lean plan", "lean", "bytes", "B", {M: 60, 10 * M: 40, 100 * M: 40}),
    Figure("bytes with its key, classic plan", "classic", "bytes", "B", {M: 280, 10 * M: 240}),
    Figure("p99.9 of a call while growing, auto plan", "auto", "p999", "µs", {M: 50, 10 * M: 2_000}),
    Figure("all pairs within 3 bits", "pairs", "pass_of_index", "s", {100 * K: 0.05, M: 0.3, 10 * M: 2}),
    Figure("find_or_add, single call, pure Python, lean plan", "pure", "single", "µs", {100 * K: 8, M: 20}),
    Figure("recall, the least of every plan", "recall", "recall", "", dict.fromkeys(SIZES, 1)),
)


def available_bytes() -> int | None:
    """Return the memory that can be taken, None where the system does not tell."""
    meminfo = Path("/proc/meminfo")
    lines = meminfo.read_text("ascii").splitlines() if meminfo.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def obstacle(run: str, size: int) -> str | None:
    """Return why *run* is not made at *size*, None where it can be."""
    if size > LARGEST.get(run, size):
        return f"it is made up to {LARGEST[run]:,}"
    room, available = size * ROOM.get(run, 0), available_bytes()
    if available is not None and room > available:
        return f"it may take {room / 1e9:.1f} GB of memory, {available / 1e9:.1f} are free"
    return None


def measure(runs: Sequence[str], sizes: Sequence[int]) -> dict[str, Any]:
    """Return the results of *runs* at *sizes*, what was left out and why, and what failed, with the error."""
    results: list[dict[str, Any]] = []
    left_out, failed, missing = {}, {}, {}
    for size in sizes:
        for run in runs:
            named = f"{run} at {size:,}"
            if why := obstacle(run, size):
                left_out[named] = why
                continue
            result: dict[str, Any] = {"run": run, "size": size}
            for one in MEASURES.get(run, (hamming_runs.measure_peer,)):
                if one is hamming_runs.measure_growth and size > LARGEST_GROWTH:
                    left_out[f"{named}, single calls from empty"] = f"they are made up to {LARGEST_GROWTH:,}"
                    continue
                progress(f"{named} ...")
                try:
                    result |= hamming_runs.alone(one, run, size)
                except (
                    Exception
                ) as error:  # a run that fails, or dies for lack of memory, costs its own figures
                    traceback.print_exception(error)
                    failed[named] = f"{type(error).__name__}: {error}"
            if "missing" in result:
                missing[run] = result["missing"]
            elif len(result) > 2:
                results.append(result)
    progress("")
    return {"results": results, "left_out": left_out, "missing": missing, "failed": failed}


def figures(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what is wanted and has been measured, with whether it is reached."""
    return [
        {
            "figure": figure.name,
            "size": one["size"],
            "measured": one[figure.field],
            "wanted": figure.wanted.get(one["size"]),
            "unit": figure.unit,
            "reached": figure.is_reached(one[figure.field], one["size"]),
        }
        for figure in FIGURES
        for one in results
        if one["run"] == figure.run and figure.field in one
    ]


def as_text(result: Mapping[str, Any]) -> str:
    """Return *result* as a person reads it."""
    results = result["results"]
    of = {run: [one for one in results if one["run"] == run] for run in [*MEASURES, *PEERS]}
    plans = [one for run in [*PLANS, "pure"] for one in of[run] if "batch" in one]
    peers = [one for run in PEERS for one in of[run]]
    parts = [opening(result)]
    if result["figures"]:
        parts.append(f"FIGURES\n{_figures_as_text(result['figures'])}")
    if plans:
        parts.append(f"PLANS: microseconds a call, bytes a fingerprint\n{_plans_as_text(plans)}")
    for one in of["pairs"]:
        parts.append(
            f"PAIRS at {one['size']:,}: {one['planted']:,} planted,"
            f" {one['found_of_index']:,} found in {one['pass_of_index']:.3f} s by index.pairs(),"
            f" {one['found_of_values']:,} in {one['pass_of_values']:.3f} s by pairs(values)"
        )
    for one in of["recall"]:
        rows = [[name, *(f"{share:.3f}" for share in plan.values())] for name, plan in one["plans"].items()]
        head = ["plan", f"of {one['queries']:,} planted", f"of {one['scans']} scanned"]
        parts.append(f"RECALL at {one['size']:,}\n{table(head, rows)}")
    if peers:
        own = [one for one in of["auto"] if "single" in one]
        parts.append(f"PEERS: microseconds a call, bytes a fingerprint\n{_peers_as_text(own, peers)}")
    notes = [
        *(f"{name} is missing: {why}" for name, why in result["missing"].items()),
        *(f"{name} is left out: {why}" for name, why in result["left_out"].items()),
        *(f"{name} FAILED: {error}" for name, error in result["failed"].items()),
    ]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])


def _figures_as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {True: "reached", False: "not reached", None: "-"}
    head = ["", "size", "measured", "wanted", ""]
    signs = {figure.name: ">=" if figure.is_floor else "<=" for figure in FIGURES}
    cells = [
        [
            one["figure"],
            f"{one['size']:,}",
            f"{_number(one['measured'])} {one['unit']}".rstrip(),
            "-"
            if one["wanted"] is None
            else f"{signs[one['figure']]} {one['wanted']:,} {one['unit']}".rstrip(),
            verdicts[one["reached"]],
        ]
        for one in rows
    ]
    return table(head, cells)


def _plans_as_text(plans: Sequence[Mapping[str, Any]]) -> str:
    fields = ("batch", "growing", "single", "nbytes", "resident", "p999", "max", "clock")
    head = [
        "plan",
        "size",
        "tables",
        "batch",
        "growing",
        "single",
        "nbytes",
        "resident",
        "p99.9",
        "max",
        "clock",
    ]
    rows = [
        [
            one["run"],
            f"{one['size']:,}",
            one["tables"],
            *(_number(one.get(field)) for field in fields),
            f"{one['preempted']:,}" if "preempted" in one else "-",
            _number(one["found"]),
        ]
        for one in plans
    ]
    return table([*head, "preempted", "found"], rows)


def _peers_as_text(own: Sequence[Mapping[str, Any]], peers: Sequence[Mapping[str, Any]]) -> str:
    head = ["", "size", "query", "insert", "both", "build", "resident", "recall"]
    rows = [
        [
            "find_or_add, single call, auto plan",
            f"{one['size']:,}",
            "-",
            "-",
            *(_number(one[field]) for field in ("single", "growing", "resident", "found")),
        ]
        for one in own
    ]
    for one in peers:
        both = None if one["insert"] is None else one["query"] + one["insert"]
        numbers = (one["query"], one["insert"], both, one["build"], one["resident"], one["recall"])
        rows.append([one["version"], f"{one['size']:,}", *map(_number, numbers)])
    return table(head, rows)


def _number(value: float | None) -> str:
    """Return three digits at least, ``-`` for None.

    >>> _number(0.3456), _number(34.56), _number(3456.7), _number(None)
    ('0.346', '34.6', '3,457', '-')
    """
    return "-" if value is None else f"{value:,.{3 if value < 10 else 1 if value < 1_000 else 0}f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON. Return 1 if a run of ours failed, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--only", nargs="+", choices=[*MEASURES, *PEERS], metavar="NAME",
                        help=f"make these runs only: {', '.join([*MEASURES, *PEERS])}")  # fmt: skip
    parser.add_argument("--peers", action="store_true", help="measure every other library too")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args(arguments)
    if min(options.sizes) < LEAST_SIZE:
        parser.error(f"a size must be at least {LEAST_SIZE:,}, got {min(options.sizes):,}")

    runs = dict.fromkeys([*(options.only or MEASURES), *(PEERS if options.peers else ())])
    result: dict[str, Any] = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    result |= measure(list(runs), options.sizes)
    result["figures"] = figures(result["results"])
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return int(any(name.split()[0] in MEASURES for name in result["failed"]))


if __name__ == "__main__":
    sys.exit(main())
