"""Crawl labelled evaluation packs with ``drop_items``: measure which pages are clustered, and which are dropped.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/copies.py   # --json for programs
    python benchmarks/copies.py --only eval-sites --show 20 -s SIMHASH_PROTECT=

A Scrapy crawl requests all pages of a pack one after another from memory, in several random orders, which are the
same in each run. If a URL has several versions, all but the first have the parameter ``version``. The settings are
the defaults of Scrapy and of the plugin with the action ``drop_items``, without meta refresh; ``-s`` changes
settings. The spider yields one item per page, and a page counts as dropped if its item is dropped.

The scores *in one cluster* are computed from the labelled pairs, and shown as the mean and the worst of all orders:

* recall: the share of near pairs whose pages are in one cluster;
* precision: near / (near + different) among the labelled pairs that are in one cluster; grey pairs do not count.

The counts *by label* are those of the first order. The label of a page is that of its pairs with earlier pages:

* near: at least one of these pairs is near. The page is a copy, and should be dropped;
* grey: no pair is near, but at least one is grey. Grey pages do not count;
* different: all pairs are different. The page should be kept;
* unlisted: there is no pair. The page should be kept, too.

For each label: the number of pages that are dropped, the number that are *not found*, because they did not count as
near-duplicates, and the number of near-duplicates that each protection kept. ``--show`` lists copies that are kept,
pages that are dropped wrongly, and pairs that are wrongly in one cluster, or wrongly in two.

Not measured: comparisons of single pairs (``benchmarks/quality.py``), links, other actions, cost.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request

from benchmarks.lib.crawls import Crawled, crawl_each
from benchmarks.lib.pack import Doc, Pack, Pair, absence
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, show
from benchmarks.lib.scores import score
from benchmarks.lib.settings import add_settings, settings_of
from scrapy_simhash.judge.clusters import first_of_joined

#: The labels of a page; the first that applies counts.
NEAR, GREY, DIFFERENT, UNLISTED = LABELS = ("near", "grey", "different", "unlisted")
NOT_FOUND = "not found"
ORDERS = 3


def addresses(docs: Iterable[Doc]) -> dict[str, str]:
    """Return a unique http URL for each page of *docs*, by document id, quoted as in a request."""
    by_url: dict[str, str] = {}
    for doc in docs:
        if doc.kind != "page":
            continue
        scheme, _, rest = doc.url.partition("#")[0].partition("://")
        if scheme not in ("http", "https"):
            # Some packs have a remark after the name of a site.
            rest = f"{(doc.site or 'unknown.example').split()[0]}/{doc.id}"
        url = Request(f"http://{rest}").url
        if url in by_url:
            url += f"{'&' if '?' in url else '?'}version={doc.id}"
        by_url[url] = doc.id
    return {id: url for url, id in by_url.items()}


def crawl(folder: Path, seed: int, settings: Mapping[str, Any]) -> list[Crawled]:
    """Crawl the pack in *folder*, and return its pages, with ids instead of URLs. Call it in a separate process."""
    pack = Pack(folder)
    urls = addresses(pack.docs.values())
    html = {doc.id: html for doc, html in pack.html() if doc.id in urls}
    order = Random(seed).sample(sorted(urls), len(urls))
    (crawled,) = crawl_each([{urls[id]: html[id] for id in order}], settings)
    ids = {url: id for id, url in urls.items()}
    return [one._replace(url=ids[one.url], original=ids.get(one.original or "")) for one in crawled]


def labelled(pages: Iterable[Crawled], pairs: Iterable[Pair]) -> list[tuple[Crawled, str]]:
    """Return *pages*, in the order of the crawl, with the labels of their pairs with earlier pages."""
    pairs_of: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs:
        pairs_of[pair.a].append((pair.b, pair.label))
        pairs_of[pair.b].append((pair.a, pair.label))
    before: set[str] = set()
    result = []
    for page in pages:
        known = [label for other, label in pairs_of[page.url] if other in before]
        result.append((page, min(known, key=LABELS.index, default=UNLISTED)))
        before.add(page.url)
    return result


def fate(page: Crawled) -> str:
    """Return ``dropped``, the reason why a near-duplicate was kept, or ``not found``."""
    if not page.is_kept:
        return "dropped"
    return (page.protected or "kept") if page.is_near else NOT_FOUND


def by_label(pages: Sequence[tuple[Crawled, str]]) -> dict[str, dict[str, Any]]:
    """Return, for each label, the number of pages that were dropped, not found, and kept for each reason."""
    counts = Counter((label, fate(page)) for page, label in pages)
    columns = ("dropped", NOT_FOUND, *sorted({fate for _, fate in counts} - {"dropped", NOT_FOUND}))
    return {
        label: {
            "pages": sum(of_page == label for _, of_page in pages),
            **{column: counts[label, column] for column in columns},
        }
        for label in LABELS
    }


def joined(pages: Iterable[Crawled], pairs: Iterable[Pair]) -> list[bool]:
    """Return, for each of *pairs*, whether both pages are in one cluster."""
    clusters = {page.url: page.cluster for page in pages if page.cluster is not None}
    first_of = first_of_joined(
        [(clusters[page.url], other) for page in pages if page.url in clusters for other in page.also_near]
    )
    clusters = {url: first_of.get(cluster, cluster) for url, cluster in clusters.items()}
    return [pair.a in clusters and clusters[pair.a] == clusters.get(pair.b) for pair in pairs]


def in_one_cluster(pairs: Sequence[Pair], hits: Iterable[Sequence[bool]]) -> dict[str, Any]:
    """Return the counts of pairs, and the mean and the worst precision and recall over all orders."""
    scores = [score(pairs, one) for one in hits]
    figures: dict[str, Any] = {"near": scores[0].near, "different": scores[0].different}
    for name in ("precision", "recall"):
        values = [value for one in scores if (value := getattr(one, name)) is not None]
        figures[name] = fmean(values) if values else None
        figures[f"worst {name}"] = min(values) if values else None
    figures["different joined"] = fmean(one.different_within for one in scores)
    return figures


def measure_pack(
    pack: Pack, settings: Mapping[str, Any], orders: int = ORDERS, seed: int = 1, shown: int = 0
) -> dict[str, Any]:
    """Return precision, recall and the wrong decisions in crawls of *pack*, as plain values."""
    urls = addresses(pack.docs.values())
    crawls = [alone(crawl, pack.folder, seed + number, settings) for number in range(orders)]
    pages, hits = labelled(crawls[0], pack.pairs), [joined(pages, pack.pairs) for pages in crawls]
    pairs = [
        (pair.label, hit, f"{urls[pair.a]} {urls[pair.b]}")
        for pair, hit in zip(pack.pairs, hits[0], strict=True)
        if {pair.a, pair.b} <= urls.keys()
    ]
    wrong = {
        "copies that are kept": [
            _named(urls, page) for page, label in pages if label == NEAR and page.is_kept
        ],
        "pages that are dropped wrongly": [
            _named(urls, page) for page, label in pages if label in (DIFFERENT, UNLISTED) and not page.is_kept
        ],
        "different pairs in one cluster": [both for label, hit, both in pairs if hit and label == DIFFERENT],
        "near pairs in two clusters": [both for label, hit, both in pairs if not hit and label == NEAR],
    }
    return {
        "digest": pack.digest,
        "pages": len(pages),
        "in one cluster": {"all": in_one_cluster(pack.pairs, hits)},
        "by label": by_label(pages),
        **{name: found[:shown] for name, found in wrong.items() if shown},
    }


def _named(urls: Mapping[str, str], page: Crawled) -> str:
    return f"{fate(page)} {urls[page.url]} {urls.get(page.original or '', '')}".strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON, and return 0, even without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs to measure (default: all)")
    parser.add_argument("--orders", type=int, default=ORDERS, help=f"random orders (default: {ORDERS})")
    parser.add_argument("--seed", type=int, default=1, help="the first random order (default: 1)")
    parser.add_argument("--show", type=int, default=0, help="max wrong pages and pairs of each sort to list")
    add_settings(parser)
    options = parser.parse_args(arguments)
    settings = settings_of(options.settings)
    packs = [pack for pack in Pack.locate_all() if not options.only or pack.name in options.only]
    figures = {
        pack.name: measure_pack(pack, settings, options.orders, options.seed, options.show) for pack in packs
    }
    skipped = {} if packs else {"skipped": absence()}
    return show(__file__, options, arguments, {**figures, **skipped})


if __name__ == "__main__":
    sys.exit(main())
