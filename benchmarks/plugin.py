"""Measure what the whole plugin adds to a page of a crawl: Python functions, instructions, time.

    python benchmarks/plugin.py                        # tables; --json for programs
    python benchmarks/plugin.py --only functions --list
    python benchmarks/plugin.py --only instructions --packs eval-sites -s SIMHASH_URL_RULES=off

A spider requests pages, and a download handler returns them from memory. The settings are defaults with the action
``mark``; ``-s`` changes settings. Every crawl runs in a separate process. ``--only`` selects one of:

``functions``
    The number of Python functions of the package that a page calls, and of their files, counted with
    ``sys.setprofile`` over the second half of a crawl; ``--list`` lists them. A file counts if at least one page in
    twenty calls its functions. The pages are generated, so that the figures are the same everywhere; a copy has one
    more word than an earlier page.
``instructions``, ``time``
    Crawls with the plugin (*on*), without the plugin (*off*), and without the plugin by a spider that does not parse
    (*bare*): *added / parse* is (on - off) / (off - bare). Instructions, in thousands, are counted by ``valgrind
    --tool=callgrind``, from the end of the first quarter of a crawl. Counting takes minutes, but is accurate to 1 %
    on a busy machine, where processor times vary by a third. *off / on* is the speed of the crawl with the plugin, as
    a share of the speed without the plugin.

The pages are a seeded sample of the evaluation packs, or of those that ``--packs`` selects; without a pack, they are
generated. Not measured: the network, memory, stores on disk or in Redis, items. Needs Scrapy 2.14 or later.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from time import process_time_ns
from types import CodeType, FrameType
from typing import Any

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

import scrapy_simhash
from benchmarks.lib.crawls import MemoryHandler
from benchmarks.lib.instructions import NOT_COUNTED, Instructions, can_count, instructions_of
from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, progress, show, spread_of
from benchmarks.lib.sample import Page, origin, sample
from benchmarks.lib.settings import add_settings, settings_of

PARTS = ("functions", "instructions", "time")
#: The kinds of crawls: with the plugin, without it, and without it by a spider that does not parse.
ON, OFF, BARE = "on", "off", "bare"
PACKAGE = os.path.dirname(scrapy_simhash.__file__)  # noqa: PTH120 - as code objects have it
#: Words and syllables of generated pages.
COMMON = "the and of to in with from for at by on was".split()
SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in ("a", "ei", "o", "u", "im", "ord")]
#: The crawls in which functions are counted: the action, and whether the pages of the second half are copies.
CASES = {
    "new page, mark": ("mark", False),
    "new page, drop_items": ("drop_items", False),
    "dropped copy, drop_items": ("drop_items", True),
}
MENU = "".join(f'<a href="/sections/{number}">Section {number}</a> ' for number in range(20))


class PagesSpider(Spider):
    """Requests all pages, and yields an item for each."""

    name = "pages"

    def __init__(self, pages: Sequence[Page], mode: str, calls: Calls | Instructions | None = None) -> None:
        super().__init__()
        self.pages = {page.url: page.html for page in pages}
        self._met = 0
        self._parses = mode != BARE
        self._calls = calls

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page; they are sent in order, so that each crawl counts the same pages."""
        for number, url in enumerate(self.pages):
            yield Request(url, priority=-number)

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield an item. The first use of the selector parses the page, unless the plugin has done so."""
        if self._parses:
            response.selector.root  # type: ignore[attr-defined] # noqa: B018
        self._met += 1
        if self._calls is not None:
            self._calls.met(self._met, len(self.pages))
        yield {"url": response.url}


class Calls:
    """Counts calls to Python functions of the package from the middle of a crawl until shortly before its end."""

    #: Pages at the end of a crawl that are not counted, because the crawl may be closing.
    LAST = 10

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()
        self.pages = 0
        self._is_ours: dict[CodeType, bool] = {}

    def met(self, number: int, of: int) -> None:
        """Start or stop counting after this number of pages."""
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
        """Return the calls per page of each function that at least one page in twenty calls, most frequent first."""
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
    copies: int = 0,
) -> int:
    """Return the nanoseconds of a crawl. Call it in a new process.

    Raises RuntimeError if a page was not crawled, if the number of dropped items is not *copies*, or if anything
    failed.
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
    note = lambda: times.append(process_time_ns())  # noqa: E731 - signals hold weak references
    crawler.signals.connect(note, signal=signals.engine_started)
    crawler.signals.connect(note, signal=signals.engine_stopped)
    process.crawl(crawler, pages=pages, mode=mode, calls=calls)
    process.start(install_signal_handlers=False)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    scraped = stats.get("item_scraped_count", 0), stats.get("simhash/dropped/items", 0)
    if "log_count/ERROR" in stats or scraped != (len(pages) - copies, copies):
        raise RuntimeError(f"the crawl failed: {stats}")
    return times[1] - times[0]


def generated(count: int, copies: int = 0) -> list[Page]:
    """Return *count* pages of one site, which share only a menu and the most common words.

    The last *copies* pages have the texts of the first pages, with one more word.
    """
    urls = [f"https://www.example.com/stories/{number}" for number in range(count)]
    new = count - copies
    return [
        Page(url, _story(number) if number < new else _story(number - new, "Again. "))
        for number, url in enumerate(urls)
    ]


