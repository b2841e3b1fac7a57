"""Keep a search index up to date with a site, piece by piece: ``python search.py``.

Serves three editions of a small site, and crawls each of them into an index of SQLite's FTS5 that has a row for every
paragraph. From the second crawl on only the paragraphs that are new are added, and those that are gone are removed;
the rows of all others are not touched. Whoever keeps embeddings computes one for each added row, and no other.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import Deferred

from scrapy_simhash import main_text
from scrapy_simhash.signals import page_changed

Edition = dict[str, list[str]]


class Pages(scrapy.Spider):
    """Yields the paragraphs of each page by their hashes."""

    name = "pages"
    url: str

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Ask for the start page; its URL is an argument of the spider."""
        yield scrapy.Request(self.url)

    def parse(self, response: Any) -> Iterator[Any]:
        """Yield an item, which is dropped if the page is unchanged, and follow the links."""
        paragraphs = main_text(response).splitlines()
        yield {
            "url": response.url,
            "paragraphs": {blake2b(text.encode(), digest_size=8).hexdigest(): text for text in paragraphs},
        }
        yield from response.follow_all(css="a")


class SearchIndex:
    """Item pipeline: a row for each paragraph of each page."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SearchIndex:
        """Open the index, and listen to what is told of pages."""
        pipeline = cls(crawler.settings["SEARCH_INDEX"])
        crawler.signals.connect(pipeline.page_changed, page_changed)
        # Pages that are gone are told after a pipeline's close_spider().
        crawler.signals.connect(pipeline.close, signals.engine_stopped)
        return pipeline

    def __init__(self, path: str) -> None:
        self.index = sqlite3.connect(path, isolation_level=None)
        self.index.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS pieces USING fts5(text, url UNINDEXED, hash UNINDEXED)"
        )

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Remove paragraphs that the page does not have any more, and add new ones."""
        url, paragraphs = item["url"], item["paragraphs"]
        rows = self.index.execute("SELECT rowid, hash FROM pieces WHERE url = ?", (url,)).fetchall()
        for row, piece in rows:
            if piece not in paragraphs:
                self.index.execute("DELETE FROM pieces WHERE rowid = ?", (row,))
        known = {piece for _, piece in rows}
        for piece, text in paragraphs.items():
            if piece not in known:
                self.index.execute(
                    "INSERT INTO pieces (text, url, hash) VALUES (?, ?, ?)", (text, url, piece)
                )
        return item

    def page_changed(self, change: dict[str, Any]) -> None:
        """Remove a page that is gone, or that has the same text under another URL now."""
        if change["change"] in ("gone", "not_seen", "moved"):
            url = change["previous_url"] or change["url"]
            self.index.execute("DELETE FROM pieces WHERE url = ?", (url,))

    def close(self) -> None:
        """Let go of the index, when all has been told."""
        self.index.close()


SETTINGS = {
    "ADDONS": {"scrapy_simhash.Addon": 500},
    "SIMHASH_CHANGES": "changes.jsonl",
    "SIMHASH_REVISIT_ACTION": "drop_items",
    "ITEM_PIPELINES": {SearchIndex: 300},
}

FERRY = (
    "The last wooden ferry came out of the water on a grey morning, and half of the town was there to see it."
)
CAPTAIN = (
    "The captain still knows the three days on which she was late, and she tells of them to all who ask her."
)
SUMMER = "She will stay on the slip until the summer, when the town has to say what is to become of her."
MUSEUM = (
    "The town has said what is to become of her: she will be the first room of the new museum by the river."
)
BRIDGE = (
    "The new bridge is open to all who walk, and on the first day there were more dogs on it than people."
)
TOLL = "Nobody has to pay for it, which the council had promised and which hardly anybody had believed."
FOG = (
    "There was fog on eleven days of May, more than in any other May since the harbour has kept a book of it."
)
LAMP = "The lamp at the end of the pier has a new lens, and it can be seen from the islands on a clear night."

EDITIONS: tuple[Edition, ...] = (
    {"/ferry": [FERRY, CAPTAIN, SUMMER], "/bridge": [BRIDGE, TOLL], "/fog": [FOG, LAMP]},
    {"/ferry": [FERRY, CAPTAIN, MUSEUM], "/bridge": [BRIDGE, TOLL], "/fog": [FOG, LAMP]},
    {"/ferry": [FERRY, CAPTAIN, MUSEUM], "/river/bridge": [BRIDGE, TOLL], "/lamp": [LAMP, FERRY]},
)


@contextmanager
def serving(edition: Edition) -> Iterator[ThreadingHTTPServer]:
    """Serve whatever *edition* holds when it is asked for, from a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path in edition
            links = " ".join(f"<a href={path}>{path}</a>" for path in edition)
            text = "".join(
                f"<p>{line}</p>" for line in edition.get(self.path, ["All the news of the harbour."])
            )
            self.send_response(200 if is_page or self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<html lang=en><body><nav>{links}</nav><main>{text}</main>".encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def rows_of(folder: str) -> set[tuple[str, int, str]]:
    """Return path, number and text of each row of the index."""
    with closing(sqlite3.connect(f"{folder}/index.sqlite")) as index:
        rows = index.execute("SELECT url, rowid, text FROM pieces").fetchall()
    return {(urlsplit(url).path, row, text) for url, row, text in rows}


async def crawl_editions() -> None:
    """Crawl each edition, and print what has become of the index."""
    former: set[tuple[str, int, str]] = set()
    told = 0
    served: Edition = {}
    with tempfile.TemporaryDirectory() as folder, serving(served) as server:
        feed = Path(folder, "changes.jsonl")
        runner = CrawlerRunner(
            {
                **SETTINGS,
                "SIMHASH_STORE": folder,
                "SIMHASH_CHANGES": feed,
                "SEARCH_INDEX": Path(folder, "index.sqlite"),
            }
        )
        for number, edition in enumerate(EDITIONS, 1):
            served.clear()
            served.update(edition)
            await runner.crawl(Pages, url=f"http://127.0.0.1:{server.server_address[1]}/")
            rows = rows_of(folder)
            print(f"Crawl {number}: {len(rows)} pieces, {len(rows & former)} of them untouched")
            for sign, some in (("-", former - rows), ("+", rows - former)):
                for path, _, text in sorted(some):
                    print(f"  {sign} {path:<14} {text[:50]}")
            former = rows
            changes = [json.loads(line) for line in feed.read_text("ascii").splitlines()]
            for change in sorted(changes[told:], key=lambda line: (line["change"], line["url"])):
                was = f" (was {urlsplit(change['previous_url']).path})" if change["previous_url"] else ""
                print(f"  {change['change']:<12} {urlsplit(change['url']).path}{was}")
            told = len(changes)
            # The store knows whole seconds, and a page that was seen in this one is not missing in the next crawl.
            time.sleep(1)


def main() -> None:
    """Start the event loop, which has to be there before all that uses it."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0]).parse_args()
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react

    react(lambda reactor: Deferred.fromCoroutine(crawl_editions()))


if __name__ == "__main__":
    main()
