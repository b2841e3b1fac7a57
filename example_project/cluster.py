"""Two crawlers, one index on a Redis Cluster, for real: ``python cluster.py``.

Starts the site and a Redis Cluster of six servers; runs one spider twice at once, each in a process of its own; and
looks whether a text was new twice on one host. Every crawler fetches all pages, so that each page is met twice. Files
go to ``out/``: a feed and a log of each.
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
        # The default prefix has the spider's name in it: an index for each. 1,024 shards, the default, are for many
        # sites.
        "SIMHASH_STORE": f"{cluster_url}?prefix=harbour-lamp&shards=12",
        "SIMHASH_SCOPE": "domain",  # by which pages are in one shard or another
        # What is known of a host when a page comes depends on chance here.
        "SIMHASH_SITE_LEARNING": False,
    }


def main() -> int:
    """Run all crawlers; 0 when no text of a host was new twice, and no result is wrong."""
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
