"""Run two crawlers with one store on a Redis Cluster: ``python cluster.py``.

Starts the site and a Redis Cluster of six servers, runs one spider in two processes at the same time, and checks
whether any text of a host counted as new twice. Both crawlers fetch all pages, so each page is visited twice. The
feed and the log of each crawl are in ``out/``.
"""

from __future__ import annotations

import sys
from typing import Any

from crawler.running import Crawl, JudgedSpider, conclude, run_together
from local_redis import redis_cluster
from magazine.server import serving

CRAWLERS = ("north", "south")


def settings_for(cluster_url: str) -> dict[str, Any]:
    """Return the settings of crawlers whose store is on a Redis Cluster."""
    return {
        # The default prefix contains the spider's name, so the crawlers would not share a store. The default, 1,024
        # shards, is for many sites.
        "SIMHASH_STORE": f"{cluster_url}?prefix=harbour-lamp&shards=12",
        "SIMHASH_SCOPE": "domain",  # the shard of a page depends on its scope
        # Whether a host is known when a page arrives would depend on timing.
        "SIMHASH_SITE_LEARNING": False,
    }


def main() -> int:
    """Run all crawlers; return 0 if no text of a host counted as new twice and no result is wrong, else 1."""
    try:
        with redis_cluster() as url, serving() as server:
            settings = settings_for(url)
            crawls = [Crawl(name, JudgedSpider, f"{server.url}/", settings) for name in CRAWLERS]
            stats = run_together(*crawls)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return min(conclude(stats, has_shared_hosts=False), 1)


if __name__ == "__main__":
    sys.exit(main())
