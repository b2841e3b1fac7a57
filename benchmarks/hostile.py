"""Measure how the time of a page grows with its size, for pages made to take long.

    python benchmarks/hostile.py            # the slowest pages; --json for programs, --all for all of them
    python benchmarks/hostile.py --pure     # the same read in pure Python

A page is a pair of parts, half of its bytes each: an outer one (nesting, attributes, comments) and an inner one
(JSON-LD, microdata, links, buttons, comments). Each pair is made with 64 KiB and with 256 KiB, parsed, and given to
each step that reads pages: the fingerprint on a new and on a known site, hints, protections, URL rules and traps.
A row shows the slowest step of a pair. Times are processor times of the plugin, without Scrapy's parse.

Four times the page should take at most five times the time, and no page more than 0.5 s. The program returns 1 if one
does. Times below 20 ms are too short to be compared, and count as 20 ms.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import arguments_of, counted, show
from tests.attacks import FLOOR, PROSE, TOGETHER, Case, Visit, entries, kernel_of, seconds

KIB = 1024
SIZES = (64 * KIB, 256 * KIB)
MAX_GROWTH, MAX_SECONDS = 5.0, 0.5
#: Pages that are shown without --all.
SHOWN = 10

JSON_LD = '<script type="application/ld+json">{"@type":"Product","name":"kettle"}</script>'


def repeated(part: str) -> Callable[[int], str]:
    """Return what makes a number of characters of *part*; ``%d`` in it is the number of the repetition."""

    def make(length: int) -> str:
        text = "".join(part.replace("%d", str(number)) for number in range(length // len(part) + 1))
        return text[: text.rfind("<", 0, length)] if part[0] == "<" else text[:length]

    return make


def attributes(length: int) -> str:
    """Return one element with attributes of *length* characters."""
    return f"<div {repeated('a%d=1 ')(length).rpartition(' ')[0]}>"


#: What lies around, by its number of characters.
AROUND: Mapping[str, Callable[[int], str]] = {
    "nothing": lambda _: "",
    "attributes of one element": attributes,
    "nested <b>": repeated("<b>"),
    "nested <div class>": repeated('<div class="c%d col-md-6">'),
    "nested elements of 20 attributes": repeated(f"<div {' '.join(f'a{n}=1' for n in range(20))}>"),
    "nested <a>": repeated("<div><a href=/%d>"),
    "nested things": repeated('<div itemscope itemtype="http://schema.org/Product">'),
    "nested properties": repeated("<div itemprop=offers itemscope>"),
    "heading with comments": lambda length: f"<h1>{repeated('<!--a-->')(length)}kettle",
    "empty elements": repeated("<i></i>"),
}
#: What lies inside of it, by its number of characters.
INSIDE: Mapping[str, Callable[[int], str]] = {
    "JSON-LD scripts": repeated(JSON_LD),
    "JSON-LD strings": repeated(f'<script type="application/ld+json">{chr(34)}{"@type" * 30}</script>'),
    "scripts": repeated("<script>a</script>"),
    "links": repeated("<a href=/%d>w%d</a>"),
    "links in blocks": repeated("<p><a href=/%d>w%d</a>"),
    "comments": repeated("<!--a-->"),
    "processing instructions": repeated("<?a?>"),
    "things": repeated('<p itemscope itemtype="http://schema.org/Product"><b itemprop=name>kettle</b>'),
    "properties": repeated("<b itemprop=p%d><i></i></b>"),
    "buttons": repeated("<button>b</button>"),
    "password fields": repeated("<input type=password>"),
    "headings": repeated("<h1>w%d</h1>"),
    "prices": repeated("<p>$ %d"),
    "words": repeated("w%d "),
}


def page(around: str, inside: str, size: int) -> Case:
    """Return the page of *size* characters with a pair of parts, parsed."""
    half = (size - len(PROSE) * 10) // 2
    head = f"<html><head><title>Kettle</title>{JSON_LD}</head><body>"
    case = Case(Visit(f"{head}{AROUND[around](half)}{INSIDE[inside](half)}<p>{PROSE * 5}"))
    case.copy  # noqa: B018  # parses
    return case


def slowest(around: str, inside: str) -> dict[str, Any]:
    """Return the step that takes longest with the larger page, its time with each size, and the growth."""
    cases = [page(around, inside, size) for size in SIZES]
    found: list[tuple[float, str, list[float]]] = []
    for name, way in entries():
        if name not in TOGETHER:
            times = [seconds(way, case, 2) for case in cases]
            found.append((times[-1], name, times))
    _, name, times = max(found)
    return {
        "around": around,
        "inside": inside,
        "step": name,
        "s at 64 KiB": round(times[0], 4),
        "s at 256 KiB": round(times[1], 4),
        "growth": round(max(times[1], FLOOR) / max(times[0], FLOOR), 2),
    }


def measure(options: Namespace) -> dict[str, Any]:
    """Return a row per pair, slowest first, and as faults the pairs beyond the limits."""
    pairs = [(around, inside) for around in AROUND for inside in INSIDE][:: options.every]
    with kernel_of("pure" if options.pure else "native"):
        rows = [slowest(*pair) for pair in counted(pairs, len(pairs), "pages")]
    rows.sort(key=lambda row: -float(row["s at 256 KiB"]))
    beyond = [row for row in rows if row["growth"] > MAX_GROWTH or row["s at 256 KiB"] > MAX_SECONDS]
    return {
        "pages": {"pairs": len(rows), "beyond the limits": len(beyond)},
        "greatest growth": {"256 KiB / 64 KiB": max(row["growth"] for row in rows)},
        "slowest": rows if options.all else rows[:SHOWN],
        "faults": [f"{row['around']}, {row['inside']}" for row in beyond],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 1 if a page is beyond the limits."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pure", action="store_true", help="read in pure Python")
    parser.add_argument("--all", action="store_true", help=f"show every page, not the {SHOWN} slowest")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take one pair of N")
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, measure(options))


if __name__ == "__main__":
    sys.exit(main())
