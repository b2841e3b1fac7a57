"""Measure how often hints and protections hold, and what they cost.

    python benchmarks/hints.py                 # four tables; --json for programs
    SIMHASH_EVAL_PACK=/path/to/pack python benchmarks/hints.py --sample 100

* kinds: of the pages whose kind people have named (article, listing, product, ...), which share is taken for a
  listing, and for a product?
* pairs: of the labelled pairs, for which share does each hint hold, and each protection? The first page of a pair is
  the one that comes second in the crawl; a pair is exact if its main texts are identical. What holds for near pairs
  is over-protection, unless there is a reason.
* example site: the same for the pairs of its ``truth.json`` that have to do with each other, in both orders.
* cost: microseconds a page, the median and the slowest of twenty, beside those of the parse; each page the fastest of
  a few runs.

Not measured: what a crawl loses or keeps by them, which depends on its action. Without a pack only the example site
is measured, and the cost on its pages.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

# For a run as a file; and the example site is measured too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "example_project"))

from lxml import etree
from magazine.page import Address
from magazine.site import build_site
from magazine.truth import Truth

from benchmarks.lib.pack import Pack, absence
from benchmarks.lib.report import environment, progress, share, table
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.hints import HINTS, Hints, evidence, is_listing, is_product, protections, read_hints
from scrapy_simhash.page.text import parse

SEED = 7
FINGERPRINTER = PageFingerprinter()
RUNS = 3
#: The protections that the page itself tells; a start page is known by its request.
PROTECTED = tuple(name for name in PROTECTIONS if name != "start")
STEPS: Mapping[str, Callable[[etree._Element, str], object]] = {
    "read_hints": read_hints,
    "is_product": lambda root, _: is_product(root),
    "is_listing": lambda root, _: is_listing(root),
}


class Told(NamedTuple):
    """A page, and what it says. A page of a pack whose URL is not known has none."""

    root: etree._Element
    url: str
    hints: Hints


class Question(NamedTuple):
    """A pair: its group in the table, the page and the one that it may repeat."""

    group: str
    page: str
    original: str


def tell(html: bytes, url: str) -> Told:
    """Return what the page says."""
    root = parse(html)
    return Told(root, url, read_hints(root, url))


def measure_kinds(pages: Mapping[str, Told], kinds: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return for each kind of page how many there are, and the shares that are taken for listings and products."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for id, kind in kinds.items():
        root = pages[id].root
        counts[kind].update({"pages": 1, "listing": is_listing(root), "product": is_product(root)})
    return {kind: _shares(count, "pages", ("listing", "product")) for kind, count in sorted(counts.items())}


def measure_pairs(pages: Mapping[str, Told], questions: Iterable[Question]) -> dict[str, dict[str, float]]:
    """Return for each group of pairs how many there are, and the shares for which each hint and protection holds."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, (group, page, original) in enumerate(questions):
        if number % 100 == 0:
            progress(f"{number:,} pairs ...")
        root, url, hints = pages[page]
        first = pages[original].url
        held = evidence(hints, url, first)
        kept = protections(root, url, first, hints, held, PROTECTED, partial(FINGERPRINTER.extract, root))
        counts[group].update(["pairs", *held, *kept])
    progress("")
    return {group: _shares(count, "pairs", (*HINTS, *PROTECTED)) for group, count in sorted(counts.items())}


def measure_cost(pages: Sequence[tuple[bytes, str]]) -> dict[str, dict[str, float]]:
    """Return microseconds a page for the parse and for each step."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for html, url in pages:
        seconds["parse"].append(_fastest(partial(parse, html)))
        root = parse(html)
        for name, step in STEPS.items():
            seconds[name].append(_fastest(partial(step, root, url)))
    return {name: _quantiles(times) for name, times in seconds.items()}


def example_site() -> tuple[dict[str, Told], list[Question]]:
    """Return the pages of the example site, and in both orders the pairs that have to do with each other."""
    truth = Truth.load()
    pages = {}
    for address, page in build_site().items():
        if page.is_html:
            pages[address.key] = tell(page.body(), _url(address))
    questions = [
        Question(relation.expected, page, original)
        for a, b, relation in truth.pairs()
        if relation.kind != "unrelated"
        for page, original in ((a, b), (b, a))
    ]
    return pages, questions


def measure(packs: Sequence[Pack], sample: int) -> dict[str, Any]:
    """Return all figures."""
    site, questions = example_site()
    result: dict[str, Any] = {"example site": measure_pairs(site, questions)}
    if not packs:
        bodies = [(page.body(), _url(address)) for address, page in build_site().items() if page.is_html]
    else:
        bodies = []
        for pack in packs:
            pages = {}
            for doc, html in pack.html():
                url = doc.url or f"http://{doc.site or 'unknown'}.invalid/{doc.id}"
                bodies.append((html, url))
                pages[doc.id] = tell(html, url)
            types = {id: gold.page_type for id, gold in pack.gold.items()}
            result[f"{pack.name}: kinds"] = measure_kinds(pages, types)
            labelled = [Question(pair.label, pair.a, pair.b) for pair in pack.pairs]
            result[f"{pack.name}: pairs"] = measure_pairs(pages, labelled)
    chosen = random.Random(SEED).sample(bodies, min(sample, len(bodies)))
    return {**result, "cost": measure_cost(chosen)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure how often hints and protections hold.")
    parser.add_argument("--sample", type=int, default=300, help="pages of which the cost is measured")
    parser.add_argument("--json", action="store_true", help="print one object for programs")
    options = parser.parse_args(arguments)
    packs = Pack.locate_all()
    facts = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    result = measure(packs, options.sample)
    if options.json:
        print(json.dumps({"environment": facts, **result}))
        return 0
    print("\n".join(facts.values()))
    if not packs:
        print(absence())
    for title, rows in result.items():
        head = list(next(iter(rows.values())))
        cells = [[name, *(_cell(column, row[column]) for column in head)] for name, row in rows.items()]
        print(f"\n{title}\n{table(['', *head], cells)}")
    return 0


def _url(address: Address) -> str:
    return f"http://{address.host}:8000{address.target}"


def _shares(count: Counter[str], total: str, names: Iterable[str]) -> dict[str, float]:
    return {total: count[total], **{name: count[name] / count[total] for name in names}}


def _fastest(run: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {"median": ordered[len(ordered) // 2] * 1e6, "p95": ordered[int(0.95 * len(ordered))] * 1e6}


def _cell(column: str, value: float) -> str:
    if column in ("median", "p95"):
        return f"{value:,.1f}"
    return f"{value:,}" if column in ("pages", "pairs") else share(value)


if __name__ == "__main__":
    raise SystemExit(main())
