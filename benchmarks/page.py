"""Measure where the time of a page goes in pure Python, step by step.

    python benchmarks/page.py                    # a table; --json for programs
    python benchmarks/page.py --pages 50 --repeats 3

The unit is what Scrapy does with every page anyway: ``HtmlResponse(url, body=...).selector.root``, that is decode
the bytes and parse them. The arrows start from that tree:

* outline: the walk over the tree, ``text.outline.outline``;
* tokenise: ``normalize`` and ``tokenize`` of every block, boilerplate included;
* classify: the rest of ``text.extract``, that is language, stopword densities, rules. It cannot be called by itself:
  it is the time of ``extract`` less that of the two above, and so the least exact figure here;
* features: ``features.features`` of a fresh document, ``Document.main`` included;
* fold: ``digest`` of every feature, and ``fold``;
* index: ``SimhashIndex.find_or_add`` into an index of ``--index`` random fingerprints.

Each page passes all arrows before the next one does, ``--repeats`` times after one round to warm up; a page's time
is the median of its repeats. The sum of the arrows is checked against ``PageFingerprinter.from_html(root)`` timed as
one, which makes a sketch as well; beside it stands the same by the compiled kernel, whose steps cannot be told apart
from outside (``benchmarks/kernel.py`` has more of it). Times are processor time: nothing here waits, and a busy
machine shows less. Pages are a seeded sample of the evaluation pack's (see ``lib``), or, where there is none, of the
example site's. The garbage collector runs as it does in a crawl.

Not measured: Scrapy around it (``benchmarks/plugin.py``), the store's own bookkeeping, the first sight of a class
name (``text.tags`` remembers 8,192 of them, and the round to warm up has shown it all).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy.http import HtmlResponse

from benchmarks.lib.clock import timed
from benchmarks.lib.readers import NATIVE, PURE, readers
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.sample import SEED, Page, add_sample, origin, packs_of, sample
from scrapy_simhash import Config, SimhashIndex
from scrapy_simhash.page.features import features
from scrapy_simhash.page.fingerprint import digest, fold
from scrapy_simhash.page.language import normalize, tokenize
from scrapy_simhash.page.text import extract
from scrapy_simhash.page.text.outline import outline

#: The arrows from a tree to a fingerprint, in their order.
FINGERPRINT = ("outline", "tokenise", "classify", "features", "fold")


class Times(NamedTuple):
    """What one page took, in nanoseconds of processor time; *extract* holds outline, tokens and classification."""

    parse: int
    outline: int
    tokenise: int
    extract: int
    features: int
    fold: int
    search: int
    at_once: int
    at_once_native: int
    """0 where there is no compiled kernel."""


class Stopwatch:
    """Sends pages through the arrows, one by one, and times each of them."""

    def __init__(self, index_size: int) -> None:
        self._config = Config()
        self._readers = readers(self._config)
        self._draw = random.Random(SEED)
        self._index = SimhashIndex(self._config.max_distance, self._config.blocks)
        self._index.add_many(self._draw.getrandbits(64) for _ in range(index_size))
        self._key = index_size

    def time(self, page: Page) -> Times:
        """Return what *page* takes; a page without features folds nothing."""
        root, parse = timed(lambda: HtmlResponse(page.url, body=page.html).selector.root)
        blocks, outlining = timed(lambda: outline(root).blocks)
        _, tokenising = timed(lambda: [tuple(tokenize(normalize(block.text))) for block in blocks])
        document, extracting = timed(lambda: extract(root))
        shingle_size, min_shingles = self._config.shingle_size, self._config.min_shingles
        weights, featuring = timed(lambda: features(document, shingle_size, min_shingles))
        folding = 0
        if weights:
            _, folding = timed(lambda: fold((digest(name), weight) for name, weight in weights.items()))
        # A random value, so that it is new whatever the round: the costlier answer.
        value = self._draw.getrandbits(64)
        self._key += 1
        _, indexing = timed(lambda: self._index.find_or_add(value, self._key))
        at_once = {name: timed(lambda: reader.from_html(root))[1] for name, reader in self._readers.items()}  # noqa: B023
        at_once_native = at_once.get(NATIVE, 0)
        return Times(
            parse,
            outlining,
            tokenising,
            extracting,
            featuring,
            folding,
            indexing,
            at_once[PURE],
            at_once_native,
        )


def measure(pages: Sequence[Page], repeats: int, index_size: int) -> dict[str, Any]:
    """Return for each arrow the time of a page in milliseconds, and as a share of the time of its parse."""
    stopwatch = Stopwatch(index_size)
    rounds: list[list[Times]] = []
    for number in range(repeats + 1):
        times = []
        for done, page in enumerate(pages):
            progress(f"round {number} of {repeats}, page {done} of {len(pages)} ...")
            times.append(stopwatch.time(page))
        rounds.append(times)
    progress("")
    # By page: the median of each column over the rounds, without the first one.
    by_page = [
        dict(zip(Times._fields, (median(column) for column in zip(*times, strict=True)), strict=True))
        for times in zip(*rounds[1:], strict=True)
    ]
    for one in by_page:
        one["classify"] = one["extract"] - one["outline"] - one["tokenise"]
        one["to fingerprint"] = sum(one[arrow] for arrow in FINGERPRINT)
        one["all"] = one["to fingerprint"] + one["search"]
    arrows = ["parse", *FINGERPRINT, "search", "to fingerprint", "all", "at_once"]
    if any(one["at_once_native"] for one in by_page):
        arrows.append("at_once_native")
    parse = sum(one["parse"] for one in by_page)
    sizes = [len(page.html) for page in pages]
    return {
        "pages": len(pages),
        "bytes": {"median": median(sizes), "mean": fmean(sizes)},
        "arrows": {
            arrow: {
                "median_ms": median(one[arrow] for one in by_page) / 1e6,
                "mean_ms": fmean(one[arrow] for one in by_page) / 1e6,
                "median_share": median(one[arrow] / one["parse"] for one in by_page),
                "share_of_all": sum(one[arrow] for one in by_page) / parse,
            }
            for arrow in arrows
        },
    }


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    names = {
        "parse": "parse (Scrapy's own)",
        "search": "index find_or_add",
        "to fingerprint": "outline to fold, together",
        "all": "outline to index, together",
        "at_once": "with the sketch, timed as one",
        "at_once_native": "the same by the compiled kernel",
    }
    rows = [
        [
            names.get(arrow, arrow),
            f"{one['median_ms']:.3f}",
            f"{one['mean_ms']:.3f}",
            f"{one['median_share']:.2f}",
            f"{one['share_of_all']:.2f}",
        ]
        for arrow, one in result["arrows"].items()
    ]
    head = ["a page", "median ms", "mean ms", "median / parse", "all / parse"]
    size = result["bytes"]
    return "\n".join(
        [
            opening(result),
            f"{result['pages']} pages of {result['from']}: median {size['median']:,.0f}, mean {size['mean']:,.0f}"
            f" bytes; {result['repeats']} repeats; {result['index_size']:,} fingerprints in the index;"
            " the steps are those of pure Python",
            "",
            table(head, rows),
            "",
            "median / parse: the share of the parse on the median page; all / parse: of all pages' time together",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_sample(parser, 300)
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: 5)")
    parser.add_argument(
        "--index", type=int, default=100_000, help="fingerprints in the index (default: 100000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    packs = packs_of(options)
    result = {
        **environment(__file__, given),
        "from": origin(packs),
        "repeats": options.repeats,
        "index_size": options.index,
        **measure(sample(packs, options.pages), options.repeats, options.index),
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
