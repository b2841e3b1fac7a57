"""Measure what the whole plugin adds to a page of a crawl: Python functions, instructions, time.

    python benchmarks/plugin.py                        # tables; --json for programs
    python benchmarks/plugin.py --only functions --list
    python benchmarks/plugin.py --only instructions -s SIMHASH_URL_RULES=off

A spider requests pages and a download handler answers from memory, so no network is involved. The settings are
Scrapy's defaults, those of the plugin its own with the action ``mark``; ``-s`` sets others. The callback takes
``response.selector`` and yields one item. Every crawl runs in a process of its own. ``--only`` one of:

``functions``
    How many Python functions of the package a new page enters, counted with ``sys.setprofile`` over the second half
    of a crawl; with ``--list`` each by its name. Functions of the C extensions do not count. The pages are generated,
    all different, so that the figure is the same everywhere.
``instructions``
    Thousands of instructions a page that the plugin adds, beside those that decode and parse it: crawls with the
    plugin, without it, and without a parse, counted by ``valgrind --tool=callgrind`` from the end of their first
    quarter on. Takes minutes, and holds within 1 % on a busy machine, where times are off by a third.
``time``
    Processor time by rounds of a crawl with and one without the plugin: *added / parse* is (on - off) / parse, *off /
    on* the share of the crawl's speed that is left when the processor is the limit; median and both ends.

For instructions and time the pages are a seeded sample of all evaluation packs (see ``lib``), generated ones without
a pack. Not measured: the network, memory (``benchmarks/stores.py``), stores on disk or in Redis, items.
Needs Scrapy 2.14 or later, whose download handlers are coroutines.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import process_time_ns
from types import CodeType, FrameType
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

import scrapy_simhash
from benchmarks.lib.instructions import NOT_COUNTED, Instructions, can_count, instructions_of
from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, progress, show, spread_of
from benchmarks.lib.sample import Page, origin, sample
from benchmarks.lib.settings import add_settings, settings_of

PARTS = ("functions", "instructions", "time")
#: How a crawl is made: with the plugin, without it, and without it by a spider that does not parse.
ON, OFF, BARE = "on", "off", "bare"
PACKAGE = os.path.dirname(scrapy_simhash.__file__)  # noqa: PTH120 - as code objects have it
#: What generated pages are made of.
COMMON = "the and of to in with from for at by on was".split()
SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in ("a", "ei", "o", "u", "im", "ord")]
MENU = "".join(f'<a href="/sections/{number}">Section {number}</a> ' for number in range(20))


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

    def __init__(self, pages: Sequence[Page], mode: str, calls: Calls | Instructions | None = None) -> None:
        super().__init__()
        self.pages = {page.url: page.html for page in pages}
        self.parse_ns = self._met = 0
        self._parses = mode != BARE
        self._calls = calls

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page, to be sent in their order: each crawl counts the same ones."""
        for number, url in enumerate(self.pages):
            yield Request(url, priority=-number)

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield an item; the first use of the selector parses the page unless the plugin has done so."""
        if self._parses:
            start = process_time_ns()
            response.selector.root  # type: ignore[attr-defined] # noqa: B018
            self.parse_ns += process_time_ns() - start
        self._met += 1
        if self._calls is not None:
            self._calls.met(self._met, len(self.pages))
        yield {"url": response.url}


class Calls:
    """Counts the Python functions of the package that are entered from the middle of a crawl to before its end."""

    #: Pages at the end of a crawl that are not counted: it may be closing.
    LAST = 10

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()
        self.pages = 0
        self._is_ours: dict[CodeType, bool] = {}

    def met(self, number: int, of: int) -> None:
        """Take note that so many pages have come."""
        if number == of // 2:
            sys.setprofile(self._take)
        elif number == of - self.LAST:
            sys.setprofile(None)
            self.pages = number - of // 2

    def _take(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            if code not in self._is_ours:
                self._is_ours[code] = code.co_filename.startswith(PACKAGE)
            if self._is_ours[code]:
                self.counts[code] += 1

    def by_name(self) -> dict[str, float]:
        """Return the calls a page of each function that one page in twenty enters, most first."""
        names: Counter[str] = Counter()
        for code, count in self.counts.items():
            name = getattr(code, "co_qualname", code.co_name)
            names[f"{code.co_filename[len(PACKAGE) + 1 :]}:{code.co_firstlineno} {name}"] += count
        return {name: count / self.pages for name, count in names.most_common() if count * 20 >= self.pages}


def crawl(
    pages: Sequence[Page],
    mode: str,
    settings: Mapping[str, Any],
    calls: Calls | Instructions | None = None,
) -> dict[str, int]:
    """Return the nanoseconds of a crawl and of its parses; to be called in a process that has crawled nothing.

    Raises RuntimeError if a page was not crawled or if anything failed.
    """
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_ENABLED": mode == ON,
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), MemoryHandler),
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        }
    )
    crawler = process.create_crawler(PagesSpider)
    times: list[int] = []
    note = lambda: times.append(process_time_ns())  # noqa: E731 - signals hold nobody: this name does
    crawler.signals.connect(note, signal=signals.engine_started)
    crawler.signals.connect(note, signal=signals.engine_stopped)
    process.crawl(crawler, pages=pages, mode=mode, calls=calls)
    process.start(install_signal_handlers=False)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    if "log_count/ERROR" in stats or stats.get("item_scraped_count") != len(pages):
        raise RuntimeError(f"the crawl failed: {stats}")
    assert isinstance(crawler.spider, PagesSpider)
    return {"crawl": times[1] - times[0], "parse": crawler.spider.parse_ns}


def generated(count: int) -> list[Page]:
    """Return so many pages of one site, with nothing in common but a menu and the commonest words."""
    return [Page(f"https://www.example.com/stories/{number}", _story(number)) for number in range(count)]


def _story(number: int) -> bytes:
    draw = Random(number)

    def word() -> str:
        return draw.choice(COMMON) if draw.random() < 0.3 else "".join(draw.choices(SYLLABLES, k=2))

    def sentence() -> str:
        return " ".join(word() for _ in range(14)).capitalize() + "."

    paragraphs = "".join(f"<p>{sentence()} {sentence()} {sentence()}</p>" for _ in range(12))
    title = f"{word()} {word()} {number}".title()
    return (
        f"<!doctype html><html lang=en><title>{title}</title><body><nav>{MENU}</nav>"
        f"<main><h1>{title}</h1>{paragraphs}</main></body></html>"
    ).encode()


def addressed(pages: Sequence[Page]) -> list[Page]:
    """Return *pages* with different URLs of the web: those that have none, or that of another page, get a new one."""
    taken: set[str] = set()
    result = []
    for number, one in enumerate(pages):
        # As a request has it.
        url = Request(one.url).url if one.url.startswith(("http://", "https://")) else ""
        if not url or url in taken or "#" in url:
            url = f"https://www.example.com/pages/{number}"
        taken.add(url)
        result.append(Page(url, one.html))
    return result


def functions(count: int, settings: Mapping[str, Any]) -> dict[str, float]:
    """Return by name how often a new page enters each function of the package, of *count* generated pages."""
    calls = Calls()
    # One page at a time, so that none is counted half.
    crawl(generated(count), ON, {"CONCURRENT_REQUESTS": 1, **settings}, calls)
    return calls.by_name()


def instructions(pages: Sequence[Page], settings: Mapping[str, Any]) -> dict[str, float]:
    """Return thousands of instructions a page: of its parse, and those that the plugin adds."""
    a_page = {}
    for mode in (ON, OFF, BARE):
        progress(f"instructions: {mode}, {len(pages):,} pages ...")
        # One page at a time, so that none is counted half.
        given = pages, mode, {"CONCURRENT_REQUESTS": 1, **settings}
        a_page[mode] = instructions_of("benchmarks.plugin", given, len(pages))
    parse, added = a_page[OFF] - a_page[BARE], a_page[ON] - a_page[OFF]
    return {"parse": parse, "added": added, "added / parse": added / parse}


def times(pages: Sequence[Page], rounds: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return milliseconds a page, and what the plugin adds as a share of the parse and of the crawl's speed."""
    done: dict[str, list[dict[str, int]]] = {OFF: [], ON: []}
    for number in range(rounds):
        for mode in (OFF, ON) if number % 2 else (ON, OFF):
            progress(f"time: round {number + 1} of {rounds}, {mode} ...")
            done[mode].append(alone(crawl, pages, mode, settings))
    pairs = list(zip(done[OFF], done[ON], strict=True))
    a_page = 1 / len(pages) / 1e6
    return {
        "milliseconds a page": {
            "parse": a_page * median(off["parse"] for off, _ in pairs),
            **{mode: a_page * median(one["crawl"] for one in done[mode]) for mode in done},
        },
        "shares": {
            "added / parse": spread_of([(on["crawl"] - off["crawl"]) / off["parse"] for off, on in pairs]),
            "off / on": spread_of([off["crawl"] / on["crawl"] for off, on in pairs]),
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--child"]:
        pages, mode, settings = pickle.loads(Path(given[1]).read_bytes())
        crawl(pages, mode, settings, Instructions())
        return 0
    parser = arguments_of(__doc__)
    add_settings(parser)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--pages", type=int, default=400, help="of a crawl (default: %(default)s)")
    parser.add_argument(
        "--generated", action="store_true", help="measure generated pages, not those of packs"
    )
    parser.add_argument("--list", action="store_true", help="list the functions that a page enters")
    parser.add_argument(
        "--rounds", type=int, default=5, help="crawls with and without (default: %(default)s)"
    )
    options = parser.parse_args(given)
    settings = settings_of(options.settings)
    packs = [] if options.generated else Pack.locate_all()
    pages = addressed(sample(packs, options.pages)) if packs else generated(options.pages)
    result: dict[str, Any] = {"pages": len(pages), "from": origin(packs) if packs else "generated"}
    if "functions" in options.only:
        progress("functions ...")
        by_name = alone(functions, options.pages, settings)
        result["functions a new page enters"] = round(sum(by_name.values()), 1)
        if options.list:
            result["functions"] = [
                {"a page": f"{calls:.2f}", "function": name} for name, calls in by_name.items()
            ]
    if "instructions" in options.only:
        result["thousands of instructions a page"] = (
            instructions(pages, settings) if can_count() else NOT_COUNTED
        )
    if "time" in options.only:
        result |= times(pages, options.rounds, settings)
    return show(__file__, options, given, result)


if __name__ == "__main__":
    sys.exit(main())