def _story(number: int, more: str = "") -> bytes:
    draw = Random(number)

    def word() -> str:
        return draw.choice(COMMON) if draw.random() < 0.3 else "".join(draw.choices(SYLLABLES, k=2))

    def sentence() -> str:
        return " ".join(word() for _ in range(14)).capitalize() + "."

    paragraphs = "".join(f"<p>{sentence()} {sentence()} {sentence()}</p>" for _ in range(12))
    title = f"{word()} {word()} {number}".title()
    return (
        f"<!doctype html><html lang=en><title>{title}</title><body><nav>{MENU}</nav>"
        f"<main><h1>{title}</h1><p>{more}{paragraphs.removeprefix('<p>')}</main></body></html>"
    ).encode()


def addressed(pages: Sequence[Page]) -> list[Page]:
    """Return *pages* with unique http URLs."""
    taken: set[str] = set()
    result = []
    for number, one in enumerate(pages):
        # Quoted as in a request.
        url = Request(one.url).url if one.url.startswith(("http://", "https://")) else ""
        if not url or url in taken or "#" in url:
            url = f"https://www.example.com/pages/{number}"
        taken.add(url)
        result.append(Page(url, one.html))
    return result


def functions(count: int, case: str, settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the calls per page of each function of the package, by name, in a crawl of *count* generated pages."""
    action, are_copies = CASES[case]
    calls, copies = Calls(), count // 2 if are_copies else 0
    # One page at a time, so that no page is counted in part.
    given = {"CONCURRENT_REQUESTS": 1, **settings, "SIMHASH_ACTION": action}
    crawl(generated(count, copies), ON, given, calls, copies)
    return calls.by_name()


def instructions(pages: Sequence[Page], settings: Mapping[str, Any]) -> dict[str, float]:
    """Return thousands of instructions per page: of each crawl, of parsing, and added by the plugin."""
    a_page = {}
    pages = fenced(pages)
    for mode in (ON, OFF, BARE):
        progress(f"instructions: {mode}, {len(pages):,} pages ...")
        # One page at a time, so that no page is counted in part.
        given = pages, mode, {"CONCURRENT_REQUESTS": 1, **settings}
        a_page[mode] = instructions_of("benchmarks.plugin", given, len(pages))
    parse, added = a_page[OFF] - a_page[BARE], a_page[ON] - a_page[OFF]
    return {**a_page, "parse": parse, "added": added, "added / parse": added / parse}


def fenced(pages: Sequence[Page]) -> list[Page]:
    """Return *pages*, in which generated pages replace those near the beginning and the end of counting.

    With the plugin, the next page is already parsed when the callback of a page is called. So each crawl counts
    different pages there, and an additional page of a megabyte would look like a tenth of what the plugin adds.
    """
    result = list(pages)
    for number, story in zip(Instructions.counted(len(pages)), generated(2), strict=True):
        for near in range(max(number - 2, 0), min(number + 3, len(pages))):
            result[near] = Page(result[near].url, story.html)
    return result


def times(pages: Sequence[Page], rounds: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return milliseconds per page, the time that the plugin adds relative to parsing, and the relative speed."""
    modes = (BARE, OFF, ON)
    done: list[dict[str, float]] = []
    for number in range(rounds):
        took = {}
        for mode in modes[:: -1 if number % 2 else 1]:
            progress(f"time: round {number + 1} of {rounds}, {mode} ...")
            took[mode] = alone(crawl, pages, mode, settings) / len(pages) / 1e6
        done.append({**took, "parse": took[OFF] - took[BARE], "added": took[ON] - took[OFF]})
    return {
        "milliseconds a page": {
            name: spread_of([one[name] for one in done]) for name in (*modes, "parse", "added")
        },
        "shares": {
            "added / parse": spread_of([one["added"] / one["parse"] for one in done]),
            "off / on": spread_of([one[OFF] / one[ON] for one in done]),
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
    parser.add_argument("--packs", nargs="+", metavar="NAME", help="packs to sample (default: all)")
    parser.add_argument("--pages", type=int, default=400, help="of a crawl (default: %(default)s)")
    parser.add_argument("--generated", action="store_true", help="measure generated pages")
    parser.add_argument("--list", action="store_true", help="list the functions that a page enters")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each kind (default: %(default)s)")
    options = parser.parse_args(given)
    settings = settings_of(options.settings)
    packs = [] if options.generated else Pack.locate_all()
    packs = [pack for pack in packs if not options.packs or pack.name in options.packs]
    pages = addressed(sample(packs, options.pages)) if packs else generated(options.pages)
    result: dict[str, Any] = {"pages": len(pages), "from": origin(packs) if packs else "generated"}
    if "functions" in options.only:
        by_case = {}
        for case in CASES:
            progress(f"functions: {case} ...")
            by_case[case] = alone(functions, options.pages, case, settings)
        result["a page enters"] = {
            case: {
                "functions": round(sum(by_name.values()), 1),
                "files": len({name.partition(":")[0] for name in by_name}),
            }
            for case, by_name in by_case.items()
        }
        for case, by_name in by_case.items() if options.list else ():
            result[f"functions of a {case}"] = [
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
