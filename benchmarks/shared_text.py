"""Measure whether different pages stay apart on sites whose pages share most of their text, and reposts are found.

    python benchmarks/shared_text.py                   # two tables; --json for programs
    python benchmarks/shared_text.py --seed 3          # other sites

Every site of ``benchmarks.lib.shared_text`` goes through one NearDuplicateDetector with default settings (``-s`` sets
others), page after page in random order, several times; then the same with ``SIMHASH_RULE = "classic"``. By site:

* kept: the share of its entities of which a page was no duplicate, or a duplicate of the same entity only: what
  is left when duplicates are dropped. Mean and worst over the orders;
* reposts: of the entities with two pages, the share whose second page was called a duplicate of the first.

Not measured: sites on which pages share nothing (``benchmarks/clusters.py``), cost.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.settings import add_settings, config_of
from benchmarks.lib.shared_text import Page, Site, sites
from scrapy_simhash import Config, NearDuplicateDetector, PageFingerprinter

ORDERS = 5
CLASSIC = Config(rule="classic")


class Judged(NamedTuple):
    """A page and its original by the detector, None for a new page."""

    page: Page
    original: Page | None


@dataclass(frozen=True)
class Run:
    """The figures of a site in one order."""

    kept: float
    reposts: float | None
    """None for a site without reposts."""


def crawl(pages: Iterable[Page], detector: NearDuplicateDetector) -> Iterator[Judged]:
    """Yield the result of *detector* for each page."""
    by_url: dict[str, Page] = {}
    for page in pages:
        verdict = detector.check(page.html, page.url)
        original = by_url[verdict.duplicate_of] if verdict.duplicate_of is not None else None
        by_url[page.url] = page
        yield Judged(page, original)


def measure(judged: Sequence[Judged]) -> Run:
    """Return the figures of one order; *judged* are all pages of a site."""
    entities = {one.page.entity for one in judged}
    kept = {one.page.entity for one in judged if one.original is None}
    found, seen, again = 0, set[str](), 0
    for page, original in judged:
        if page.entity in seen:
            again += 1
            found += original is not None and original.entity == page.entity
        seen.add(page.entity)
    return Run(
        kept=len(kept) / len(entities),
        reposts=found / again if again else None,
    )


def orders(site: Site, count: int) -> Iterator[list[Page]]:
    """Yield the pages in *count* random orders, always the same."""
    for number in range(count):
        yield Random(f"{number} {site.name}").sample(site.pages, len(site.pages))


def measure_site(site: Site, config: Config, count: int = ORDERS) -> dict[str, Any]:
    """Return the figures of *site* over its orders."""
    fingerprinter = PageFingerprinter(config)
    runs = [
        measure(list(crawl(pages, NearDuplicateDetector(config, fingerprinter=fingerprinter))))
        for pages in orders(site, count)
    ]
    reposts = [run.reposts for run in runs if run.reposts is not None]
    return {
        "kept": fmean(run.kept for run in runs),
        "kept_worst": min(run.kept for run in runs),
        "reposts": fmean(reposts) if reposts else None,
    }


def measure_all(options: Namespace) -> dict[str, Any]:
    """Return the figures of every site and over all of them, by the settings given and by the classic rule."""
    configs = {"default": config_of(options.settings), "classic": CLASSIC}
    figures: dict[str, dict[str, Any]] = {name: {} for name in configs}
    for number, site in enumerate(islice(sites(options.seed), options.sites), 1):
        progress(f"site {number}: {site.name} ...")
        for name, config in configs.items():
            found = measure_site(site, config, options.orders)
            figures[name][f"{site.name}, {site.words} words"] = found
    return {
        f"by the {name} rule": {**of_sites, "all sites": _over_all(list(of_sites.values()))}
        for name, of_sites in figures.items()
    }


def _over_all(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    reposts = [one["reposts"] for one in figures if one["reposts"] is not None]
    return {
        "kept": fmean(one["kept"] for one in figures),
        "kept_worst": min(one["kept_worst"] for one in figures),
        "reposts": fmean(reposts) if reposts else None,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = arguments_of(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="draws other sites")
    parser.add_argument("--sites", type=int, help="how many of the sites (default: all)")
    parser.add_argument("--orders", type=int, default=ORDERS, help="random orders of each site (%(default)s)")
    add_settings(parser)
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, measure_all(options))


if __name__ == "__main__":
    sys.exit(main())
