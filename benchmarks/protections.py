"""Crawl the labelled packs with ``drop_items``, and measure which copies are dropped and which other pages are kept.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/protections.py   # --json for programs
    python benchmarks/protections.py --only eval-sites --seed 2 --show 20 -s SIMHASH_PROTECT=

All pages of a pack are requested in random order, the same at each run, by a Scrapy crawl of its own. A server on the
loopback interface answers as an HTTP proxy, so that each page has the host and the path of its URL, which some
protections read. Further versions of a URL have the parameter ``version`` as well. The settings are the defaults of
Scrapy and of the plugin with the action ``drop_items``, without meta refresh, and ``-s`` sets others. The spider
yields one item per page: a page is dropped if its item is.

A page has the label of its pairs with the pages that came before it in the crawl:

* near: at least one of these pairs is near. The page is a copy, to be dropped;
* grey: no pair is near, but at least one is grey. Such pages do not count;
* different: all pairs are different. The page is to be kept;
* unlisted: there is no pair. The page is to be kept, too.

The kind of a page is that of its most similar pair with this label. By source, by site and by kind: the share of the
copies that are dropped and of the different pages that are kept. Copies are kept for two reasons: they are *not
found*, which means not taken for near-duplicates, or *protected*, with the protections by label. Sites without copies
are left out. ``--show`` names copies that are kept and pages that are dropped wrongly.

Not measured: links, pages that are found by links (all pages here are start pages), other actions, cost.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.lib.pack import Doc, Pack, Pair, absence
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.serving import in_process, serve_as_proxy
from benchmarks.lib.settings import add_settings, settings_of
from scrapy_simhash import Status

#: The labels of a page, most important first.
NEAR, GREY, DIFFERENT, UNLISTED = LABELS = ("near", "grey", "different", "unlisted")
NOT_FOUND = "not found"


class Crawled(NamedTuple):
    """A page of a crawl, as the spider got it."""

    id: str
    is_kept: bool
    is_near: bool
    """Whether the plugin took it for a near-duplicate."""
    protected: str | None
    original: str | None
    """The document id of the page of which it is a near-duplicate."""


class Labelled(NamedTuple):
    """A page of a crawl with its label by the pages before it, and the kind of that label."""

    page: Crawled
    label: str
    kind: str


def addresses(docs: Iterable[Doc]) -> dict[str, str]:
    """Return an http URL for each page of *docs*, by document id: as a request has it, each of one page only."""
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


def serve(folder: Path, ready: Connection) -> None:
    """Serve the pages of the pack in *folder* as an HTTP proxy until the process ends; send its URL to *ready*."""
    pack = Pack(folder)
    urls = addresses(pack.docs.values())
    serve_as_proxy({urls[doc.id]: html for doc, html in pack.html() if doc.id in urls}, ready)


class PackSpider(Spider):
    """Requests all pages of a pack, and yields one item for each."""

    name = "pack"
    proxy: str
    urls: Mapping[str, str]
    """By document id, in the order of the requests."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.results: dict[str, dict[str, Any]] = {}

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page."""
        for id, url in self.urls.items():
            yield Request(url, cb_kwargs={"id": id}, meta={"proxy": self.proxy})

    def parse(self, response: Response, id: str) -> Iterator[dict[str, str]]:
        """Yield the item."""
        self.results[id] = response.meta["simhash_result"]
        if len(self.results) % 50 == 0:
            progress(f"{len(self.results):,} of {len(self.urls):,} pages ...")
        yield {"id": id}


def crawl(urls: Mapping[str, str], proxy: str, settings: Mapping[str, Any]) -> list[Crawled]:
    """Return the pages of a crawl in the order in which they came; to be called in a process of its own.

    Raises RuntimeError if a page did not come or if anything failed.
    """
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_ACTION": "drop_items",
            "METAREFRESH_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        }
    )
    crawler = process.create_crawler(PackSpider)
    kept: set[str] = set()
    keep = lambda item: kept.add(item["id"])  # noqa: E731 - signals hold nobody: this name does
    crawler.signals.connect(keep, signal=signals.item_scraped)
    process.crawl(crawler, urls=urls, proxy=proxy)
    process.start(install_signal_handlers=False)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    assert isinstance(crawler.spider, PackSpider)
    results = crawler.spider.results
    if "log_count/ERROR" in stats or len(results) != len(urls):
        raise RuntimeError(f"the crawl failed, {len(results)} pages of {len(urls)} came: {stats}")
    ids = {url: id for id, url in urls.items()}
    return [
        Crawled(
            id,
            id in kept,
            result["status"] == Status.NEAR_DUPLICATE.value,
            result["protected"],
            ids.get(result["duplicate_of"]),
        )
        for id, result in results.items()
    ]


def labelled(pages: Iterable[Crawled], pairs: Iterable[Pair]) -> list[Labelled]:
    """Return *pages*, in the order of their crawl, with the labels of their pairs with pages before them."""
    pairs_of: defaultdict[str, list[tuple[str, Pair]]] = defaultdict(list)
    for pair in pairs:
        pairs_of[pair.a].append((pair.b, pair))
        pairs_of[pair.b].append((pair.a, pair))
    before: set[str] = set()
    result = []
    for page in pages:
        known = [pair for other, pair in pairs_of[page.id] if other in before]
        best = min(known, key=lambda pair: (LABELS.index(pair.label), -pair.similarity), default=None)
        result.append(Labelled(page, best.label if best else UNLISTED, best.kind if best else ""))
        before.add(page.id)
    return result


def fate(page: Crawled) -> str:
    """Return ``dropped``, the reason why a near-duplicate was kept, or ``not found``."""
    if not page.is_kept:
        return "dropped"
    return (page.protected or "kept") if page.is_near else NOT_FOUND


def by_label(pages: Sequence[Labelled]) -> dict[str, dict[str, Any]]:
    """Return how many pages of each label were dropped, were not found, and were kept for which reason."""
    counts = Counter((one.label, fate(one.page)) for one in pages)
    columns = ("dropped", NOT_FOUND, *sorted({fate for _, fate in counts} - {"dropped", NOT_FOUND}))
    return {
        label: {
            "pages": sum(one.label == label for one in pages),
            **{column: counts[label, column] for column in columns},
        }
        for label in LABELS
    }


def shares(pages: Sequence[Labelled]) -> dict[str, Any]:
    """Return the share of copies that were dropped, and of different pages that were kept; None if there are none."""
    copies = [one.page for one in pages if one.label == NEAR]
    different = [one.page for one in pages if one.label == DIFFERENT]
    fates = Counter(map(fate, copies))
    return {
        "copies": len(copies),
        "dropped": _share(fates["dropped"], copies),
        NOT_FOUND: fates[NOT_FOUND],
        "protected": len(copies) - fates["dropped"] - fates[NOT_FOUND],
        "different": len(different),
        "kept": _share(sum(page.is_kept for page in different), different),
    }


def _share(count: int, pages: Sequence[Crawled]) -> float | None:
    return count / len(pages) if pages else None


def shares_by(key: Callable[[Labelled], str], pages: Iterable[Labelled]) -> dict[str, dict[str, Any]]:
    """Return shares() for each value of *key*, sorted; without those that have neither copies nor different pages."""
    groups: defaultdict[str, list[Labelled]] = defaultdict(list)
    for one in pages:
        if one.label in (NEAR, DIFFERENT):
            groups[key(one)].append(one)
    return {name: shares(group) for name, group in sorted(groups.items())}


def measure_pack(pack: Pack, settings: Mapping[str, Any], seed: int = 1, shown: int = 0) -> dict[str, Any]:
    """Return the figures of one crawl of *pack*, as plain values."""
    docs, urls = pack.docs, addresses(pack.docs.values())
    order = Random(seed).sample(sorted(urls), len(urls))
    progress(f"server of {pack.name} ...")
    with in_process(serve, pack.folder) as proxy:
        crawled = alone(crawl, {id: urls[id] for id in order}, proxy, settings)
    pages = labelled(crawled, pack.pairs)
    by_site = shares_by(lambda one: docs[one.page.id].site or "unknown", pages)
    wrong = {
        "copies that are kept": [one for one in pages if one.label == NEAR and one.page.is_kept],
        "pages that are dropped wrongly": [
            one for one in pages if one.label in (DIFFERENT, UNLISTED) and not one.page.is_kept
        ],
    }
    return {
        "digest": pack.digest,
        "pages": len(pages),
        "by label": by_label(pages),
        "by source": {"all": shares(pages), **shares_by(lambda one: docs[one.page.id].source, pages)},
        "by site": {name: one for name, one in by_site.items() if one["copies"]},
        "by kind": shares_by(lambda one: f"{one.label}: {one.kind}", pages),
        **{
            name: [
                f"{fate(one.page)} {urls[one.page.id]} {urls.get(one.page.original or '', '')}".strip()
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
