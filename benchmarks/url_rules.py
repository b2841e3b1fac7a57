"""Crawl made-up sites with superfluous URLs, and count what URL rules save and what they lose.

    python benchmarks/url_rules.py                       # a table; --json for programs
    python benchmarks/url_rules.py --only shop events
    python benchmarks/url_rules.py --loss                # how many new pages a stopped shape loses
    python benchmarks/url_rules.py --fuzz 1200           # any sites under pairs of settings, for so many seconds

Each site is served on the loopback interface and crawled by Scrapy, once with ``SIMHASH_URL_RULES = "off"`` and once
with ``"skip"``. A crawl ends after ``--most`` requests, since a new session id in each link has no end. The sites are
made from descriptions in ``benchmarks/lib/made_sites.py``, which know no rules.

The table has the requests without rules and with them; the superfluous ones, whose page came before under another
URL; the share of these that was saved, in all and on kinds of pages with a thousand superfluous URLs; and the pages
that were never fetched.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, cast

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.made_sites import Description, Page, Site, descriptions, random_description
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.serving import in_thread
from scrapy_simhash.observers.url_rules.kept import KeptRequests, Reason
from scrapy_simhash.observers.url_rules.traps import Traps
from scrapy_simhash.observers.url_rules.urls import Rule

LARGE = 1_000
#: Settings whose pairs are tried by ``--fuzz``.
SETTINGS: dict[str, Sequence[Any]] = {
    "SIMHASH_ACTION": ("mark", "drop_items", "drop_page", "drop_links"),
    "SIMHASH_EXACT_ACTION": (None, "drop_page"),
    "SIMHASH_SITE_LEARNING": (True, False),
    "SIMHASH_STORE": ("memory", "sqlite"),
    "SIMHASH_SCOPE": ("crawl", "host"),
    "CONCURRENT_REQUESTS": (1, 16),
    "SCHEDULER_MEMORY_QUEUE": ("scrapy.squeues.LifoMemoryQueue", "scrapy.squeues.FifoMemoryQueue"),
    "DEPTH_PRIORITY": (0, 1),
    "COOKIES_ENABLED": (True, False),
    "REFERER_ENABLED": (True, False),
    "JOBDIR": (False, True),
}


class Server(ThreadingHTTPServer):
    """Serves a made-up site, and notes what was asked for."""

    request_queue_size = 64
    daemon_threads = True

    def __init__(self, site: Site) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site = site
        self.pages: list[Page] = []

    @property
    def url(self) -> str:
        """The URL of its home page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        found = self.server.site.answer(self.path)
        body = b"<p>No such page." if found is None else found[1].encode()
        if found is not None:
            self.server.pages.append(found[0])
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def crawl(url: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Crawl the site at *url* in a process of its own, and return the stats."""
    with tempfile.TemporaryDirectory() as folder:
        given = {**settings}
        if given.pop("SIMHASH_STORE", "memory") == "sqlite":
            given["SIMHASH_STORE"] = f"{folder}/store"
        if given.pop("JOBDIR", False):
            given["JOBDIR"] = f"{folder}/job"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                filter(None, (str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH")))
            ),
        }
        done = subprocess.run(
            [sys.executable, __file__, "--crawl", url, json.dumps(given)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout))


def _crawl(url: str, settings: Mapping[str, Any]) -> None:
    import scrapy
    from scrapy.crawler import CrawlerProcess

    class Wanderer(scrapy.Spider):
        name = "wanderer"
        start_urls = (url,)  # type: ignore[assignment]

        def parse(self, response: Any) -> Iterator[Any]:
            yield {"url": response.url}
            yield from response.follow_all(css="a[href]", callback=self.parse)

    logging.getLogger("scrapy.core.scraper").setLevel(logging.ERROR)
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            **settings,
        }
    )
    crawler = process.create_crawler(Wanderer)
    process.crawl(crawler)
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    print(json.dumps(stats, default=str))


def fetched(site: Site, settings: Mapping[str, Any]) -> tuple[list[Page], dict[str, Any]]:
    """Crawl *site*, and return the pages that were fetched, and the stats."""
    with in_thread(Server(site)) as server:
        stats = crawl(server.url, settings)
        return server.pages, stats


def superfluous(pages: Sequence[Page]) -> Counter[str]:
    """Return by kind how many of the *pages* had come before."""
    times = Counter((page.kind, page.key) for page in pages)
    found: Counter[str] = Counter()
    for (kind, _), number in times.items():
        found[kind] += number - 1
    return found


def measure(about: Description, most: int, settings: Mapping[str, Any] = {}) -> dict[str, Any]:
    """Return the figures of one site."""
    limit = {"CLOSESPIDER_PAGECOUNT": most}
    plain, _ = fetched(Site(about), {**settings, **limit})
    ruled, stats = fetched(Site(about), {**settings, **limit, "SIMHASH_URL_RULES": "skip"})
    without, left = superfluous(plain), superfluous(ruled)
    large = [kind for kind, number in without.items() if number >= LARGE]
    lost = Site(about).keys() - {page.key for page in ruled}
    return {
        "site": about.name,
        "requests without": len(plain),
        "requests": len(ruled),
        "superfluous without": sum(without.values()),
        "superfluous": sum(left.values()),
        "saved": _share(sum(left.values()), sum(without.values())),
        "saved on large kinds": _share(
            sum(left[kind] for kind in large), sum(without[kind] for kind in large)
        ),
        "lost": len(lost),
        "errors": stats.get("simhash/errors/action", 0),
        "ended": stats.get("finish_reason"),
    }


def _share(left: int, without: int) -> float | None:
    return round(1 - left / without, 3) if without else None


def loss(share: float, pages: int, seeds: int = 200) -> dict[str, Any]:
    """Return how many new pages are lost of a shape of so many *pages* of which a *share* is new, in any order."""
    new = lost = 0
    for seed in range(seeds):
        random = Random(seed)
        is_new = [random.random() < share for _ in range(pages)]
        new += sum(is_new)
        lost += sum(is_new) - len(found_of(is_new))
    return {
        "share of new pages": share,
        "pages": pages,
        "new pages": round(new / seeds, 1),
        "lost": round(lost / seeds, 1),
    }


def found_of(is_new: Sequence[bool]) -> set[int]:
    """Return which new pages a crawl fetches of a shape that may be stopped, with the checks at its end."""
    traps, kind, found, sent = Traps(), ("/list/{number}", "parse"), set[int](), 0
    queue, kept, now = list(reversed(range(len(is_new)))), KeptRequests(), 0.0
    reason = Reason("a.example", Rule("trap", kind[0]))
    while True:
        is_check = not queue
        requests: list[Any] | None = kept.check(reason, now, 1.0) if is_check else [queue.pop()]
        if requests is None:
            return found
        now += not requests
        for number in requests:
            if not is_check and traps.skips(kind, requests=sent):
                kept.add(reason, number, number)
                continue
            sent += 1
            if not is_new[number]:
                traps.add_barren(kind, str(number), None)
                continue
            found.add(number)
            if traps.add_new(kind, str(number), None):
                queue += cast("list[Any]", kept.take(reason))


def fuzz(seconds: float, seed: int) -> dict[str, Any]:
    """Crawl any sites under pairs of settings for so many *seconds*, and return what was lost."""
    end, crawls, failures = time.monotonic() + seconds, 0, []
    random, pairs = Random(seed), list(combinations(SETTINGS, 2))
    random.shuffle(pairs)
    while time.monotonic() < end:
        names = pairs[crawls % len(pairs)]
        settings = {name: random.choice(SETTINGS[name]) for name in names}
        about = random_description(random.getrandbits(32))
        limit = {"CLOSESPIDER_PAGECOUNT": 2_000, "SIMHASH_URL_RULES": "skip"}
        pages, stats = fetched(Site(about), {**settings, **limit})
        crawls += 1
        lost = sorted(Site(about).keys() - {page.key for page in pages})
        errors = [name for name in stats if name.startswith(("simhash/errors", "spider_exceptions"))]
        if (lost and stats["finish_reason"] == "finished" and not _drops(settings)) or errors:
            failures.append({"site": about, "settings": settings, "lost": lost[:5], "errors": errors})
            progress(f"{about}, {settings}: lost {lost[:5]}, {errors}")
    return {"crawls": crawls, "failures": [str(failure) for failure in failures]}


def _drops(settings: Mapping[str, Any]) -> bool:
    """Tell whether links of copies are dropped, by which pages may never be reached."""
    return any(
        settings.get(name) in ("drop_page", "drop_links")
        for name in ("SIMHASH_ACTION", "SIMHASH_EXACT_ACTION")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["--crawl"]:
        _crawl(given[1], json.loads(given[2]))
        return 0
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="*", help="sites whose names contain one of these")
    parser.add_argument("--most", type=int, default=4_000, help="requests of a crawl (%(default)s)")
    parser.add_argument("--loss", action="store_true", help="how many new pages a stopped shape loses")
    parser.add_argument("--fuzz", type=float, metavar="SECONDS", help="any sites under pairs of settings")
    parser.add_argument("--seed", type=int, default=1, help="of --fuzz (%(default)s)")
    options = parser.parse_args(given)
    if options.fuzz:
        return show(__file__, options, arguments, {"fuzz": fuzz(options.fuzz, options.seed)})
    if options.loss:
        shares = (0.002, 0.005, 0.01, 0.02, 0.05)
        return show(__file__, options, arguments, {"loss": [loss(share, 1_000) for share in shares]})
    sites = []
    for about in descriptions():
        if not options.only or any(word in about.name for word in options.only):
            progress(f"{about.name} ...")
            sites.append(measure(about, options.most))
    return show(__file__, options, arguments, {"sites": sites})


if __name__ == "__main__":
    sys.exit(main())
