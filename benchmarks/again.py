"""Crawl a site again with SIMHASH_RECRAWL: lost texts, fetched bytes, processor time and disk.

    python benchmarks/again.py
    python benchmarks/again.py --pages 100 --rounds 1 --json

*Weeks.* Servers on the loopback interface, each a host, have ``--pages`` pages; every week 3 in 100 of them get
another text. Each host is crawled in three weeks, by a clock that is set, by plain Scrapy and with
``SIMHASH_RECRAWL``; for both it says the same. A text is *lost* if the callback of plain Scrapy got it in a week and
that of the other crawl did not. Bytes are those of bodies in weeks 2 and 3, beside those of plain Scrapy.

*honest*
    By the number of a page: ETag, Last-Modified, both, none, an ETag and gzip with the time in it, a redirect, a
    session cookie, ``Vary: Cookie``, and 404 in the first week.
*always 304, one ETag, fixed ETags*
    Answer 304 to whatever validator; send one ETag with all pages; send an ETag for each page that never changes.

*Costs.* A site of pages of 30 kB that has not changed is crawled again, with all pages in full (``dont_cache``), with
a 304 for each, and with no page due, in turn, each in a new process. Printed are processor time of a page from the
start of the engine to its end, as the median and both ends of the rounds, and the bytes of a page in the cache.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from time import process_time, time
from typing import Any, NamedTuple
from zlib import crc32

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.lib.processes import alone
from benchmarks.lib.prose_site import text
from benchmarks.lib.report import arguments_of, progress, show, spread_of
from benchmarks.lib.serving import in_thread
from tests.clock import Clock

WEEK, WEEKS = 7 * 86_400, 3
HOSTS = ("honest", "always 304", "one ETag", "fixed ETags")
KINDS = ("etag", "date", "both", "none", "gzip", "redirect", "session", "vary", "missing")
#: One page in so many changes each week.
CHANGING = 33
SETTINGS: dict[str, Any] = {
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_ENABLED": False,
}
RECRAWL: dict[str, Any] = {
    "ADDONS": {"scrapy_simhash.Addon": 500},
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_POLICY": "scrapy_simhash.RecrawlPolicy",
    "HTTPCACHE_STORAGE": "scrapy_simhash.PageStorage",
}


class Reply(NamedTuple):
    """A response: its status, its body and its headers."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


class Host(ThreadingHTTPServer):
    """One host, in one week."""

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, kind: str, pages: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.pages, self.week, self.bytes = kind, pages, 0, 0

    @property
    def url(self) -> str:
        """The URL of the start page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def version(self, number: int) -> int:
        """Return how often a page has changed."""
        return sum(Random(f"{number} {week}").randrange(CHANGING) == 0 for week in range(1, self.week + 1))

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        """Return the response to a request."""
        name, _, target = path[1:].partition("-")
        if not name:
            links = "".join(f'<a href="/{page}">{page}</a> ' for page in range(self.pages))
            return Reply(200, f"<title>Start</title><nav>{links}</nav><p>{text(0)}".encode())
        number = int(name)
        kind = KINDS[number % len(KINDS)] if self.kind == "honest" else self.kind
        if kind == "missing" and not self.week:
            return Reply(404, b"<p>No such page.")
        if kind == "redirect" and not target:
            return Reply(302, b"", {"Location": f"{path}-here"})
        version = self.version(number)
        body = (
            f"<title>Story {number}</title><h1>Story {number}</h1><main>{text(1_000 * number + version)}</main>"
            f"<i>{version}</i>"
        ).encode()
        etag, date = (
            f'"{crc32(body):x}"',
            formatdate(time() // 10**7 * 10**7 + crc32(body) % 10**6, usegmt=True),
        )
        if self.kind in ("one ETag", "fixed ETags"):
            etag = '"1"' if self.kind == "one ETag" else f'"{number}"'
        sent: dict[str, str] = {}
        if kind not in ("none", "date"):
            sent["ETag"] = etag
        if kind in ("date", "both"):
            sent["Last-Modified"] = date
        if kind in ("session", "vary"):
            sent["Set-Cookie"] = f"session={number % 7}"
        if kind == "vary":
            sent["Vary"] = "Cookie"
        asked = headers.get("If-None-Match"), headers.get("If-Modified-Since")
        is_known = asked[0] == sent.get("ETag", "") if asked[0] else asked[1] == sent.get("Last-Modified", "")
        if is_known or (self.kind == "always 304" and asked != (None, None)):
            return Reply(304, b"", sent)
        if kind == "gzip":
            return Reply(200, gzip.compress(body), {**sent, "Content-Encoding": "gzip"})
        return Reply(200, body, sent)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection of a `Host`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Host

    def do_GET(self) -> None:
        """Send a response."""
        reply = self.server.reply(self.path, dict(self.headers))
        self.server.bytes += len(reply.body)
        self.send_response(reply.status)
        for name, value in {"Content-Type": "text/html", **reply.headers}.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Stories(Spider):
    """Follows all links of the start page, and notes which texts it gets."""

    name = "stories"

    def __init__(self, site: str, meta: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.site, self.meta, self.texts = site, meta or {}, set[str]()

    async def start(self) -> AsyncIterator[Request]:
        """Request the start page."""
        yield Request(self.site)

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the links."""
        assert isinstance(response, TextResponse)
        version = response.css("i::text").get()
        if version is not None:
            self.texts.add(f"{response.url} {version}")
            yield {"url": response.url}
        yield from (response.follow(link, meta=dict(self.meta)) for link in response.css("nav a"))


