"""Measure what the whole plugin adds to a crawl, in units of the parse, and at which stages.

    python benchmarks/plugin.py --pages 1000 --rounds 5
    python benchmarks/plugin.py --json

A spider requests the pages of a sample and a download handler answers from memory, so no network is involved. The
settings are Scrapy's defaults with ``LOG_LEVEL = "INFO"``, those of the plugin are its own defaults, with the action
``mark``. The callback takes ``response.selector``, reads the title and yields one item. Each crawl runs in a new
process. A round is a crawl with ``SIMHASH_ENABLED`` off and one with it on; every other round begins with the one
that is on. Printed are, as the median and the two ends of the rounds:

``added / parse``
    (on - off) / parse: processor time from the start of the engine to its end, and of it the time that the callback
    takes for ``response.selector.root`` while the plugin is off: decode the bytes and parse them.
``off / on``
    The share of the crawl's speed that is left when the processor is the limit.

The stages are from one more crawl, in which functions of the plugin are wrapped by timers: a call of one takes about
a microsecond longer. The time of a stage includes neither that of other stages it calls nor that of the garbage
collector, which runs now here, now there: most of what it frees are trees that would be freed anyway. *The rest* is
``added / parse`` less all stages: Scrapy's calls of the middlewares, and what memory and caches cost. ``kernel`` is
the stage from the tree to the fingerprint. The bytes are what a page takes in the store in memory: the growth of the
resident set by new pages (as ``benchmarks/stores.py`` weighs it, URLs of 60 characters).

Pages are a seeded sample of all evaluation packs (see ``lib``), or of the example site's where there is none. Not
measured: the network, stores on disk or in Redis, items that are compared.
Needs Scrapy 2.14 or later, whose download handlers are coroutines.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

from benchmarks.lib.processes import alone
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.sample import Page, add_sample, origin, packs_of, sample
from benchmarks.lib.store_weight import MEMORY, weigh
from scrapy_simhash import NearDuplicateDetector, PageFingerprinter, SimhashDownloaderMiddleware
from scrapy_simhash.crawl import consequences, page_checker
from scrapy_simhash.crawl.cluster_reporter import ClusterReporter
from scrapy_simhash.crawl.spider_middleware import SimhashSpiderMiddleware
from scrapy_simhash.crawl.url_rule_guard import UrlRuleGuard
from scrapy_simhash.index import ProbingIndex
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.store import MemoryStore

#: What is timed in the crawl for the stages: the name of the stage, the module or class, and its function.
STAGES: Sequence[tuple[str, Any, str]] = (
    ("parse", page_checker, "tree_of"),
    ("kernel", PageFingerprinter, "read"),
    ("index: look-up", ProbingIndex, "nearest"),
    ("index: insert", ProbingIndex, "add"),
    ("candidates compared", SimilarityRule, "compare_all"),
    ("store: the rest of a claim", MemoryStore, "claim"),
    ("detector: the rest", NearDuplicateDetector, "conclude"),
    ("hints", consequences, "read_hints"),
    ("hints", consequences, "read_canonical"),
    ("hints", consequences, "_with_evidence"),
    ("decision", consequences.Consequences, "_decide"),
    ("clusters", ClusterReporter, "note_verdict"),
    ("URL rules and floods", UrlRuleGuard, "note_verdict"),
    ("meta", consequences, "write_marks"),
    ("stats", consequences, "count_verdict"),
    ("signal and flag of duplicates", consequences.Consequences, "_announce"),
    ("downloader middleware: the rest", SimhashDownloaderMiddleware, "process_response"),
    ("spider middleware", SimhashSpiderMiddleware, "process_spider_input"),
    ("spider middleware", SimhashSpiderMiddleware, "get_processed_item"),
    ("at the end", consequences.Consequences, "spider_closed"),
)
#: Stages that are no part of what the plugin adds.
PARSE = "parse"
KERNEL = "kernel"


class MemoryHandler:
    """A download handler that answers from the pages of the spider."""

    lazy = False

    def __init__(self, crawler: Any) -> None:
        self._pages: dict[str, bytes] = crawler.spider.pages

    @classmethod
    def from_crawler(cls, crawler: Any) -> MemoryHandler:
        """Return the handler of *crawler*."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Return the page at the URL of *request*."""
        return HtmlResponse(
            request.url, headers={"Content-Type": "text/html"}, body=self._pages[request.url], request=request
        )

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class PagesSpider(Spider):
    """Requests all pages, and yields an item for each."""

    name = "pages"

    def __init__(self, pages: Sequence[Page]) -> None:
        super().__init__()
        self.pages = {page.url: page.html for page in pages}
        self.parse_ns = 0

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page."""
        for url in self.pages:
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield the title; the first use of the selector parses the page unless the plugin has done so."""
        start = process_time_ns()
        root = response.selector.root  # type: ignore[attr-defined]
        self.parse_ns += process_time_ns() - start
        yield {"url": response.url, "title": root.findtext(".//title")}


