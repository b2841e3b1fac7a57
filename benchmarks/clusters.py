"""Measure which pages of the labelled packs end in one cluster when they go through one detector.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/clusters.py   # --json for programs
    python benchmarks/clusters.py --show 20 -s SIMHASH_RULE=classic

All pages of a pack go, in random order, through one NearDuplicateDetector with default settings (scope ``crawl``), as
in a crawl; several orders, the same at each run. A page is read in each order, as bytes without HTTP headers,
since what is known about its site depends on the order. Every version of
a page is a page of its own, on the host of its URL. Over the labelled pairs:

* recall: the share of all near pairs whose pages end in one cluster;
* precision: near / (near + different) among the labelled pairs that end in one cluster; grey pairs do not count.

Mean over the orders, worst of them beside it. ``--show`` names pages and pairs of the first order that are wrong.

Not measured: pages as they are compared two by two (``benchmarks/quality.py``), protections, cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.pack import Doc, Pack, Pair, absence
from benchmarks.lib.report import arguments_of, counted, show
from benchmarks.lib.scores import Score, score
from benchmarks.lib.settings import add_settings, config_of
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.judge.clusters import first_of_joined

ORDERS = 3


class Crawl(NamedTuple):
    """The clusters of all pages of a data set, in one order."""

    clusters: Mapping[str, int]
    """By document id; a page that is in no cluster is left out."""
    without_fingerprint: int = 0


def read_pages(pack: Pack) -> dict[str, bytes]:
    """Return the bytes of every page of *pack* by its id."""
    total = sum(doc.kind == "page" for doc in pack.docs.values())
    pages = ((doc.id, html) for doc, html in pack.html() if doc.kind == "page")
    return dict(counted(pages, total, f"pages of {pack.name}"))


def crawl(
    ids: Iterable[str], url_of: Callable[[str], str], html: Mapping[str, bytes], config: Config
) -> Crawl:
    """Return the clusters of the pages *ids*, read one after another; url_of() returns a different URL for each."""
    detector = NearDuplicateDetector(config)
    clusters: dict[str, int] = {}
    joined_clusters: list[tuple[int, int]] = []
    without = 0
    for id in ids:
        verdict = detector.check(html[id], url_of(id))
        without += verdict.fingerprint is None
        if verdict.cluster is not None:
            clusters[id] = verdict.cluster
            joined_clusters += [(verdict.cluster, other) for other in verdict.also_near]
    first_of = first_of_joined(joined_clusters)
    return Crawl({id: first_of.get(cluster, cluster) for id, cluster in clusters.items()}, without)


def _crawl_in_order(pack: Pack, html: Mapping[str, bytes], config: Config, number: int) -> Crawl:
    ids = Random(number).sample(sorted(html), len(html))
    return crawl(ids, lambda id: address(pack.docs[id]), html, config)


def address(doc: Doc) -> str:
    """Return a unique URL on the host of *doc*: versions of a page have the same URL."""
    return f"{doc.url.partition('#')[0] or f'https://{doc.site}/'}#{doc.id}"


def joined(pairs: Iterable[Pair], clusters: Mapping[str, int]) -> list[bool]:
    """Return which of *pairs* have both pages in one cluster."""
    return [pair.a in clusters and clusters[pair.a] == clusters.get(pair.b) for pair in pairs]


def measure_pack(pack: Pack, config: Config, orders: int = ORDERS, show_first: int = 0) -> dict[str, Any]:
    """Return the figures of *pack* over *orders* random orders, as plain values."""
    html = read_pages(pack)
    docs, pairs = pack.docs, pack.pairs
    crawls = (_crawl_in_order(pack, html, config, number) for number in range(orders))
    runs = list(counted(crawls, orders, f"orders of {pack.name}"))
    hits = [joined(pairs, run.clusters) for run in runs]
    named: dict[str, list[tuple[str, str]]] = {
        "different pairs in one cluster": _pairs(pairs, hits[0], "different", True),
        "near pairs in two clusters": _pairs(pairs, hits[0], "near", False),
    }
    return {
        "digest": pack.digest,
        "pages": len(html),
        "without a fingerprint": runs[0].without_fingerprint,
        "in one cluster": {
            "all": _over_orders([score(pairs, one) for one in hits]),
        },
        **{
            what: [f"{docs[a].source} {a} {b} {docs[a].url} {docs[b].url}" for a, b in wrong[:show_first]]
            for what, wrong in named.items()
            if show_first
        },
    }


def _pairs(pairs: Sequence[Pair], hits: Sequence[bool], label: str, is_joined: bool) -> list[tuple[str, str]]:
    """Return the pairs with a label that are in one cluster, or are not."""
    wanted = label, is_joined
    return [(pair.a, pair.b) for pair, hit in zip(pairs, hits, strict=True) if (pair.label, hit) == wanted]


def _over_orders(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the counts of pairs, and the mean and the worst of both shares."""
    figures: dict[str, Any] = {"near": scores[0].near, "different": scores[0].different}
    for name in ("precision", "recall"):
        values = [value for one in scores if (value := getattr(one, name)) is not None]
        figures[name] = fmean(values) if values else None
        figures[f"worst {name}"] = min(values) if values else None
    figures["different joined"] = fmean(one.different_within for one in scores)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 0 also without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument("--orders", type=int, default=ORDERS, help=f"random orders (default: {ORDERS})")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs to measure (default: all)")
    parser.add_argument("--show", type=int, default=0, help="wrong pages and pairs of each sort to name")
    add_settings(parser)
    options = parser.parse_args(arguments)
    config = config_of(options.settings)
    packs = [pack for pack in Pack.locate_all() if not options.only or pack.name in options.only]
    figures = {pack.name: measure_pack(pack, config, options.orders, options.show) for pack in packs}
    skipped = {} if packs else {"skipped": absence()}
    return show(__file__, options, arguments, {**figures, **skipped})


if __name__ == "__main__":
    sys.exit(main())
