"""Measure what SIMHASH_SITE_LEARNING adds to the time in which a page is read.

    python benchmarks/learning.py                        # a table; --json for programs
    python benchmarks/learning.py --pages 200 --repeats 9

Pages of each evaluation pack, and of the generated sites of ``benchmarks.lib.shared_text``, come in random order,
with a profile for each host, as in a crawl. Each page is parsed first, which is not measured, and then read in turn
without learning (``PageFingerprinter.read(root)``) and with it (``SiteProfiles.of``, ``read(root, site=...)``),
``--repeats`` times; its time is the median. With learning the time of ``SiteProfiles.learn`` is added. Times are
processor time, less that of the clock itself: a busy machine shows less. By source:

* without, with: time of a page, mean; the medians are in the output of ``--json``;
* ratio: with / without, over all pages;
* left out: the share of pages of which text of the site was left out;
* more, more there: what learning adds to a page, mean over all pages, and over those of which text was left out.

Not measured: the search by two values and the comparison of own parts (``benchmarks/plugin.py``), the store.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, median
from time import perf_counter
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lxml import html as lxml_html

from benchmarks.clusters import address
from benchmarks.lib.clock import timed
from benchmarks.lib.pack import Pack
from benchmarks.lib.report import counted, environment, opening, table
from benchmarks.lib.settings import add_settings, config_of
from benchmarks.lib.shared_text import sites
from scrapy_simhash import Config, PageFingerprinter
from scrapy_simhash.page.fingerprint import is_part
from scrapy_simhash.page.site import SiteProfiles

PAGES = 1_500
REPEATS = 5
SEED = 0


class Page(NamedTuple):
    """A page as it came."""

    url: str
    html: bytes


class Times(NamedTuple):
    """What one page took, in nanoseconds of processor time."""

    without: float
    with_learning: float
    is_part: bool
    """Whether text of its site was left out."""


def sample(pages: Sequence[str], number: int) -> list[str]:
    """Return at most *number* of *pages* in random order, always the same ones."""
    return Random(SEED).sample(pages, min(number, len(pages)))


def pages_of(pack: Pack, number: int) -> list[Page]:
    """Return at most *number* pages of *pack* in random order."""
    ids = sample([doc.id for doc in pack.docs.values() if doc.kind == "page"], number)
    wanted = set(ids)
    found = {
        doc.id: html
        for doc, html in counted(pack.html(), len(pack.docs), f"documents of {pack.name}")
        if doc.id in wanted
    }
    return [Page(address(pack.docs[id]), found[id]) for id in ids]


def generated(number: int) -> list[Page]:
    """Return at most *number* pages of whole generated sites, all in random order."""
    pages = [Page(page.url, page.html.encode()) for site in sites(SEED) for page in site.pages]
    pages = pages[:number]
    return Random(SEED).sample(pages, len(pages))


def measure(pages: Sequence[Page], config: Config, repeats: int) -> Iterator[Times]:
    """Yield the times of each page, the host's profile having learned from those before it."""
    fingerprinter, profiles = PageFingerprinter(config), SiteProfiles()
    clock = median(timed(lambda: None)[1] for _ in range(1000))
    for number, page in enumerate(pages):
        root = lxml_html.document_fromstring(page.html)
        ways: list[tuple[list[int], Callable[[], Any]]] = [
            ([], lambda: fingerprinter.read(root)),  # noqa: B023 - called before the next page
            ([], lambda: fingerprinter.read(root, site=profiles.of(page.url))),  # noqa: B023
        ]
        for turn in range(repeats):
            # Neither always comes second, with the page in the caches of the processor.
            for times, read in ways if (number + turn) % 2 else ways[::-1]:
                times.append(timed(read)[1])
        without, with_learning = (median(times) - clock for times, _ in ways)
        reading = fingerprinter.read(root, site=profiles.of(page.url))
        fingerprint = reading.fingerprint
        if fingerprint is None:
            yield Times(without, with_learning, False)
            continue
        _, learning = timed(lambda: profiles.learn(page.url, reading.pieces, fingerprint.sketch))  # noqa: B023
        yield Times(without, with_learning + learning - clock, is_part(fingerprint.own))


def figures(times: Sequence[Times]) -> dict[str, Any]:
    """Return the figures of a source, in microseconds a page."""
    more = [(one.with_learning - one.without) / 1e3 for one in times]
    there = [extra for extra, one in zip(more, times, strict=True) if one.is_part]
    return {
        "pages": len(times),
        "without": fmean(one.without for one in times) / 1e3,
        "without_median": median(one.without for one in times) / 1e3,
        "with": fmean(one.with_learning for one in times) / 1e3,
        "with_median": median(one.with_learning for one in times) / 1e3,
        "ratio": sum(one.with_learning for one in times) / sum(one.without for one in times),
        "more": fmean(more),
        "more_there": fmean(there) if there else None,
        "left_out": len(there) / len(times),
    }


def measure_all(config: Config, number: int, repeats: int) -> dict[str, Any]:
    """Return the figures of each pack and of the generated sites."""
    sources: list[tuple[str, Callable[[], list[Page]]]] = [
        *((pack.name, lambda pack=pack: pages_of(pack, number)) for pack in Pack.locate_all()),
        ("generated sites", lambda: generated(number)),
    ]
    found = {}
    for name, read in sources:
        pages = read()
        found[name] = figures(list(counted(measure(pages, config, repeats), len(pages), f"pages of {name}")))
    return found


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    rows = [
        [
            name,
            f"{one['pages']:,}",
            f"{one['without']:.0f}",
            f"{one['with']:.0f}",
            f"{one['ratio']:.2f}",
            f"{one['left_out']:.0%}",
            f"{one['more']:.0f}",
            "-" if one["more_there"] is None else f"{one['more_there']:.0f}",
        ]
        for name, one in result["sources"].items()
    ]
    head = ["microseconds a page", "pages", "without", "with", "ratio", "left out", "more", "more there"]
    return f"{opening(result)}\n\n{table(head, rows)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=PAGES, help=f"pages of each source (default: {PAGES})")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, help=f"how often a page is read each way (default: {REPEATS})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    add_settings(parser)
    options = parser.parse_args(given)
    start = perf_counter()
    result: dict[str, Any] = {
        **environment(__file__, given),
        "sources": measure_all(config_of(options.settings), options.pages, options.repeats),
    }
    result["seconds"] = perf_counter() - start
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
