"""Measure how long pages, URLs, headers and items made to take long hold up a crawl.

    python benchmarks/attacks.py                         # a table; --json for programs
    python benchmarks/attacks.py --only comments "nested list" --scale 10
    python benchmarks/attacks.py --kernels native

Each attack of ``lib/attacks.py`` is made in three sizes, each twice the one before, and goes through every way into
the plugin: its fingerprint is read, on a known site too, its text, its hints, its protections; it is taken for a
flood, and for an item; detector and middleware get it and its copy. For each kernel the table has, for the largest
size, the milliseconds of the slowest way but for the last two, those of the middleware for one page of the two, and
the largest factor of all ways from one size to the next: 2 is linear work, 4 is quadratic. ``parse`` is Scrapy's own
work. ``--json`` has the times of each way.

Times are processor time, the least of a few runs, with the garbage collector at rest; what takes less than 20 ms has
no factor. Not measured: what the rest of Scrapy does, and memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.attacks import ATTACKS, SIZES, TOGETHER, Attack, Case, entries, growth, kernel_of, seconds
from benchmarks.lib.clock import timed
from benchmarks.lib.readers import NATIVE, PURE
from benchmarks.lib.report import environment, opening, progress, table
from scrapy_simhash import kernel


def measure(attack: Attack, scale: float, kernels: Sequence[str], repeats: int) -> dict[str, Any]:
    """Return the size in bytes and the seconds of the parse for the largest size, and of each way for all sizes."""
    visits = [attack.make(max(1, int(attack.units * scale * size))) for size in SIZES]
    cases = []
    for visit in visits:
        case, nanoseconds = timed(partial(Case, visit))
        case.copy  # noqa: B018  # parses
        cases.append(case)
    largest = visits[-1]
    sent = [largest.body, largest.url, *(value for values in largest.headers.values() for value in values)]
    result: dict[str, Any] = {
        "bytes": sum(len(text.encode("utf-8", "replace")) for text in sent),
        "parse": nanoseconds / 1e9,
    }
    for name in kernels:
        with kernel_of(name):
            result[name] = {
                entry: [seconds(way, case, repeats) for case in cases] for entry, way in entries()
            }
    return result


def rows(attacks: dict[str, dict[str, Any]], kernels: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows of the table, those that take longest first."""

    def longest(name: str) -> float:
        return max(float(max(times)) for kernel in kernels for times in attacks[name][kernel].values())

    for name in sorted(attacks, key=longest, reverse=True):
        measured = attacks[name]
        row = [name, f"{measured['bytes'] / 1000:,.0f}", _milliseconds(measured["parse"])]
        for kernel_name in kernels:
            ways = measured[kernel_name]
            slowest = max((way for way in ways if way not in TOGETHER), key=lambda way: ways[way][-1])
            factor = max(map(growth, ways.values()))
            row += [
                _milliseconds(ways[slowest][-1]),
                slowest,
                _milliseconds(ways["middleware"][-1] / 2),
                f"{factor:.1f}" if factor > 1 else "-",
            ]
        yield row


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; *arguments* are those of the command line."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    here = [NATIVE, PURE] if kernel.native is not None else [PURE]
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--scale", type=float, default=1.0, help="1 makes pages of 100, 200 and 400 kB")
    parser.add_argument("--kernels", nargs="+", choices=here, default=here)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print all figures for programs")
    options = parser.parse_args(arguments)
    attacks = {}
    for number, name in enumerate(options.only, 1):
        progress(f"{number} of {len(options.only)}: {name} ...")
        attacks[name] = measure(ATTACKS[name], options.scale, options.kernels, options.repeats)
    progress("")
    result = {**environment(__file__, arguments), "attacks": attacks}
    if options.json:
        print(json.dumps(result))
        return 0
    heads = ["attack", "kB", "parse ms"]
    for name in options.kernels:
        heads += [f"{name} ms", "slowest way", "middleware", "growth"]
    print(opening(result))
    print(table(heads, list(rows(attacks, options.kernels))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
