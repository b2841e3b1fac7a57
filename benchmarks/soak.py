"""Crawl a generated web for as long as you like, with every feature on: measure growth, and detect lost pages.

    python benchmarks/soak.py --pages 30000
    python benchmarks/soak.py --pages 2000000 --folder soak     # run again to continue
    python benchmarks/soak.py --pages 300000 --store redis://127.0.0.1:6379/0

One process crawls page after page through the real middlewares; a download handler generates each page from its
number and the seed. Every host has 200 pages in one of four languages: stories with the same boilerplate, print
views, corrected versions, reprints of stories of an earlier host, and days of a calendar without an event. Every
tenth page links to an earlier page, with a session id.

After every ``--step`` pages, a line is written to ``soak.jsonl`` in the folder, from which a later run continues:
processor time per page without generating it (``making``), resident memory, open files, objects that Python's garbage
collector tracks, bytes of log, store and report. *growth of the cost* is the cost relative to ``making`` in the last
step, divided by that in the second step.

A detector judges the first ``--checked`` pages of a new run again, one by one: *differences* are pages with a
different status or original. *wrong* are near-duplicates of a page with a different text; *missed* are copies that
were new. ``wal`` is the largest write-ahead log of SQLite in bytes. The exit status is 1 if a page was lost, wrong or
different, or if such a log is too long.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from time import process_time_ns
from typing import Any
from zlib import crc32

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

from benchmarks.lib.crawls import MemoryHandler
from benchmarks.lib.processes import alone, settled_bytes
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.store.sqlite.checkpoints import LONG

#: The files that this process has open, on Linux.
FILES = Path("/proc/self/fd")
PAGES_OF_A_HOST = 200
#: Number of hosts that are crawled at the same time, one page of each in turn.
HOSTS = 8
#: Max waiting requests.
AHEAD = 1_000
#: Max bytes of a write-ahead log, four times the length at which it should start again.
LONG_LOG = 4 * LONG * 4096
#: Sections of a host whose pages have the text of an earlier page.
COPIES = ("print", "corrected", "agency")
#: By language: stopwords, and syllables of other words.
LANGUAGES = {
    "en": ("the of and in to was that with for at".split(), "ba dor el fin gu hal ki lo mar nes pu sta".split()),
    "de": ("der die und in den von mit das war auf".split(), "ber gen stra hau lich wer tun mög feld ung".split()),
    "fr": ("le de la et les des en un dans pour".split(), "mai son beau tre ville jour eau port nu ge".split()),
    "zh": (list("的是在了和有这也不就"), list("山水船桥风雨城市港口夜灯钟木石春秋河海岛")),
}  # fmt: skip
SETTINGS = {
    "SIMHASH_ACTION": "drop_items",
    "SIMHASH_REVISIT_ACTION": "drop_items",
    "SIMHASH_URL_RULES": "skip",
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_POLICY": "scrapy_simhash.RecrawlPolicy",
    "HTTPCACHE_STORAGE": "scrapy_simhash.PageStorage",
    "SIMHASH_RECRAWL": {"": "auto"},
    "SIMHASH_ITEM_FIELDS": ["title", "url"],
}


class Web:
    """Generates the pages of the web from *seed*, each in about the same time."""

    #: Difference between the numbers of two hosts that share stories, and so have the same language.
    AGENCY = HOSTS * len(LANGUAGES)

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._story = lru_cache(20 * HOSTS)(self._write)

    def url(self, number: int) -> str:
        """Return the URL of page *number*, from 0."""
        turn, place = divmod(number, HOSTS * PAGES_OF_A_HOST)
        index, lane = divmod(place, HOSTS)
        host, kind, first = turn * HOSTS + lane, index % 10, index // 10 * 10
        path = f"stories/{index}"
        if kind == 6:
            path = f"print/{first}"
        elif kind == 7:
            path = f"corrected/{first + 1}"
        elif kind == 8 and host >= self.AGENCY:
            path = f"agency/{first + 2}"
        elif kind == 9:
            path = f"calendar?day={index}"
        return f"https://www.host-{host}.example/{path}"

    def page(self, url: str) -> bytes:
        """Return the page at *url*."""
        host, section, _ = _parts(url)
        language = list(LANGUAGES)[host % len(LANGUAGES)]
        of, story = self.text_of(url)
        title, body = self._story(of, story, language) if story is not None else ("Calendar", "")
        return self._dressed(
            title, body.replace("<p>", "<p>17 ", section == "corrected"), f"{host} menu", language
        )

    def text_of(self, url: str) -> tuple[int, int | None]:
        """Return the host and the number of the story on the page at *url*; the number is None for a calendar day."""
        host, section, story = _parts(url)
        return host - self.AGENCY * (section == "agency"), int(story) if story else None

    def _dressed(self, title: str, body: str, menu: str, language: str) -> bytes:
        links = "".join(
            f'<a href="/sections/{n}">{w}</a> ' for n, w in enumerate(self._words(menu, language, 12))
        )
        legal = self._sentences(f"{menu} legal", language, 4)
        return (
            f"<!doctype html><html lang={language}><meta charset=utf-8><title>{title}</title><body><nav>{links}</nav>"
            f"<main><h1>{title}</h1>{body}</main><div>{legal}</div></body></html>"
        ).encode()

    def _write(self, host: int, story: int, language: str) -> tuple[str, str]:
        name = f"{host} {story}"
        title = " ".join(self._words(f"{name} title", language, 4)).capitalize()
        paragraphs = (self._sentences(f"{name} {n}", language, 3) for n in range(6))
        return title, "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)

    def _sentences(self, name: str, language: str, count: int) -> str:
        gap = "" if language == "zh" else " "
        return gap.join(
            gap.join(self._words(f"{name} {n}", language, 12)).capitalize() + ("。" if not gap else ".")
            for n in range(count)
        )

    def _words(self, name: str, language: str, count: int) -> list[str]:
        draw = Random(f"{self._seed} {name}")
        common, parts = LANGUAGES[language]
        return [
            draw.choice(common) if draw.random() < 0.35 else "".join(draw.choices(parts, k=3))
            for _ in range(count)
        ]


def etag_of(body: bytes) -> str:
    """Return an ETag of 16 digits, as servers send."""
    return f'"{crc32(body):08x}{len(body):08x}"'


def _parts(url: str) -> tuple[int, str, str]:
    """Return the number of a host, and the two parts of the path; the second may be empty."""
    host, path = url.removeprefix("https://www.host-").split(".example/")
    section, _, story = path.partition("?")[0].partition("/")
    return int(host), section, story


class WebHandler(MemoryHandler):
    """A download handler that returns the pages of the spider's web."""

    _spider: SoakSpider

    async def download_request(self, request: Request) -> Response:
        """Return the page that the request is for, with an ETag."""
        start = process_time_ns()
        body = self._spider.web.page(request.url)
        headers = {"Content-Type": "text/html", "ETag": etag_of(body)}
        self._spider.making_ns += process_time_ns() - start
        return HtmlResponse(request.url, headers=headers, body=body, request=request)


