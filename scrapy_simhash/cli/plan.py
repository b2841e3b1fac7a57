"""Show which plans an index could follow: tables, candidates, memory, time; or what a crawl takes.

A plan is named by its tables and the bits of a key: ``4x16`` has four tables with keys of 16 bits. ``probing 4`` is a
ProbingIndex of four blocks. What each takes is foreseen by ``scrapy_simhash.index.plans``, for random fingerprints,
or for such as those of ``--sample``. The fastest within the memory that is allowed is marked. The index of a crawl
is named: it does not choose by the number of pages.

With ``--crawlers`` it is what so many crawlers take that share a store in Redis, see ``crawl_plan``.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import floor, log2, log10
from typing import Any

from scrapy_simhash.cli.arguments import parsed_distance
from scrapy_simhash.cli.crawl_plan import CrawlPlan
from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.hashes import read_hashes
from scrapy_simhash.cli.progress import Progress, say
from scrapy_simhash.config import MAX_CANDIDATE_DISTANCE, Config
from scrapy_simhash.index.plans.cost import (
    CORES,
    LEEWAY,
    MAX_BYTES,
    UNFELT,
    Core,
    Cost,
    choose,
    cost,
    running,
)
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_cost import blocks_for, probing_cost
from scrapy_simhash.index.plans.probing_plan import ProbingPlan
from scrapy_simhash.index.skew import effective_bits, probed_share, sample_of

EXAMPLE = """\
$ scrapy-simhash plan --pages 10M --distance 3
10,000,000 pages, near-duplicates differ in up to 3 bits, ...
"""

#: More than any index: a petabyte of single bytes.
MOST_PAGES = 10**15
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
#: From so many times the candidates of random fingerprints on, others are called uneven.
UNEVEN = 2.0
#: Memory of a server, if nobody says how much.
NODE_BYTES = 32 * 10**9
MEMORY_UNITS = ("B", "kB", "MB", "GB", "TB")
#: The plan of ProbingIndex where nobody says how many blocks, which a crawl uses by its default rule.
BLOCKS_OF_CRAWLS = 5
OF_CRAWLS = f"probing {BLOCKS_OF_CRAWLS}"
HEAD = ("plan", "tables", "key bits", "candidates", "bytes a page", "memory", "microseconds")


def add_arguments(parser: ArgumentParser) -> None:
    """Add what a plan is chosen by."""
    parser.add_argument(
        "-p",
        "--pages",
        metavar="N",
        type=parsed_number,
        required=True,
        help="number of fingerprints, such as 10M, 2.5k or 1_000_000",
    )
    parser.add_argument(
        "-d",
        "--distance",
        metavar="BITS",
        type=parsed_distance,
        default=3,
        help="maximum Hamming distance of near-duplicates in bits, 0 to 64 (default: 3)",
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=parsed_number,
        help="maximum memory per fingerprint in bytes (default: 40, or 25%% more than the smallest plan needs)",
    )
    parser.add_argument(
        "--sample",
        metavar="FILE",
        help="file with sample hashes, one per line, decimal or with 0x (-: standard input)",
    )
    parser.add_argument("--hex", action="store_true", help="read the hashes of --sample as hexadecimal")
    parser.add_argument(
        "--index", choices=CORES, help="implementation of the index (default: the one in use here)"
    )
    parser.add_argument(
        "--crawlers",
        metavar="N",
        type=parsed_number,
        help="show what so many crawlers take that share a store in Redis",
    )
    parser.add_argument(
        "--scopes",
        metavar="N",
        type=parsed_number,
        default=1,
        help="with --crawlers: sites or domains that pages are compared within (default: 1, all pages)",
    )
    parser.add_argument(
        "--active",
        metavar="N",
        type=parsed_number,
        default=Config.redis_scopes,
        help="with --crawlers: scopes that a crawler has in memory at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--new",
        metavar="PERCENT",
        type=parsed_percent,
        default=100,
        help="with --crawlers: how many of 100 pages repeat no other one (default: 100, the worst case)",
    )
    parser.add_argument(
        "--node-memory",
        metavar="BYTES",
        type=parsed_number,
        default=NODE_BYTES,
        help="with --crawlers: memory of a server, such as 64G (default: 32G)",
    )
    parser.add_argument("--json", action="store_true", help="write a JSON object")


def run(options: Namespace) -> int:
    """Print the plans, the chosen one marked, or the plan of a crawl; return 0."""
    core = CORES[options.index] if options.index else running()
    if options.crawlers is not None:
        return _run_crawl(options, core)
    pages, distance = options.pages, options.distance
    plans: dict[str, Plan | ProbingPlan] = {**plans_for(distance), **probing_plans(distance, pages, core)}
    chosen = chosen_of(plans, distance, pages, options.max_bytes, core)
    sample = None
    if options.sample is not None:
        with Progress(sys.stderr) as progress:
            hashes = read_hashes(options.sample, progress, options.hex)
        sample = sample_of(hashes, distance)
        if len(sample) < 2:
            raise Refused(
                f"--sample must have at least two hashes that are not near-duplicates, got {len(sample)}"
            )
    rows = {name: row_of(plan, pages, core, sample) for name, plan in plans.items()}
    warning = warning_of(rows[chosen])
    if options.json:
        facts = {"pages": pages, "distance": distance, "index": core.name, "sample": sample and len(sample)}
        crawl = OF_CRAWLS if is_of_crawls(distance, plans) else None
        answer = {**facts, "chosen": chosen, "crawl": crawl, "warning": warning, "plans": list(rows.values())}
        print(json.dumps(answer, indent=2))
        return 0
    print(f"{pages:,} pages, near-duplicates differ in up to {distance} bits, {core.name} index")
    if sample is not None:
        say(
            f"candidates and time estimated from {len(sample):,} hashes of {options.sample} that are not"
            " near-duplicates",
            sys.stdout,
        )
    print("\n".join(_in_columns([HEAD, *map(_cells, rows.values())], marked=chosen)))
    print(note_of(distance, plans))
    if warning:
        print(f"warning: {warning}")
    return 0


def _run_crawl(options: Namespace, core: Core) -> int:
    """Print what a crawl takes, and return 0."""
    for name in ("pages", "crawlers", "scopes", "active", "node_memory"):
        if not getattr(options, name):
            raise Refused(f"--{name.replace('_', '-')} must be at least 1 for the plan of a crawl")
    plan = CrawlPlan(
        *(options.pages, options.scopes, options.crawlers, min(options.active, options.scopes)),
        *(options.new / 100, options.node_memory),
    )
    if options.json:
        print(json.dumps(plan.to_dict(core), indent=2))
        return 0
    print(
        f"{plan.pages:,} pages in {plan.scopes:,} scopes, {plan.crawlers:,} crawlers, {options.new} % new,"
        f" {core.name} index"
    )
    rows = [(one.name, _told(one.value, one.unit), one.by) for one in plan.figures(core)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print("\n".join(f"{name:<{widths[0]}}  {value:>{widths[1]}}  {by}" for name, value, by in rows))
    print(plan.advice(core))
    return 0


def _told(value: float, unit: str) -> str:
    if unit == "bytes":
        return memory_as_text(value)
    if unit == "microseconds" and value >= 1000:
        value, unit = value / 1000, "ms"
    return f"{_rounded(value) if unit else f'{value:,.0f}'} {unit}".rstrip()


def probing_plans(distance: int, pages: int, core: Core) -> dict[str, ProbingPlan]:
    """Return the plans of ProbingIndex by name: that of a crawl, and the fastest for so many pages.

    None for distances at which a search would take too many probes, or that are no larger than the number of blocks.
    """
    found = {}
    if distance >= BLOCKS_OF_CRAWLS:
        with suppress(ValueError):
            for blocks in sorted({BLOCKS_OF_CRAWLS, blocks_for(distance, pages, core)}):
                plan = ProbingPlan.even(distance, blocks)
                found[plan.name] = plan
    return found


def chosen_of(
    plans: Mapping[str, Plan | ProbingPlan], distance: int, pages: int, max_bytes: float | None, core: Core
) -> str:
    """Return the name of the fastest of *plans* within *max_bytes*; raise Refused if there is none.

    As ``choose`` has it for the plans of SimhashIndex. Others must be leaner or faster than what that takes.
    """
    costs = {
        name: probing_cost(plan, pages, core) for name, plan in plans.items() if isinstance(plan, ProbingPlan)
    }
    refusal = None
    try:
        best = choose(distance, pages, max_bytes, core)
        costs[best.name] = cost(best, pages, core)
    except ValueError as error:
        refusal = str(error).replace("max_bytes", "--max-bytes", 1)
    bound = max_bytes
    if bound is None:
        bound = max(MAX_BYTES, LEEWAY * min(one.bytes for one in costs.values()))
    unfelt = UNFELT if max_bytes is None else 0
    allowed = [name for name, one in costs.items() if one.bytes <= bound or one.bytes * pages <= unfelt]
    if not allowed and refusal is not None:
        raise Refused(refusal)
    return min(allowed or costs, key=lambda name: costs[name].microseconds)


def is_of_crawls(distance: int, plans: Container[str]) -> bool:
    """Tell whether one of *plans* is that of a crawl with ``SIMHASH_CANDIDATE_DISTANCE`` at *distance*."""
    return OF_CRAWLS in plans and distance <= MAX_CANDIDATE_DISTANCE


def note_of(distance: int, plans: Container[str]) -> str:
    """Return a line that says which index a crawl uses."""
    default = Config.candidate_distance
    if not is_of_crawls(distance, plans):
        return f"a crawl with the default settings searches within {default} bits: see --distance {default}"
    return f"{OF_CRAWLS}: the index of a crawl with SIMHASH_CANDIDATE_DISTANCE = {distance}" + (
        ", the default" if distance == default else ""
    )


def parsed_number(text: str) -> int:
    """Return the number in *text*, or raise ArgumentTypeError. It may have ``_`` or ``,`` in it and a unit behind it.

    >>> parsed_number("10M"), parsed_number("2.5k"), parsed_number("1_000_000")
    (10000000, 2500, 1000000)
    """
    found = re.fullmatch(r"(\d[\d_,]*)(\.\d+)?([kmgb]?)", text.strip(), re.ASCII | re.IGNORECASE)
    if found:
        whole, part, unit = found.groups()
        number = Fraction(re.sub("[_,]", "", whole) + (part or "")) * UNITS[unit.lower()]
        if number.denominator == 1 and number <= MOST_PAGES:
            return int(number)
    raise ArgumentTypeError(f"must be a whole number up to {MOST_PAGES:,}, such as 10M or 2.5k, got {text!r}")


def parsed_percent(text: str) -> int:
    """Return the number of *text*, 1 to 100, or raise ArgumentTypeError."""
    if text.isdecimal() and 1 <= int(text) <= 100:
        return int(text)
    raise ArgumentTypeError(f"must be a whole number from 1 to 100, got {text!r}")


def row_of(
    plan: Plan | ProbingPlan, pages: int, core: Core, sample: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return what is told of a plan, as JSON has it; with the effective bits of its keys if there is a sample.

    >>> row_of(Plan.classic(max_distance=3, blocks=4), 2**20, CORES["native"])["candidates"]
    64.0
    """
    random, foreseen, probes = _costs(plan, pages, core, sample)
    widths = plan.widths if isinstance(plan, ProbingPlan) else plan.key_bits
    row: dict[str, Any] = {
        "plan": plan.name,
        "tables": len(widths),
        "key_bits": [min(widths), max(widths)],
        "probes": probes,
        "candidates": foreseen.candidates,
        "bytes_per_page": foreseen.bytes,
        "bytes": round(foreseen.bytes * pages),
        "microseconds": foreseen.microseconds,
    }
    if sample:
        # Of a key which, were all keys that are looked up like it, had as many candidates.
        row["effective_bits"] = log2(probes * pages / foreseen.candidates)
        row["times_random"] = foreseen.candidates / random.candidates
    return row


