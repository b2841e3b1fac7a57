"""Two spiders, one queue, one index, for real: ``python shared.py``.

Starts the site and a Redis server, or takes that of the environment's ``REDIS_URL``; runs two spiders at the same
time, each in a process of its own; and puts together what they concluded. Files go to ``out/``: a feed and a log of
each. Exit status 1 if a text was new twice, or a page was called a near-duplicate of a different one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

from crawler.running import Crawl, JudgedSpider, items_of, log_of, run_together, shown
from local_redis import redis_server
from magazine.server import serving
from magazine.truth import Truth
from redis import Redis, RedisError

#: All keys that the settings name.
KEYS = "harbour-lamp:*"
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


SPIDERS = (HarbourSpider, EstuarySpider)


def report(truth: Truth) -> int:
    """Print what each of the spiders met; return how many pages got a wrong verdict."""
    # A page that was fetched twice is a revisit the second time, whichever spider fetches it.
    pages = {
        truth.key(item["url"]): (spider.name, item)
        for spider in SPIDERS
        for item in items_of(spider.name)
        if item["status"] != "revisit"
    }
    original = {
        key: truth.key(item["near_duplicate"]["duplicate_of"])
        for key, (_, item) in pages.items()
        if item["status"] == "near_duplicate"
    }
    new = [key for key, (_, item) in pages.items() if item["status"] == "new"]
    texts = Counter(truth.pages[key].text for key in new if truth.pages[key].names_its_text)
    twice = sum(times > 1 for times in texts.values())
    wrong = [key for key in original if truth.relation(key, original[key]).expected == "different"]
    across = {key for key in original if pages[key][0] != pages[original[key]][0]}
    rows = {"pages": pages, "new": new, "near-duplicates": original, "  of what the other saw first": across}
    print(" " * 29 + "".join(f"{spider.name:>9}" for spider in SPIDERS) + f"{'both':>9}")
    for words, keys in rows.items():
        counts = Counter(pages[key][0] for key in keys)
        print(f"{words:29}" + "".join(f"{counts[spider.name]:9}" for spider in SPIDERS) + f"{len(keys):9}")
    print(f"\n{twice} texts were new to both spiders; {len(wrong)} near-duplicates are wrong by truth.json")
    print(f"What Scrapy logged: {' '.join(shown(log_of(spider.name)) for spider in SPIDERS)}")
    return twice + len(wrong)


def main() -> int:
    """Run both spiders; 0 when each text was new once and no page was called a near-duplicate wrongly."""
    given = os.environ.get("REDIS_URL")
    try:
        with nullcontext(given) if given else redis_server() as redis_url, serving() as server:
            with Redis.from_url(redis_url) as client:
                for key in client.scan_iter(KEYS):  # what an earlier run left in the server
                    client.delete(key)
            settings = settings_for(redis_url)
            stats = run_together(
                Crawl("harbour", HarbourSpider, f"{server.url}/", settings),
                Crawl("estuary", EstuarySpider, f"{server.partner_url}/", settings),
            )
    except (FileNotFoundError, RedisError) as error:
        print(error, file=sys.stderr)
        return 1
    errors = sum(n for one in stats.values() for name, n in one.items() if name.startswith("simhash/errors/"))
    return 1 if report(Truth()) or errors else 0


if __name__ == "__main__":
    sys.exit(main())
