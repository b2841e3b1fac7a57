"""Run a spider of this project in this process, or several in separate processes. Items and logs are in ``out/``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from magazine.truth import Truth
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.utils.project import get_project_settings

from crawler.spiders.pages import PagesSpider

HERE = Path(__file__).parents[1]
OUT = HERE / "out"
#: Max seconds that a process waits for the others to be ready.
PATIENCE = 120
Stats = dict[str, Any]


class JudgedSpider(PagesSpider):
    """Yields each page with its verdict."""

    def item(self, response: Response) -> dict[str, Any]:
        """Return the item of a page, with the status of its verdict."""
        return super().item(response) | {"status": response.meta["simhash_result"]["status"]}


class Crawl(NamedTuple):
    """A crawl: the name of its files, a spider, the start URL, and settings that override those of the project."""

    name: str
    spider: str | type[Spider]
    start: str
    settings: Mapping[str, Any] = {}


def run(crawl: Crawl) -> Stats:
    """Run a crawl, write feed and log, and return Scrapy's stats. Can run only once per process."""
    OUT.mkdir(exist_ok=True)
    log_of(crawl.name).unlink(missing_ok=True)
    settings = get_project_settings()
    settings.setdict(
        {
            **crawl.settings,
            "FEEDS": {feed_of(crawl.name): {"format": "jsonlines", "overwrite": True, "encoding": "utf8"}},
            "LOG_FILE": str(log_of(crawl.name)),
            "LOG_LEVEL": "INFO",
        }
    )
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(crawl.spider)
    process.crawl(crawler, start=crawl.start)
    process.start()
    if crawler.stats is None:
        raise RuntimeError(f"the crawl did not start: see {log_of(crawl.name)}")
    return crawler.stats.get_stats()


def run_together(*crawls: Crawl) -> dict[str, Stats]:
    """Run *crawls* at once in separate processes; return Scrapy's stats by name. Raises RuntimeError if one fails."""
    spawn = get_context("spawn")
    ready, results = spawn.Barrier(len(crawls)), spawn.SimpleQueue()
    processes = [spawn.Process(target=_run, args=(crawl, ready, results)) for crawl in crawls]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    for process, crawl in zip(processes, crawls, strict=True):
        if process.exitcode:
            raise RuntimeError(f"the crawl {crawl.name} failed: see {log_of(crawl.name)}")
    return dict(results.get() for _ in crawls)


def conclude(crawls: Mapping[str, Stats], has_shared_hosts: bool) -> int:
    """Print the results of each crawl; return the number of texts counted as new twice, plus that of wrong results.

    *has_shared_hosts* is whether pages of different hosts are compared.
    """
    truth, new, wrong = Truth(), Counter[tuple[str | None, str]](), 0
    for name, stats in crawls.items():
        kinds = ("new", "near_duplicates", "revisits")
        found = ", ".join(f"{stats.get(f'simhash/{kind}', 0)} {kind}" for kind in kinds)
        print(f"{name:8} {stats['response_received_count']} pages: {found}")
        wrong += sum(n for stat, n in stats.items() if stat.startswith("simhash/errors/"))
        for item in items_of(name):
            page, url = truth.page(item["url"]), item["url"]
            if item["status"] == "new" and page.names_its_text:
                new["" if has_shared_hosts else urlsplit(url).hostname, page.text] += 1
            if item["status"] == "near_duplicate":
                original = item["near_duplicate"]["duplicate_of"]
                wrong += truth.relation(url, original).expected == "different"
    twice = sum(times > 1 for times in new.values())
    print(f"{twice} of {len(new)} texts were new to both; {wrong} results are wrong by truth.json")
    return twice + wrong + (not new)


def _run(crawl: Crawl, ready: Barrier, results: SimpleQueue[tuple[str, Stats]]) -> None:
    ready.wait(PATIENCE)
    results.put((crawl.name, run(crawl)))


def feed_of(name: str) -> Path:
    """Return the path of the feed of a crawl."""
    return OUT / f"{name}.jsonl"


def log_of(name: str) -> Path:
    """Return the path of the log of a crawl."""
    return OUT / f"{name}.log"


def items_of(name: str) -> list[dict[str, Any]]:
    """Return the items of the last run of a crawl."""
    return [json.loads(line) for line in feed_of(name).read_text("utf-8").splitlines()]


def shown(path: Path) -> str:
    """Return *path* relative to the parent folder of the project."""
    return str(path.relative_to(HERE.parent))
