"""Crawl a site again that has not changed and answers 304, and compare with bare Scrapy that receives the same.

    python benchmarks/again.py --pages 1000 --rounds 5
    python benchmarks/again.py --json

A server on the loopback interface, in a process of its own, has pages of made-up prose, each with ``--links`` links
and an ETag. The first crawl reads all of them with ``SIMHASH_CONDITIONAL``, and keeps its store. The second crawls
are of two kinds, in turn, each in a new process:

*bare*
    Scrapy without the plugin. Its spider has the ETags and the links of each page in a dictionary, sends the one, and
    yields the others when a 304 comes: no plugin could do with less.
*again*
    Scrapy with the plugin and the store of the first crawl.

Printed are, as the median and the two ends of the rounds, the processor time of a page from the start of the engine
to its end, and the quotient of the two kinds; what each crawl asked for and got; and the bytes that a page more takes
in the store: validators with the counts of visits, and the links.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

from benchmarks.lib.processes import alone
from benchmarks.lib.prose_site import etag_of, served, text
from benchmarks.lib.report import arguments_of, progress, show, spread_of

#: What both kinds of crawls have in common.
SETTINGS = {"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0}


def links_of(number: int, pages: int, links: int) -> list[int]:
    """Return the pages that page *number* links to: two below it in a tree, and others all over the site."""
    below = [child for child in (2 * number + 1, 2 * number + 2) if child < pages]
    return below + [(number * 31 + 977 * step) % pages for step in range(1, links - len(below) + 1)]


def page(number: int, pages: int, links: int) -> bytes:
    """Return page *number*."""
    anchors = "".join(f'<a href="/{other}">Story {other}</a> ' for other in links_of(number, pages, links))
    return f"<!doctype html><title>Story {number}</title><nav>{anchors}</nav><main>{text(number)}</main>".encode()


class Stories(Spider):
    """Follows all links."""

    name = "stories"
    site: str

    async def start(self) -> AsyncIterator[Any]:
        """Begin with the first page."""
        yield Request(f"{self.site}0")

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield an item and all links."""
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


class BareStories(Stories):
    """Knows all ETags and all links, and asks for no more than whether they hold."""

    etags: Mapping[int, str]
    others: Mapping[int, Sequence[int]]
    handle_httpstatus_list: ClassVar = [304]

    def request(self, number: int) -> Request:
        """Return the request for a page."""
        return Request(f"{self.site}{number}", headers={"If-None-Match": self.etags[number]})

    async def start(self) -> AsyncIterator[Any]:
        """Begin with the first page."""
        yield self.request(0)

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the links that are known."""
        if response.status == 304:
            for number in self.others[int(response.url.rpartition("/")[2])]:
                yield self.request(number)


def crawled(kind: str, site: str, pages: int, links: int, folder: str) -> dict[str, Any]:
    """Return what a crawl took, and what came of it. *kind* is ``first``, ``bare`` or ``again``."""
    settings: dict[str, Any] = dict(SETTINGS)
    arguments: dict[str, Any] = {"site": site}
    if kind == "bare":
        arguments["others"] = {number: links_of(number, pages, links) for number in range(pages)}
        arguments["etags"] = {number: etag_of(page(number, pages, links)) for number in range(pages)}
    else:
        settings |= {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_STORE": folder,
            "SIMHASH_CONDITIONAL": True,
        }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(BareStories if kind == "bare" else Stories)
    times: list[float] = []
    for signal in (signals.engine_started, signals.engine_stopped):
        crawler.signals.connect(lambda: times.append(process_time()), signal=signal, weak=False)
    process.crawl(crawler, **arguments)
    process.start(install_signal_handlers=False)  # who ends this process may end it by a signal
    stats = crawler.stats
    assert stats is not None
    return {
        "seconds": times[1] - times[0],
        "requests": stats.get_value("downloader/request_count", 0),
        "unchanged": stats.get_value("downloader/response_status_count/304", 0),
        "in full": stats.get_value("downloader/response_status_count/200", 0),
        "checks": stats.get_value("simhash/conditional/checks", 0),
        "items": stats.get_value("item_scraped_count", 0),
    }


def bytes_of_store(folder: Path) -> dict[str, float]:
    """Return the bytes of a page that the store has more: validators with counts, and links."""
    (file,) = folder.glob("*.sqlite")
    with tempfile.TemporaryDirectory() as other, closing(sqlite3.connect(file)) as store:
        sizes = []
        (notes,) = (sql for (sql,) in store.execute("SELECT sql FROM sqlite_master WHERE name = 'notes'"))
        rows = store.execute("SELECT * FROM notes WHERE kind = 'page'").fetchall()
        for has_links in (False, True):
            with closing(sqlite3.connect(Path(other, str(has_links)))) as copy:
                copy.execute(notes)
                # A note begins with the length of the answer; the links follow it.
                kept = [
                    (*row[:3], row[3] if has_links else row[3][: 2 + int.from_bytes(row[3][:2], "big")])
                    for row in rows
                ]
                copy.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", kept)
                copy.commit()
                copy.execute("VACUUM")
            sizes.append(Path(other, str(has_links)).stat().st_size)
        pages = len(rows)
    # A file begins with a page of its own.
    return {"validators": (sizes[0] - 4096) / pages, "links": (sizes[1] - sizes[0]) / pages}


def measure(pages: int, links: int, rounds: int) -> dict[str, Any]:
    """Return all figures."""
    found: dict[str, list[dict[str, Any]]] = {"bare": [], "again": []}
    with served(page, pages, links) as site, tempfile.TemporaryDirectory() as folder:
        progress("first crawl ...")
        first = alone(crawled, "first", site, pages, links, folder)
        store = bytes_of_store(Path(folder))
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds} ...")
            for kind in sorted(found, reverse=bool(number % 2)):
                found[kind].append(alone(crawled, kind, site, pages, links, folder))
    times = {kind: [1_000 * crawl["seconds"] / pages for crawl in crawls] for kind, crawls in found.items()}
    quotients = [again / bare for bare, again in zip(times["bare"], times["again"], strict=True)]
    return {
        "milliseconds a page": {kind: spread_of(each) for kind, each in times.items()},
        "quotient": {"again / bare": spread_of(quotients)},
        "what came of it": {"first": first, **{kind: crawls[-1] for kind, crawls in found.items()}},
        "bytes a page more in the store": store,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = arguments_of(__doc__)
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the site (default: %(default)s)")
    parser.add_argument("--links", type=int, default=12, help="links of a page (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each kind (default: %(default)s)")
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, measure(options.pages, options.links, options.rounds))


if __name__ == "__main__":
    sys.exit(main())