class Timers:
    """Processor time of wrapped functions by stage, without wrapped functions they call, and the collector."""

    def __init__(self) -> None:
        self.nanoseconds: dict[str, int] = defaultdict(int)
        #: For each call that is under way: the time of the wrapped functions called by it, and of the collector.
        self._inner = [0]
        self._collects_since = 0
        gc.callbacks.append(self._take_out_collection)

    def _take_out_collection(self, phase: str, _: object) -> None:
        if phase == "start":
            self._collects_since = process_time_ns()
        else:
            self._inner[-1] += process_time_ns() - self._collects_since

    def wrap(self, stage: str, owner: Any, name: str) -> None:
        """Replace the function *name* of *owner*, a class or a module, by one that is timed."""
        function: Callable[..., Any] = getattr(owner, name)

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0)
            start = process_time_ns()
            try:
                return function(*args, **kwargs)
            finally:
                took = process_time_ns() - start
                self.nanoseconds[stage] += took - self._inner.pop()
                self._inner[-1] += took

        setattr(owner, name, timed)


def crawl(
    file: Path,
    is_on: bool,
    with_stages: bool = False,
    more: Mapping[str, Any] | None = None,
    timed: Sequence[tuple[str, Any, str]] = (),
) -> dict[str, Any]:
    """Return what a crawl of the pickled pages in *file* costs; to be called in a process that has crawled nothing.

    *more* are settings of the crawl; *timed* is what is timed in it, as in STAGES, which *with_stages* stands for.
    Times are in nanoseconds of processor time. Raises RuntimeError, with the log, if a page was not crawled or if
    anything failed.
    """
    pages = pickle.loads(file.read_bytes())
    stages: dict[str, int] = {}
    if with_stages or timed:
        timers = Timers()
        stages = timers.nanoseconds
        for stage in (*(STAGES if with_stages else ()), *timed):
            timers.wrap(*stage)
    log = file.with_suffix(".log")
    log.unlink(missing_ok=True)
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_ENABLED": is_on,
            # A timer would count what the crawl does while a large page is read in a thread.
            **({"SIMHASH_THREAD_SIZE": 0} if with_stages or timed else {}),
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), MemoryHandler),
            "LOG_LEVEL": "INFO",
            "LOG_FILE": str(log),
            "TELNETCONSOLE_ENABLED": False,
            **(more or {}),
        }
    )
    crawler = process.create_crawler(PagesSpider)
    times: list[int] = []
    note = lambda: times.append(process_time_ns())  # noqa: E731 - signals hold nobody: this name does
    crawler.signals.connect(note, signal=signals.engine_started)
    crawler.signals.connect(note, signal=signals.engine_stopped)
    process.crawl(crawler, pages=pages)
    process.start(install_signal_handlers=False)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    failed = any(key.startswith("log_count/") and key[10:] in ("ERROR", "WARNING") for key in stats)
    if failed or stats.get("item_scraped_count") != len(pages):
        raise RuntimeError(f"the crawl failed: {stats}\n{log.read_text('utf-8')[-2000:]}")
    spider = crawler.spider
    assert isinstance(spider, PagesSpider)
    return {
        "crawl": times[1] - times[0],
        "parse": spider.parse_ns,
        "stages": dict(stages),
        "processed": stats.get("simhash/processed", 0),
        "near_duplicates": stats.get("simhash/near_duplicates", 0),
    }


