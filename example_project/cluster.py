"""Two crawlers, one index on a Redis Cluster, for real: ``python cluster.py``.

Starts the site and a Redis Cluster of six servers; runs one spider twice at once, each in a process of its own; and
looks whether of the pages that are alike, in each scope, exactly one was new, whichever crawler met it. Every
crawler fetches all pages, so that each page is met twice. Files go to ``out/``: a feed and a log of each.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any
from urllib.parse import urlsplit

from crawler.running import Crawl, JudgedSpider, items_of, run_together
from local_redis import redis_cluster
from magazine.server import serving
from magazine.truth import Truth

CRAWLERS = ("north", "south")


def settings_for(cluster_url: str) -> dict[str, Any]:
    """Return the settings of crawlers whose store is on a Redis Cluster."""
    return {
        # The default prefix has the spider's name in it: an index for each. 1,024 shards, the default, are for many
        # sites.
        "SIMHASH_STORE": f"{cluster_url}?prefix=harbour-lamp&shards=12",
        "SIMHASH_SCOPE": "domain",  # by which pages are in one shard or another
        # What is known of a host when a page comes depends on chance here.
        "SIMHASH_SITE_LEARNING": False,
    }


def new_pages(items: list[dict[str, Any]], truth: Truth) -> list[int]:
    """Return how many pages were new of each cluster: of pages with one text, or that were judged to be alike."""
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
            settings = settings_for(url)
            crawls = [Crawl(name, JudgedSpider, f"{server.url}/", settings) for name in CRAWLERS]
            stats = run_together(*crawls)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    new = new_pages([item for name in CRAWLERS for item in items_of(name)], Truth())
    missed = 0
    for name, counts in stats.items():
        errors = sum(n for stat, n in counts.items() if stat.startswith("simhash/errors/"))
        found = [
            f"{counts.get(f'simhash/{stat}', 0)} {stat}" for stat in ("new", "near_duplicates", "revisits")
        ]
        print(f"{name:6} {counts['response_received_count']} pages: {', '.join(found)}, {errors} errors")
        missed += errors
    right = new.count(1)
    print(f"one new page per cluster and scope: {right} of {len(new)}")
    return 0 if new and right == len(new) and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