def _costs(
    plan: Plan | ProbingPlan, pages: int, core: Core, sample: Sequence[int] | None
) -> tuple[Cost, Cost, int]:
    """Return what *plan* takes with random fingerprints, and with such as *sample*, and the keys of a search."""
    if isinstance(plan, ProbingPlan):
        share = probed_share(plan, sample) if sample else None
        return probing_cost(plan, pages, core), probing_cost(plan, pages, core, share), plan.probes
    bits = effective_bits(plan, sample) if sample else ()
    return cost(plan, pages, core), cost(plan, pages, core, bits), len(plan.keys)


def warning_of(row: dict[str, Any]) -> str | None:
    """Return what the fingerprints of the sample do to a plan that was made for random ones, None if it is little."""
    if row.get("times_random", 1.0) < UNEVEN:
        return None
    return (
        f"these hashes are uneven: {row['plan']} compares {row['times_random']:,.1f} times as many as of random "
        f"ones, as if its keys had {row['effective_bits']:.1f} bits"
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    least, most = row["key_bits"]
    return (
        row["plan"],
        str(row["tables"]),
        f"{least}" if least == most else f"{least}-{most}",
        _rounded(row["candidates"]),
        f"{row['bytes_per_page']:.0f}",
        memory_as_text(row["bytes"]),
        _rounded(row["microseconds"]),
    )


def _in_columns(rows: Sequence[Sequence[str]], marked: str) -> Iterator[str]:
    """Yield a line for each row, the first column to the left, the others to the right, with a mark at one."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield f"{'*' if first == marked else ' '} {'  '.join([first.ljust(widths[0]), *cells])}"


def _rounded(number: float) -> str:
    """Return a number with two digits or more that mean something.

    >>> _rounded(61035.2), _rounded(61.04), _rounded(0.8312), _rounded(0.000031), _rounded(0)
    ('61,035', '61', '0.83', '0.000031', '0')
    """
    if number >= 10 or not number:
        return f"{number:,.0f}"
    digits = max(1, 1 - floor(log10(number)))
    return f"{number:.{digits}f}" if digits < 7 else f"{number:.0e}"


def memory_as_text(number: float) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> memory_as_text(999), memory_as_text(35_400_000), memory_as_text(2.4e11)
    ('999 B', '35 MB', '240 GB')
    """
    unit = 0
    while number >= 1000 and unit < len(MEMORY_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.{1 if number < 10 and unit else 0}f} {MEMORY_UNITS[unit]}"
