"""Crawl the labelled packs with ``drop_items``, and measure which copies are dropped and which other pages are kept.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/protections.py   # --json for programs
    python benchmarks/protections.py --only eval-sites --seed 2 --show 20 -s SIMHASH_PROTECT=

All pages of a pack are requested in random order, the same at each run, one after another, by a Scrapy crawl from
memory. Further versions of a URL have the parameter ``version`` as well. The settings are the defaults of Scrapy and
of the plugin with the action ``drop_items``, without meta refresh, and ``-s`` sets others. The spider yields one item
per page: a page is dropped if its item is.

A page has the label of its pairs with the pages that came before it in the crawl:

* near: at least one of these pairs is near. The page is a copy, to be dropped;
* grey: no pair is near, but at least one is grey. Such pages do not count;
* different: all pairs are different. The page is to be kept;
* unlisted: there is no pair. The page is to be kept, too.

By label: how many pages are dropped, how many are *not found*, which means not taken for near-duplicates, and how
many near-duplicates each protection keeps. ``--show`` names copies that are kept and pages that are dropped wrongly.

Not measured: links, pages that are found by links (all pages here are start pages), other actions, cost.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request

from benchmarks.lib.crawls import Crawled, crawl_each
from benchmarks.lib.pack import Doc, Pack, Pair, absence
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, show
from benchmarks.lib.settings import add_settings, settings_of

#: The labels of a page, most important first.
NEAR, GREY, DIFFERENT, UNLISTED = LABELS = ("near", "grey", "different", "unlisted")
NOT_FOUND = "not found"


def addresses(docs: Iterable[Doc]) -> dict[str, str]:
    """Return a unique http URL for each page of *docs*, by document id, quoted as in a request."""
    by_url: dict[str, str] = {}
    for doc in docs:
        if doc.kind != "page":
            continue
        scheme, _, rest = doc.url.partition("#")[0].partition("://")
        if scheme not in ("http", "https"):
            # Some packs write a remark after the name of a site.
            rest = f"{(doc.site or 'unknown.example').split()[0]}/{doc.id}"
        url = Request(f"http://{rest}").url
        if url in by_url:
            url += f"{'&' if '?' in url else '?'}version={doc.id}"
        by_url[url] = doc.id
    return {id: url for url, id in by_url.items()}


def crawl(folder: Path, seed: int, settings: Mapping[str, Any]) -> list[Crawled]:
    """Return the pages of a crawl of the pack in *folder*, with ids for URLs; for a process of its own."""
    pack = Pack(folder)
    urls = addresses(pack.docs.values())
    html = {doc.id: html for doc, html in pack.html() if doc.id in urls}
    order = Random(seed).sample(sorted(urls), len(urls))
    (crawled,) = crawl_each([{urls[id]: html[id] for id in order}], settings)
    ids = {url: id for id, url in urls.items()}
    return [one._replace(url=ids[one.url], original=ids.get(one.original or "")) for one in crawled]


def labelled(pages: Iterable[Crawled], pairs: Iterable[Pair]) -> list[tuple[Crawled, str]]:
    """Return *pages*, in the order of their crawl, with the labels of their pairs with pages before them."""
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
    """Return how many pages of each label were dropped, were not found, and were kept for which reason."""
    counts = Counter((label, fate(page)) for page, label in pages)
    columns = ("dropped", NOT_FOUND, *sorted({fate for _, fate in counts} - {"dropped", NOT_FOUND}))
    return {
        label: {
            "pages": sum(of_page == label for _, of_page in pages),
            **{column: counts[label, column] for column in columns},
        }
        for label in LABELS
    }


def measure_pack(pack: Pack, settings: Mapping[str, Any], seed: int = 1, shown: int = 0) -> dict[str, Any]:
    """Return the figures of one crawl of *pack*, as plain values."""
    urls = addresses(pack.docs.values())
    pages = labelled(alone(crawl, pack.folder, seed, settings), pack.pairs)
    wrong = {
        "copies that are kept": [page for page, label in pages if label == NEAR and page.is_kept],
        "pages that are dropped wrongly": [
            page for page, label in pages if label in (DIFFERENT, UNLISTED) and not page.is_kept
        ],
    }
    return {
        "digest": pack.digest,
        "pages": len(pages),
        "by label": by_label(pages),
        **{
            name: [
                f"{fate(one)} {urls[one.url]} {urls.get(one.original or '', '')}".strip()
                for one in found[:shown]
            ]
            for name, found in wrong.items()
            if shown
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; 0 also without a pack."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs to measure (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="the random order of the pages (default: 1)")
    parser.add_argument("--show", type=int, default=0, help="wrong pages of each sort to name")
    add_settings(parser)
    options = parser.parse_args(arguments)
    settings = settings_of(options.settings)
    packs = [pack for pack in Pack.locate_all() if not options.only or pack.name in options.only]
    figures = {pack.name: measure_pack(pack, settings, options.seed, options.show) for pack in packs}
    skipped = {} if packs else {"skipped": absence()}
    return show(__file__, options, arguments, {**figures, **skipped})


if __name__ == "__main__":
    sys.exit(main())
