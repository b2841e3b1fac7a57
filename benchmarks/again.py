"""Measure crawls of known pages with SIMHASH_RECRAWL: lost texts, fetched bytes, processor time and disk space.

    python benchmarks/again.py                              # tables; --json for programs
    python benchmarks/again.py --pages 90 --rounds 0        # without the costs

*three weeks*: Each host is a server on the loopback interface, and 3 % of its pages get a different text every week.
Each host is crawled once a week for three weeks, with a simulated clock: by Scrapy without the plugin, and by Scrapy
with the plugin and the rule ``always``. A text is *lost* if Scrapy without the plugin received it in a week and the
other crawl did not. Requests, and bytes of response bodies, are those of weeks 2 and 3, relative to Scrapy without
the plugin. The pages of the *honest* host have, in turn, an ETag, a Last-Modified date, both, neither, a gzip body
with a time in its header, a redirect, a session cookie, ``Vary: Cookie``, and status 404 in the first week. The other
hosts answer 304 to any validator (*lies*), send one ETag for all pages (*one etag*), or an ETag for each page that
never changes (*path etags*).

*milliseconds a page*: An unchanged site with pages of 30 kB is crawled in full (``dont_cache``), with a 304 response
for each page, and with no page due, in turn, each in a new process. Processor time is measured from the start of the
engine to the end.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from random import Random
from time import process_time_ns
from typing import Any
from zlib import crc32

# So that this file can be run as a program; tests/crawls/site.py imports a module of the example project.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "example_project"))

from magazine.server import in_thread
from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, progress, show, spread_of
from tests.clock import Clock
from tests.crawls.site import Answer, large, links
from tests.crawls.validating_site import ValidatingSite

WEEK, WEEKS, CHANGING = 7 * 86_400, 3, 0.03
HOSTS = ("honest", "lies", "one etag", "path etags")
#: The pages of the honest host, in turn; the first five are modes of `ValidatingSite`.
KINDS = ("etags", "dates", "both", "none", "gzip", "redirect", "session", "vary", "missing")
#: Ways to crawl an unchanged site again: the rule, and the meta of the requests.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "in full": ("always", {"dont_cache": True}),
    "304": ("always", {}),
    "not due": ("30d", {}),
}


class LinksSpider(Spider):
    """Follows the links of the start page, and records the received texts."""

    name = "links"

    def __init__(self, site: str, meta: dict[str, Any]) -> None:
        super().__init__()
        self.site, self.meta, self.texts = site, meta, set[tuple[str, int]]()

    async def start(self) -> AsyncIterator[Request]:
        """Request the start page."""
        yield Request(self.site)

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield an item, and follow the links."""
        assert isinstance(response, TextResponse)
        self.texts.add((response.url, crc32(response.body)))
        yield {"url": response.url}
        yield from response.follow_all(css="nav a", meta=self.meta)


def crawl(site: str, week: float, folder: str = "", rule: str = "", meta: Any = None) -> dict[str, Any]:
    """Crawl in this process, with the clock set to *week*, and with the plugin if *folder* is not empty."""
    Clock(week * WEEK).install()
    settings: dict[str, Any] = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False}
    if folder:
        settings |= {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_STORE": folder,
            "SIMHASH_RECRAWL": {"": rule},
            "HTTPCACHE_ENABLED": True,
            "HTTPCACHE_DIR": f"{folder}/cache",
            "HTTPCACHE_POLICY": "scrapy_simhash.RecrawlPolicy",
            "HTTPCACHE_STORAGE": "scrapy_simhash.PageStorage",
        }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(LinksSpider)
    times: list[int] = []
    note = lambda: times.append(process_time_ns())  # noqa: E731 - signals hold weak references
    for signal in (signals.engine_started, signals.engine_stopped):
        crawler.signals.connect(note, signal=signal)
    process.crawl(crawler, site=site, meta=meta or {})
    process.start(install_signal_handlers=False)
    spider, stats = crawler.spider, crawler.stats.get_stats() if crawler.stats else {}
    if not isinstance(spider, LinksSpider) or "log_count/ERROR" in stats:
        raise RuntimeError(f"the crawl failed: {stats}")
    return {"texts": spider.texts, "milliseconds": (times[1] - times[0]) / 1e6, "stats": stats}


