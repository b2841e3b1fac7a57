"""Two spiders, one queue, one index, for real: ``python shared.py [--json]``.

Starts the site and a Redis server, or takes that of the environment's ``REDIS_URL``; runs the spiders of
``crawler/spiders/shared.py`` at the same time, each in a process of its own; and puts together what they concluded.
Files go to ``out/``: a feed and a log of each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from contextlib import nullcontext
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from typing import Any

from crawler.running import feed_of, items_of, log_of, run, shown
from local_redis import redis_server
from magazine.server import SiteServer, serving
from magazine.truth import Truth
from redis import Redis, RedisError
from scrapy.utils.project import get_project_settings

SPIDERS = ("harbour", "estuary")
#: All keys that `crawler.shared_settings` names.
KEYS = "harbour-lamp:*"
#: Seconds that a process waits for the other to be ready.
PATIENCE = 60
Stats = dict[str, Any]


def crawl(spider: str, start: str, ready: Barrier, results: SimpleQueue[tuple[str, Stats]]) -> None:
    """Run one spider in this process, from when both are ready until the queue is empty."""
    ready.wait(PATIENCE)
    results.put((spider, run(spider, start, get_project_settings())))


def crawl_together(server: SiteServer) -> dict[str, Stats]:
    """Run both spiders against *server*; return Scrapy's stats of each. RuntimeError if one of them fails."""
    spawn = get_context("spawn")
    ready, results = spawn.Barrier(len(SPIDERS)), spawn.SimpleQueue()
    starts = zip(SPIDERS, (server.url, server.partner_url), strict=True)
    crawls = [
        spawn.Process(target=crawl, args=(spider, f"{url}/", ready, results), name=spider)
        for spider, url in starts
    ]
    for process in crawls:
        process.start()
    for process in crawls:
        process.join()
    for process in crawls:
        if process.exitcode:
            raise RuntimeError(f"the crawl of {process.name} failed: see {log_of(process.name)}")
    return dict(results.get() for _ in crawls)


def forget(redis_url: str) -> None:
    """Remove what an earlier run left in the server, and nothing else."""
    with Redis.from_url(redis_url) as client:
        for key in client.scan_iter(KEYS):
            client.delete(key)


def summary(stats: dict[str, Stats], truth: Truth) -> dict[str, Any]:
    """Return what the report says, as plain values."""
    # A page that was fetched twice is a revisit the second time, whoever fetches it.
    pages = {
        truth.key(item["url"]): item | {"spider": spider}
        for spider in SPIDERS
        for item in items_of(spider)
        if item["status"] != "revisit"
    }
    repeats = {
        key: truth.key(page["near_duplicate"]["duplicate_of"])
        for key, page in pages.items()
        if page["status"] == "near_duplicate"
    }
    across = {key for key, original in repeats.items() if pages[key]["spider"] != pages[original]["spider"]}
    new = [key for key, page in pages.items() if page["status"] == "new"]
    texts = Counter(truth.pages[key].text for key in new if truth.pages[key].names_its_text)
    return {
        "spiders": {
            spider: _counts(stats[spider]) | {"across": sum(pages[key]["spider"] == spider for key in across)}
            for spider in SPIDERS
        },
        "new": {key: pages[key]["spider"] for key in new},
        "near_duplicates": {
            key: {
                "repeats": original,
                "distance": pages[key]["near_duplicate"]["distance"],
                "spider": pages[key]["spider"],
            }
            for key, original in repeats.items()
        },
        "new_twice": sorted(text for text, times in texts.items() if times > 1),
        "wrong": [
            key for key, original in repeats.items() if truth.relation(key, original).expected == "different"
        ],
        "seconds": round(max(each["elapsed_time_seconds"] for each in stats.values()), 2),
        "feeds": [shown(feed_of(spider)) for spider in SPIDERS],
        "logs": [shown(log_of(spider)) for spider in SPIDERS],
    }


def _counts(stats: Stats) -> dict[str, int]:
    """Return what one spider did, in numbers."""
    return {
        "pages": stats.get("response_received_count", 0),
        "new": stats.get("simhash/new", 0),
        "near_duplicates": stats.get("simhash/near_duplicates", 0),
        "revisits": stats.get("simhash/revisits", 0),
        "skipped": sum(n for name, n in stats.items() if name.startswith("simhash/skipped/")),
        "errors": sum(stats.get(f"simhash/errors/{where}", 0) for where in ("compare", "store")),
    }


def report(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    lines = ["Near-duplicates, below the page that was seen first, and which spider saw it:", ""]
    # A near-duplicate with other facts begins a cluster of its own, so it may head one, too.
    seen_by = result["new"] | {url: mark["spider"] for url, mark in result["near_duplicates"].items()}
    clusters = defaultdict(list)
    for url, mark in result["near_duplicates"].items():
        clusters[mark["repeats"]].append((mark["distance"], url, mark["spider"]))
    for original, copies in sorted(clusters.items()):
        lines.append(f"  {seen_by[original]}          {original}")
        lines += [f"  {spider}  {distance} bits  {url}" for distance, url, spider in sorted(copies)]
    spiders = result["spiders"]
    pages = sum(counts["pages"] for counts in spiders.values())
    lines += ["", f"{pages} pages in {result['seconds']} s, {' and '.join(SPIDERS)} together"]
    lines.append(" " * 31 + "".join(f"{name:>9}" for name in SPIDERS) + f"{'both':>9}")
    for name, words in _ROWS.items():
        numbers = [spiders[spider][name] for spider in SPIDERS]
        lines.append(f"  {words:29}" + "".join(f"{n:9}" for n in [*numbers, sum(numbers)]))
    lines += [
        "",
        f"{len(result['new_twice'])} texts were new to both spiders; {len(result['wrong'])} near-duplicates are wrong"
        " by truth.json",
        "",
        f"The items, with their verdicts: {' '.join(result['feeds'])}",
        f"What Scrapy logged:             {' '.join(result['logs'])}",
    ]
    return "\n".join(lines)


_ROWS = {
    "pages": "pages",
    "new": "new",
    "near_duplicates": "near-duplicates",
    "across": "  of what the other saw first",
    "revisits": "revisits",
    "skipped": "skipped",
    "errors": "errors",
}


def main() -> int:
    """Run both spiders; 0 when each text was new once and no page was called a near-duplicate wrongly."""
    parser = argparse.ArgumentParser(
        description="Crawl the example site with two spiders that share an index."
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args()
    given = os.environ.get("REDIS_URL")
    try:
        with nullcontext(given) if given else redis_server() as redis_url, serving() as server:
            forget(redis_url)
            # As one would type it before `scrapy crawl`. The processes inherit it.
            os.environ |= {"SCRAPY_PROJECT": "shared", "REDIS_URL": redis_url}
            stats = crawl_together(server)
    except (FileNotFoundError, RedisError) as error:
        print(error, file=sys.stderr)
        return 1
    result = summary(stats, Truth.load())
    print(json.dumps(result, indent=2, ensure_ascii=False) if arguments.json else report(result))
    errors = sum(counts["errors"] for counts in result["spiders"].values())
    return 1 if result["new_twice"] or result["wrong"] or errors else 0


if __name__ == "__main__":
    sys.exit(main())
