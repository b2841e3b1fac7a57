"""Two spiders, one queue, one index, for real: ``python shared.py``.

Starts the site and a Redis server; runs two spiders at the same time, each in a process of its own; and puts together
what they concluded. Files go to ``out/``: a feed and a log of each. Exit status 1 if a text was new twice, or a page
was called a near-duplicate of a different one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from crawler.running import Crawl, JudgedSpider, conclude, run_together
from local_redis import redis_server
from magazine.server import serving

#: Seconds after which the queue of a crawl that has begun is not empty.
HEAD_START = 1.0


def settings_for(redis_url: str) -> dict[str, Any]:
    """Return the settings of spiders that share one queue and one index. The first two are ours."""
    return {
        # The default prefix has the spider's name in it: an index for each.
        "SIMHASH_STORE": f"{redis_url}?prefix=harbour-lamp:simhash",
        # What is known of a host when a page comes depends on chance here.
        "SIMHASH_SITE_LEARNING": False,
        # scrapy-redis. By default its keys have the name of the spider.
        "REDIS_URL": redis_url,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "SCHEDULER_QUEUE_KEY": "harbour-lamp:requests",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_DUPEFILTER_KEY": "harbour-lamp:dupefilter",
        "SCHEDULER_PERSIST": True,  # else the spider that ends first throws away what the other still needs
    }


class SharingSpider(JudgedSpider):
    """Takes what the other one found. A request in the queue says by name which method of its spider is called."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first request, and look at the queue once more before it is given up."""
        async for request in super().start():
            yield request
        # The other spider may have been quicker and taken it. One that finds the queue empty ends, but not before
        # this method does.
        await asyncio.sleep(HEAD_START)


class HarbourSpider(SharingSpider):
    """Begins with the magazine."""

    name = "harbour"


class EstuarySpider(SharingSpider):
    """Begins with the partner."""

    name = "estuary"


def main() -> int:
    """Run both spiders; 0 when each text was new once, and no result is wrong."""
    try:
        with redis_server() as redis_url, serving() as server:
            settings = settings_for(redis_url)
            stats = run_together(
                Crawl("harbour", HarbourSpider, f"{server.url}/", settings),
                Crawl("estuary", EstuarySpider, f"{server.partner_url}/", settings),
            )
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return min(conclude(stats, has_shared_hosts=True), 1)


if __name__ == "__main__":
    sys.exit(main())
