"""Measure the kernel: the time from pages and texts to fingerprints, compiled and in pure Python.

    python benchmarks/kernel.py                  # tables; --json for programs
    python benchmarks/kernel.py --pages 50 --repeats 3 --only pages

Both kernels run in turn in this process, so that a slow phase of the machine affects both. ``--only`` selects some
of:

* pages: from a tree to its fingerprint, relative to the time of ``HtmlResponse(url, body=...).selector.root``, which
  a spider needs anyway. Each page is parsed again. The figures are medians of the rounds; the relative time is a
  ratio of sums;
* texts: ``PageFingerprinter.from_text``, the median time per text in microseconds; every text is a new object.

Processor time, after one round to warm up. Pages are a seeded sample of the evaluation packs, or of the example site.
Not measured: the rest of a crawl (``benchmarks/plugin.py``), the index (``benchmarks/index.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lxml import etree
from scrapy.http import HtmlResponse

from benchmarks.lib.processes import timed
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.sample import Page, add_sample, origin, packs_of, sample
from benchmarks.lib.texts import text_sets
from scrapy_simhash import PageFingerprinter

PARTS = ("pages", "texts")
NATIVE, PURE = "native", "pure"


def readers() -> dict[str, PageFingerprinter]:
    """Return a PageFingerprinter that uses the C extension, if it is built, and one in pure Python."""
    pure = PageFingerprinter()
    pure._compiled = None
    chosen = PageFingerprinter()
    return {NATIVE: chosen, PURE: pure} if chosen._compiled else {PURE: pure}


def root_of(page: Page) -> etree._Element:
    """Return the tree of *page*, parsed as in Scrapy."""
    root: etree._Element = HtmlResponse(page.url, body=page.html).selector.root
    return root


def measure_pages(pages: Sequence[Page], repeats: int) -> dict[str, dict[str, float]]:
    """Return the time per page in milliseconds, and relative to the time of parsing."""
    ways = {f"{kernel}: to fingerprint": reader.read for kernel, reader in readers().items()}
    times: dict[str, list[list[int]]] = {}
    parses: list[list[int]] = [[] for _ in pages]
    for round_number in range(repeats + 1):
        for way, method in ways.items():
            progress(f"pages: round {round_number} of {repeats}, {way} ...")
            of_way = times.setdefault(way, [[] for _ in pages])
            for number, page in enumerate(pages):
                root, parse = timed(partial(root_of, page))
                reading = timed(partial(method, root))[1]
                if round_number:
                    parses[number].append(parse)
                    of_way[number].append(reading)
    return _shares({"parse (Scrapy's own)": parses, **times}, parses)


def _shares(
    times: Mapping[str, Sequence[Sequence[float]]], parses: Sequence[Sequence[float]]
) -> dict[str, dict[str, float]]:
    """Return the median time in ms, and the time relative to parsing, from the rounds of each page."""
    parse = [median(rounds) for rounds in parses]
    result = {}
    for way, of_pages in times.items():
        own = [median(rounds) for rounds in of_pages]
        result[way] = {
            "median ms": median(own) / 1e6,
            "all / parse": sum(own) / sum(parse),
        }
    return result


def measure_texts(
    sets: Mapping[str, Sequence[str]], contestants: Mapping[str, Callable[[str], object]], repeats: int
) -> dict[str, dict[str, Any]]:
    """Return the median time per text in microseconds, by implementation and set of texts."""
    result: dict[str, dict[str, Any]] = {name: {} for name in contestants}
    for name, texts in sets.items():
        data = [text.encode() for text in texts]
        times: dict[str, list[list[int]]] = {contestant: [[] for _ in data] for contestant in contestants}
        for round_number in range(repeats + 1):
            for contestant, make in contestants.items():
                progress(f"texts: {name}, round {round_number} of {repeats}, {contestant} ...")
                for number, encoded in enumerate(data):
                    # A new object each time.
                    took = timed(partial(make, encoded.decode()))[1]
                    if round_number:
                        times[contestant][number].append(took)
        for contestant, each in times.items():
            result[contestant][name] = median(median(rounds) for rounds in each) / 1e3
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    add_sample(parser, 300)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: 5)")
    options = parser.parse_args(arguments)
    packs = packs_of(options)
    pages = sample(packs, options.pages)
    by_kernel = readers()
    sizes = [len(page.html) for page in pages]
    result: dict[str, Any] = {
        "pages": len(pages),
        "from": origin(packs),
        "bytes": f"median {median(sizes):,.0f}, mean {fmean(sizes):,.0f}",
    }
    if "pages" in options.only:
        result["a page"] = measure_pages(pages, options.repeats)
    documents = [next(iter(by_kernel.values())).extract(root_of(page)) for page in pages]
    if "texts" in options.only:
        contestants: dict[str, Callable[[str], object]] = {
            kernel: reader.from_text for kernel, reader in by_kernel.items()
        }
        result["microseconds of a text"] = measure_texts(text_sets(documents), contestants, options.repeats)
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
