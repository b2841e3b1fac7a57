"""Runs the documented spiders and middlewares against a site with copies."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import Config
from tests.crawls.harness import scrapy
from tests.crawls.site import Routes, Site, article, links, serve
from tests.docs.reader import DOCS, blocks

ACTIONS = DOCS / "how-to" / "actions.rst"
DEPLOYMENT = DOCS / "how-to" / "deployment.rst"
ITEMS = DOCS / "how-to" / "items.rst"
SITES = DOCS / "how-to" / "sites.rst"
SHOWN = "https://example.com/"
IN_ORDER = ("CONCURRENT_REQUESTS=1", "SCHEDULER_MEMORY_QUEUE=scrapy.squeues.FifoMemoryQueue")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes: Routes = {
        "/": article(1, before=links("/first", "/copy")),
        "/first": article(0),
        "/copy": article(0, after="<p>Buy boats!</p>"),
    }
    with serve(routes) as site:
        yield site


def block(page: Path, caption: str) -> str:
    return next(found.text for found in blocks(page, "python") if found.caption == caption)


def run(folder: Path, spider: str, feed: str, *settings: str) -> str:
    """Run the spider with the source *spider*, and return its log; items are written to the file *feed*."""
    (folder / "spider.py").write_text(spider, "utf-8")
    options = [word for setting in (*IN_ORDER, *settings) for word in ("-s", setting)]
    done = scrapy("runspider", "spider.py", "-O", feed, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert " ERROR: " not in done.stderr
    return done.stderr


def from_start(spider: str, site: Site) -> str:
    """Return the source of *spider* with a start() that makes its requests, with the errback."""
    start = (
        "    async def start(self):\n"
        f"        for url in {site.urls('/first', '/copy')!r}:\n"
        "            yield scrapy.Request(url, callback=self.parse_page, errback=self.on_error)\n\n"
    )
    return spider.replace("    def parse(self, response):\n", start + "    def parse(self, response):\n")


def items(folder: Path) -> list[dict[str, Any]]:
    return [dict(item) for item in json.loads((folder / "items.json").read_text("utf-8"))]


def test_the_documented_errback_receives_dropped_pages(tmp_path: Path, site: Site) -> None:
    log = run(tmp_path, block(ACTIONS, "errback.py").replace(SHOWN, site.url()), "items.json")
    first, copy = site.urls("/first", "/copy")
    assert items(tmp_path) == [{"url": first}, {"url": copy, "duplicate_of": first, "distance": 0}]
    assert "dropped as near-duplicates: 1 page" in log


def test_the_errback_for_start_requests_needs_the_documented_settings(tmp_path: Path, site: Site) -> None:
    spider = from_start(block(ACTIONS, "errback.py"), site)
    first, copy = site.urls("/first", "/copy")
    log = run(tmp_path, spider, "items.json")
    # For a protected start page, drop_page becomes drop_items.
    assert items(tmp_path) == [{"url": first}]
    assert "Start pages are protected (SIMHASH_PROTECT): " in log
    settings: dict[str, Any] = {}
    exec(block(ACTIONS, "settings.py"), settings)
    shown = Config.from_settings(settings)
    assert f"set SIMHASH_PROTECT = {list(shown.protect)}" in log
    protect = json.dumps(shown.protect)
    log = run(tmp_path, spider, "items.json", f"SIMHASH_ACTION={shown.action}", f"SIMHASH_PROTECT={protect}")
    assert items(tmp_path) == [{"url": first}, {"url": copy, "duplicate_of": first, "distance": 0}]
    assert "Start pages are protected" not in log


def test_the_spider_for_csv_has_the_documented_columns(tmp_path: Path, site: Site) -> None:
    spider = block(ITEMS, "csv_columns.py").replace(SHOWN, site.url())
    run(tmp_path, spider, "items.csv", 'ADDONS={"scrapy_simhash.Addon": 500}')
    with (tmp_path / "items.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    first, copy = site.urls("/first", "/copy")
    assert rows == [
        ["url", "duplicate_of", "similarity"],
        [site.url(), "", ""],
        [first, "", ""],
        [copy, first, "1.0"],
    ]


def test_an_excluded_element_is_neither_compared_nor_shown(tmp_path: Path, site: Site) -> None:
    (tmp_path / "middlewares.py").write_text(block(DEPLOYMENT, "middlewares.py"), "utf-8")
    other = article(3).partition("</h1>")[2].partition("</main>")[0]
    site.routes["/ticker"] = article(0).replace("</main>", f'<div class="ticker">{other}</div></main>')
    spider = (
        "import scrapy\n\n\nclass Pages(scrapy.Spider):\n    name = 'pages'\n"
        f"    start_urls = {site.urls('/first', '/ticker')!r}\n\n    def parse(self, response):\n"
        "        result = response.meta['simhash_result']\n"
        "        yield {'status': result['status'], 'ticker': len(response.css('.ticker'))}\n"
    )
    addons = 'ADDONS={"scrapy_simhash.Addon": 500}'
    run(tmp_path, spider, "items.json", addons)
    assert items(tmp_path) == [{"status": "new", "ticker": 0}, {"status": "new", "ticker": 1}]
    left_out = 'DOWNLOADER_MIDDLEWARES={"middlewares.LeaveOut": 45}'
    run(tmp_path, spider, "items.json", addons, left_out)
    assert items(tmp_path) == [{"status": "new", "ticker": 0}, {"status": "near_duplicate", "ticker": 0}]


def test_the_documented_spider_reads_urls_from_a_file(tmp_path: Path, site: Site) -> None:
    (tmp_path / "urls.txt").write_text("\n".join(site.urls("/first", "/copy")), "utf-8")
    for _ in range(2):
        run(tmp_path, block(SITES, "ten.py"), "items.json")
        report = [json.loads(line) for line in (tmp_path / "ten.jsonl").read_text("utf-8").splitlines()]
        assert [page["status"] for page in report] == ["new", "near_duplicate"]
