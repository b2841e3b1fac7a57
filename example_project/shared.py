"""Run two spiders that share a queue and a store: ``python shared.py``.

Starts the site and a Redis server, runs two spiders in two processes at the same time, and combines their results.
The feed and the log of each crawl are in ``out/``. The exit status is 1 if a text counted as new twice, or if a page
was marked as a near-duplicate of a different page.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from crawler.running import Crawl, JudgedSpider, conclude, run_together
from local_redis import redis_server
from magazine.server import serving

#: Seconds to wait before start() returns; by then the queue has requests.
HEAD_START = 1.0


def settings_for(redis_url: str) -> dict[str, Any]:
    """Return the settings of spiders that share one queue and one store."""
    return {
        # The default prefix contains the spider's name, so the spiders would not share a store.
        "SIMHASH_STORE": f"{redis_url}?prefix=harbour-lamp:simhash",
        # Whether a host is known when a page arrives would depend on timing.
        "SIMHASH_SITE_LEARNING": False,
        # Settings of scrapy-redis. By default its keys contain the spider's name.
        "REDIS_URL": redis_url,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "SCHEDULER_QUEUE_KEY": "harbour-lamp:requests",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_DUPEFILTER_KEY": "harbour-lamp:dupefilter",
        "SCHEDULER_PERSIST": True,  # otherwise the spider that ends first clears the queue of the other
    }


class SharingSpider(JudgedSpider):
    """A spider that shares its queue. A request in the queue names its callback, so both spiders need its method."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield the first request, then wait, so that the spider does not end too early."""
        async for request in super().start():
            yield request
        # The other spider may have taken the request. A spider that finds the queue empty ends, but not before this
        # method returns.
        await asyncio.sleep(HEAD_START)


class HarbourSpider(SharingSpider):
    """Starts with the magazine."""

    name = "harbour"


class EstuarySpider(SharingSpider):
    """Starts with the partner."""

    name = "estuary"


def main() -> int:
    """Run both spiders; return 0 if each text counted as new exactly once and no result is wrong, else 1."""
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