class SoakSpider(Spider):
    """Requests pages by their numbers, and writes a line of figures after each step."""

    name = "soak"

    def __init__(
        self,
        web: Web,
        folder: Path,
        numbers: range,
        step: int,
        checked: int,
    ) -> None:
        super().__init__()
        self.web, self.making_ns = web, 0
        self.met: dict[str, tuple[str, str | None]] = {}
        self._folder, self._numbers, self._step, self._checked = folder, numbers, step, checked
        self.seen = self._wrong = self._missed = 0
        self._spent = process_time_ns()

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page, a few at a time; all would take more memory than the plugin."""
        for place, number in enumerate(self._numbers):
            while place - self.seen > AHEAD:
                await asyncio.sleep(0.01)
            yield Request(self.web.url(number), cb_kwargs={"number": number, "is_link": False})

    def parse(self, response: Response, number: int, is_link: bool) -> Iterator[Any]:
        """Compare the verdict with the expected one; yield an item and, on some pages, links."""
        result = response.meta["simhash_result"]
        if number < self._checked and not is_link:
            self.met[response.url] = result["status"], result["duplicate_of"]
        yield {"url": response.url, "title": response.css("h1::text").get()}
        if is_link:
            return
        if result["duplicate_of"] is not None:
            self._wrong += self.web.text_of(result["duplicate_of"]) != self.web.text_of(response.url)
        self._missed += result["status"] == "new" and _parts(response.url)[1] in COPIES
        if number % 10 == 0 and number >= HOSTS * 20:
            url = f"{self.web.url(number - HOSTS * 10)}?sid={number:x}"
            yield Request(url, cb_kwargs={"number": number, "is_link": True})
        self.seen += 1
        if self.seen % self._step == 0:
            self._write(number + 1)

    def _write(self, pages: int) -> None:
        now = process_time_ns()
        line = {
            "pages": pages,
            "microseconds": (now - self._spent - self.making_ns) / self._step / 1000,
            "making": self.making_ns / self._step / 1000,
            "resident_bytes": settled_bytes(),
            "files": len(list(FILES.iterdir())) if FILES.exists() else None,
            "objects": len(gc.get_objects()),
            **{name: _size(self._folder / name) for name in ("log", "store", "report")},
            "wal": max((file.stat().st_size for file in self._folder.rglob("*-wal")), default=0),
            "wrong": self._wrong,
            "missed": self._missed,
        }
        with (self._folder / "soak.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        progress(f"{pages:,} pages, {line['microseconds']:.0f} microseconds a page ...")
        self._spent, self.making_ns = process_time_ns(), 0


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if it does not exist."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def crawl(folder: Path, pages: int, options: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """Crawl from the last step in the file up to *pages*; return the status and original of the checked pages."""
    lines = steps(folder)
    numbers = range(lines[-1]["pages"] if lines else 0, pages)
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), WebHandler),
            # The memory of Scrapy's filter would hide that of the plugin.
            "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
            # Requests are sent in order, so a copy never comes before its original, however slow the store is.
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
            "LOG_FILE": str(folder / "log"),
            "LOG_LEVEL": "INFO",
            "TELNETCONSOLE_ENABLED": False,
            # A page has one item, but Scrapy starts this number of tasks per page, by default 100.
            "CONCURRENT_ITEMS": 1,
            **SETTINGS,
            "HTTPCACHE_DIR": str(folder / "cache"),
            "SIMHASH_STORE": options["store"] or f"{folder / 'store'}{os.sep}",
            "SIMHASH_REPORT": str(folder / "report"),
            **({} if options["store"] else {"SIMHASH_CHANGES": str(folder / "changes")}),
        }
    )
    crawler = process.create_crawler(SoakSpider)
    # In a resumed run, the detector has not read the earlier pages.
    checked = 0 if lines else options["checked"]
    given = Web(options["seed"]), folder, numbers, options["step"], checked
    process.crawl(crawler, *given)
    process.start(install_signal_handlers=False)
    assert isinstance(crawler.spider, SoakSpider)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    faults = {name: count for name, count in stats.items() if "error" in name.lower()}
    if faults or crawler.spider.seen != len(numbers):
        raise RuntimeError(f"of {len(numbers):,} pages {crawler.spider.seen:,} came: {faults}")
    return crawler.spider.met


def steps(folder: Path) -> list[dict[str, Any]]:
    """Return the lines that were written so far."""
    file = folder / "soak.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def differences(web: Web, met: dict[str, tuple[str, str | None]]) -> list[str]:
    """Read the checked pages one by one with a detector, and return those with a different result."""
    detector = NearDuplicateDetector(Config())
    found = []
    for number in range(len(met)):
        url = web.url(number)
        verdict = detector.check(web.page(url), url)
        expected = verdict.status.value, verdict.duplicate_of
        if met[url] != expected:
            found.append(f"{url}: {met[url]}, expected {expected}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, crawl, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pages", type=int, default=30_000, help="how many in all (%(default)s)")
    parser.add_argument("--step", type=int, default=5_000, help="pages per line of figures (%(default)s)")
    parser.add_argument("--checked", type=int, default=2_000, help="pages judged again (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="a value of SIMHASH_STORE (default: a folder)")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        met = alone(crawl, folder, options.pages, vars(options))
        lines = steps(folder)
    result: dict[str, Any] = {"steps": lines}
    if len(lines) > 2:
        second, last = lines[1], lines[-1]
        grown = last["resident_bytes"] - second["resident_bytes"]
        first_cost, last_cost = (line["microseconds"] / line["making"] for line in (second, last))
        result["growth of the cost"] = last_cost / first_cost
        result["memory, bytes a page"] = grown / (last["pages"] - second["pages"])
    wrong = differences(Web(options.seed), met)
    result["differences"] = len(wrong)
    result["faults"] = wrong + [f"{line['wrong']} wrong" for line in lines[-1:] if line["wrong"]]
    result["faults"] += [f"a log of {line['wal']:,} bytes" for line in lines[-1:] if line["wal"] > LONG_LOG]
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
