"""Four crawlers, one index on a Redis Cluster, for real: ``python cluster.py``.

Starts the site and a Redis Cluster of six servers; runs the spider ``harbour`` four times at once, each in a process
of its own; and looks whether of the pages that are alike, in each scope, exactly one was new, whoever met it. Every
crawler fetches all pages, so that each page is met four times. Files go to ``out/``: a feed and a log of each.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from typing import Any
from urllib.parse import urlsplit

from crawler.running import items_of, log_of, run
from local_redis import redis_cluster
from magazine.server import serving
from magazine.truth import Truth
from scrapy.utils.project import get_project_settings

SPIDER = "harbour"
CRAWLERS = ("north", "east", "south", "west")
#: Seconds that a process waits for the others to be ready.
PATIENCE = 120
Stats = dict[str, Any]


def crawl(called: str, start: str, ready: Barrier, results: SimpleQueue[tuple[str, Stats]]) -> None:
    """Run one crawler in this process, from when all are ready."""
    ready.wait(PATIENCE)
    results.put((called, run(SPIDER, start, get_project_settings(), called=called)))


def crawl_together(start: str) -> dict[str, Stats]:
    """Run all crawlers from *start* on; return Scrapy's stats of each. RuntimeError if one of them fails."""
    spawn = get_context("spawn")
    ready, results = spawn.Barrier(len(CRAWLERS)), spawn.SimpleQueue()
    crawls = [
        spawn.Process(target=crawl, args=(called, start, ready, results), name=called) for called in CRAWLERS
    ]
    for process in crawls:
        process.start()
    for process in crawls:
        process.join()
    for process in crawls:
        if process.exitcode:
            raise RuntimeError(f"the crawl of {process.name} failed: see {log_of(process.name)}")
    return dict(results.get() for _ in crawls)


def new_pages(items: list[dict[str, Any]], truth: Truth) -> list[int]:
    """Return how many pages were new of each cluster: of pages that have one text, or that were said to be alike."""
    heads: dict[str, str] = {}

    def head(page: str) -> str:
        while heads.setdefault(page, page) != page:
            page = heads[page]
        return page

    new: defaultdict[str, int] = defaultdict(int)
    for item in items:
        url = item["url"]
        known = truth.page(url)
        if item["status"] in ("near_duplicate", "revisit") and item["near_duplicate"]:
            heads[head(url)] = head(item["near_duplicate"]["duplicate_of"] or url)
        if known.names_its_text:
            heads[head(url)] = head(f"{urlsplit(url).hostname} {known.text}")
        new[url] += item["status"] == "new"
    clusters: defaultdict[str, int] = defaultdict(int)
    for url, times in new.items():
        if truth.page(url).status == "content":
            clusters[head(url)] += times
    return list(clusters.values())


def main() -> int:
    """Run all crawlers; 0 when of each cluster in each scope one page was new, and every page got a verdict."""
    try:
        with redis_cluster() as url, serving() as server:
            # As one would type it before `scrapy crawl`. The processes inherit it.
            os.environ |= {"SCRAPY_PROJECT": "cluster", "REDIS_URL": url}
            stats = crawl_together(f"{server.url}/")
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    new = new_pages([item for called in CRAWLERS for item in items_of(called)], Truth.load())
    missed = 0
    for called, counts in stats.items():
        errors = sum(counts.get(f"simhash/errors/{where}", 0) for where in ("compare", "store"))
        words = ("new", "near_duplicates", "revisits")
        told = "".join(f"{counts.get(f'simhash/{word}', 0)} {word.replace('_', '-')}, " for word in words)
        print(f"{called:6} {counts['response_received_count']} pages: {told}{errors} errors")
        missed += errors
    right = new.count(1)
    print(f"one new page per cluster and scope: {right} of {len(new)}")
    return 0 if new and right == len(new) and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