def addressed(pages: Sequence[Page]) -> list[Page]:
    """Return *pages* with different URLs of the web: those that have none, or that of another page, get a new one."""
    taken: set[str] = set()
    result = []
    for number, page in enumerate(pages):
        # As a request has it.
        url = Request(page.url).url if page.url.startswith(("http://", "https://")) else ""
        if not url or url in taken or "#" in url:
            url = f"https://www.example.com/pages/{number}"
        taken.add(url)
        result.append(Page(url, page.html))
    return result


def measure(pages: Sequence[Page], rounds: int, store_pages: int) -> dict[str, Any]:
    """Return what the plugin adds to crawls of *pages*, its stages, and the bytes of a page in the store."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pages"
        file.write_bytes(pickle.dumps(addressed(pages)))
        done: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds} ...")
            begins_on = bool(number % 2)
            first, second = alone(crawl, file, begins_on), alone(crawl, file, not begins_on)
            done.append((second, first) if begins_on else (first, second))
        progress("stages ...")
        staged = alone(crawl, file, True, True)
        progress("store ...")
        stored = alone(weigh, MEMORY, 0.0, store_pages, Path(folder))
        progress("")
    added = _spread([(on["crawl"] - off["crawl"]) / off["parse"] for off, on in done])
    parse = staged["stages"].pop(PARSE)
    stages = {
        stage: {"microseconds": time / len(pages) / 1000, "share": time / parse}
        for stage, time in staged["stages"].items()
    }
    return {
        "pages": len(pages),
        "processed": staged["processed"],
        "near_duplicates": staged["near_duplicates"],
        "milliseconds": {
            "parse": median(off["parse"] for off, _ in done) / len(pages) / 1e6,
            "off": median(off["crawl"] for off, _ in done) / len(pages) / 1e6,
            "on": median(on["crawl"] for _, on in done) / len(pages) / 1e6,
        },
        "added": added,
        "ratio": _spread([off["crawl"] / on["crawl"] for off, on in done]),
        "kernel": stages[KERNEL]["share"],
        "stages": stages,
        "rest": added["median"] - sum(stage["share"] for stage in stages.values()),
        "store_bytes": stored["resident_bytes"],
        "store_pages": store_pages,
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": median(values), "least": min(values), "greatest": max(values)}


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    times = result["milliseconds"]
    figures = [
        [name, *(f"{result[key][end]:.3f}" for end in ("median", "least", "greatest"))]
        for name, key in (("added / parse", "added"), ("off / on", "ratio"))
    ]
    stages = [
        [stage, f"{one['microseconds']:.1f}", f"{one['share']:.3f}"]
        for stage, one in sorted(result["stages"].items(), key=lambda item: -item[1]["share"])
    ]
    return "\n".join(
        [
            opening(result),
            f"{result['pages']:,} pages of {result['from']}: {result['processed']:,} compared,"
            f" {result['near_duplicates']:,} near-duplicates; {result['rounds']} rounds",
            f"milliseconds a page: parse {times['parse']:.3f}, crawl {times['off']:.3f} off, {times['on']:.3f} on",
            "",
            table(["processor time", "median", "least", "greatest"], figures),
            "",
            table(
                ["stage", "microseconds a page", "/ parse"],
                [*stages, ["the rest", "", f"{result['rest']:.3f}"]],
            ),
            "",
            f"store in memory: {result['store_bytes']:.0f} bytes a page ({result['store_pages']:,} new pages)",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_sample(parser, 1000)
    parser.add_argument(
        "--rounds", type=int, default=5, help="crawls with the plugin off and on (default: 5)"
    )
    parser.add_argument(
        "--store-pages",
        type=int,
        default=200_000,
        help="pages in the store that is weighed (default: 200000)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args(given)
    packs = packs_of(options)
    result = {
        **environment(__file__, given),
        "from": origin(packs),
        "rounds": options.rounds,
        **measure(sample(packs, options.pages), options.rounds, options.store_pages),
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