def crawled(site: str, settings: dict[str, Any], ahead: float, meta: dict[str, Any]) -> dict[str, Any]:
    """Crawl in this process, whose clock is *ahead* seconds ahead; return texts, processor time and stats."""
    Clock(ahead).install()
    process = CrawlerProcess({**SETTINGS, **settings})
    crawler = process.create_crawler(Stories)
    times: list[float] = []
    for signal in (signals.engine_started, signals.engine_stopped):
        crawler.signals.connect(lambda: times.append(process_time()), signal=signal, weak=False)
    process.crawl(crawler, site=site, meta=meta)
    process.start(install_signal_handlers=False)
    assert crawler.stats is not None
    assert isinstance(crawler.spider, Stories)
    stats = crawler.stats.get_stats()
    return {
        "texts": crawler.spider.texts,
        "seconds": times[1] - times[0],
        "stats": {name: count for name, count in stats.items() if isinstance(count, int)},
    }


def in_folder(folder: str, rule: str) -> dict[str, Any]:
    """Return the settings of a crawl with store and cache in *folder*."""
    return {
        **RECRAWL,
        "SIMHASH_STORE": folder,
        "SIMHASH_RECRAWL": {"": rule},
        "HTTPCACHE_DIR": f"{folder}/cache",
    }


def weeks(kind: str, pages: int) -> dict[str, Any]:
    """Crawl one host in three weeks, and return what was lost and fetched."""
    found: dict[str, Any] = {"lost": 0, "changed": 0}
    with tempfile.TemporaryDirectory() as folder, in_thread(Host(kind, pages)) as host:
        former: set[str] = set()
        for week in range(WEEKS):
            host.week, host.bytes = week, 0
            plain = alone(crawled, host.url, {}, week * WEEK, {})
            in_full, host.bytes = host.bytes, 0
            again = alone(crawled, host.url, in_folder(folder, "always"), week * WEEK, {})
            found["lost"] += len(plain["texts"] - again["texts"])
            if week:
                hits = again["stats"].get("httpcache/hit", 0)
                found["changed"] += len(plain["texts"] - former)
                found[f"bytes in week {week + 1}"] = round(host.bytes / in_full, 3)
                found[f"requests in week {week + 1}"] = again["stats"]["downloader/request_count"] - hits
            former = plain["texts"]
    return found


def large(number: int) -> bytes:
    """Return a page of 30 kB, a third of it prose, as pages are."""
    prose = "".join(text(10 * number + part) for part in range(4))
    rows = "".join(
        f'<li class="menu-item menu-item-{row}"><a class="link link--nav" href="/topic/{row}?ref=menu">'
        f"Topic {row}</a></li>"
        for row in range(190)
    )
    head = f"<!doctype html><title>Story {number}</title><ul>{rows}</ul>"
    return f"{head}<main><h1>Story {number}</h1>{prose}<i>0</i></main>".encode()


class LargePages(Host):
    """A host whose pages have 30 kB and an ETag."""

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        """Return the response to a request."""
        if path == "/":
            return super().reply(path, headers)
        body = large(int(path[1:]))
        etag = f'"{crc32(body):x}"'
        return (
            Reply(304, b"", {"ETag": etag})
            if headers.get("If-None-Match") == etag
            else Reply(200, body, {"ETag": etag})
        )


#: How the pages of a site that has not changed are requested: rule, and meta of the requests.
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "in full": ("always", {"dont_cache": True}),
    "304": ("always", {}),
    "not due": ("30d", {}),
}


def costs(pages: int, rounds: int) -> dict[str, Any]:
    """Return what pages cost that are crawled again."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder, in_thread(LargePages("large", pages)) as host:
        alone(crawled, host.url, in_folder(folder, "always"), 0, {})
        (file,) = Path(folder, "cache").glob("*.sqlite")
        size = file.stat().st_size
        # Most of the first answers of a host are checked.
        alone(crawled, host.url, in_folder(folder, "always"), 60, {})
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds} ...")
            for way, (rule, meta) in sorted(WAYS.items(), reverse=bool(number % 2)):
                found = alone(crawled, host.url, in_folder(folder, rule), 120 + number, meta)
                times[way].append(1_000 * found["seconds"] / pages)
    return {
        "milliseconds a page": {way: spread_of(each) for way, each in times.items()},
        "beside a page in full": {
            way: spread_of([one / full for one, full in zip(times[way], times["in full"], strict=True)])
            for way in ("304", "not due")
        },
        "bytes of a page": {"sent": len(large(1)), "in the cache": size / pages},
    }


def measure(pages: int, rounds: int) -> dict[str, Any]:
    """Return all figures."""
    hosts = {}
    for kind in HOSTS:
        progress(f"{kind} ...")
        hosts[kind] = weeks(kind, pages)
    figures: dict[str, Any] = {"three weeks": hosts}
    if rounds:
        figures |= costs(pages, rounds)
    faults = [f"{kind}: {found['lost']} texts lost" for kind, found in hosts.items() if found["lost"]]
    return {**figures, "faults": faults}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pages", type=int, default=300, help="pages of a host (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each kind (default: %(default)s)")
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, measure(options.pages, options.rounds))


if __name__ == "__main__":
    sys.exit(main())