def change(site: ValidatingSite, kind: str, pages: int, week: int) -> None:
    """Change *site* to its state in *week*."""
    site.mode = kind
    site.routes = {"/": f"<title>Start</title>{links(*map(str, range(pages)))}"}
    for number in range(pages):
        draw = Random(number)
        text = large(number + 1_000 * sum(draw.random() < CHANGING for _ in range(week)), 2_000)
        path, page_kind = f"/{number}", KINDS[number % len(KINDS)] if kind == "honest" else kind
        site.modes[path] = page_kind
        headers = {"Set-Cookie": f"session={number % 7}"} if page_kind in ("session", "vary") else {}
        if page_kind == "vary":
            headers["Vary"] = "Cookie"
        if page_kind == "redirect":
            site.routes[path] = Answer(status=302, headers={"Location": f"{path}-here"})
            path += "-here"
        if page_kind != "missing" or week:
            site.routes[path] = Answer(text, headers=headers)


def weeks(kind: str, pages: int) -> dict[str, Any]:
    """Return lost texts, and bytes and requests relative to Scrapy without the plugin."""
    found: dict[str, Any] = {"changed": 0, "lost": 0}
    with tempfile.TemporaryDirectory() as folder, in_thread(ValidatingSite({})) as site:
        former: set[tuple[str, int]] = set()
        for week in range(WEEKS):
            progress(f"{kind}, week {week + 1} ...")
            change(site, kind, pages, week)
            plain = alone(crawl, site.url(), week)["texts"]
            in_full = site.bytes_sent, len(site.sent)
            site.sent.clear()
            found["lost"] += len(plain - alone(crawl, site.url(), week, folder, "always")["texts"])
            if week:
                found["changed"] += len(plain - former)
                found[f"bytes, week {week + 1}"] = site.bytes_sent / in_full[0]
                found[f"requests, week {week + 1}"] = len(site.sent) / in_full[1]
            former = plain
            site.sent.clear()
    return found


def large_page(number: int) -> str:
    """Return a page of 30 kB, a third of it prose; because of the ids in its menu, it compresses like a real page."""
    draw = Random(number)
    menu = "".join(
        f'<li class="menu-item"><a class="link link--nav" href="/topic/{draw.getrandbits(136):x}">Topic {row}</a>'
        for row in range(180)
    )
    return large(number, 10_000).replace("<body>", f"<body><ul>{menu}</ul>")


def costs(pages: int, rounds: int) -> dict[str, Any]:
    """Return the cost of crawling known pages of 30 kB again."""
    routes = {f"/{number}": large_page(number) for number in range(pages)}
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder, in_thread(ValidatingSite(routes)) as site:
        site.routes["/"] = links(*map(str, range(pages)))
        alone(crawl, site.url(), 0, folder, "always")
        disk = sum(file.stat().st_size for file in Path(folder, "cache").iterdir()) / pages
        # Crawl once more, because most of the first 304 responses of a host are checked.
        alone(crawl, site.url(), 0, folder, "always")
        for number in range(rounds):
            for way, (rule, meta) in list(WAYS.items())[:: -1 if number % 2 else 1]:
                progress(f"round {number + 1} of {rounds}, {way} ...")
                done = alone(crawl, site.url(), 0, folder, rule, meta)
                if (way == "not due") != (done["stats"].get("simhash/recrawl/not_due") == pages):
                    raise RuntimeError(f"the crawl failed: {done['stats']}")
                times[way].append(done["milliseconds"] / pages)
    beside = {
        way: [one / full for one, full in zip(times[way], times["in full"], strict=True)]
        for way in ("304", "not due")
    }
    return {
        "milliseconds a page": {way: spread_of(each) for way, each in times.items()},
        "beside a page in full": {way: spread_of(each) for way, each in beside.items()},
        "bytes of a page": {"sent": len(routes["/0"]), "on disk": disk},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON; return 1 if a text was lost."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pages", type=int, default=300, help="pages of a host (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each kind (default: %(default)s)")
    options = parser.parse_args(arguments)
    hosts = {kind: weeks(kind, options.pages) for kind in HOSTS}
    figures: dict[str, Any] = {"three weeks": hosts}
    if options.rounds:
        figures |= costs(options.pages, options.rounds)
    figures["faults"] = [
        f"{kind}: {found['lost']} texts lost" for kind, found in hosts.items() if found["lost"]
    ]
    return show(__file__, options, arguments, figures)


if __name__ == "__main__":
    sys.exit(main())
