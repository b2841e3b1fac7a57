"""Crawl the example site, and report the near-duplicates: ``python demo.py``.

Starts the site on a free loopback port, runs the spider of this project over HTTP, and compares the marks with
truth.json. The feed and Scrapy's log are in ``out/``.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

from crawler.running import Crawl, feed_of, items_of, log_of, run, shown
from magazine.server import serving
from magazine.truth import Truth

SPIDER = "pages"


def report(items: list[dict[str, Any]], stats: dict[str, Any], truth: Truth) -> int:
    """Print the results; return the number of pages that were marked wrongly or could not be compared."""
    marks = {item["url"]: item["near_duplicate"] for item in items if item["near_duplicate"]}
    marks = {url: mark for url, mark in marks.items() if mark["status"] == "near_duplicate"}
    clusters = defaultdict(list)
    wrong = 0
    for url, mark in marks.items():
        clusters[truth.key(mark["duplicate_of"])].append((mark["distance"], truth.key(url)))
        wrong += truth.relation(url, mark["duplicate_of"]).expected == "different"
    print("Near-duplicates, below the page that was seen first:\n")
    for original, copies in sorted(clusters.items()):
        print(f"  {original}")
        for distance, url in sorted(copies):
            print(f"    {distance} {'bit ' if distance == 1 else 'bits'}  {url}")
    responses, requests = stats["response_received_count"], stats["downloader/request_count"]
    robots, seconds = stats.get("robotstxt/response_count", 0), stats["elapsed_time_seconds"]
    errors = stats.get("simhash/errors/compare", 0)
    skipped = {name.rpartition("/")[2]: n for name, n in stats.items() if name.startswith("simhash/skipped/")}
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()))
    pages = responses - robots
    print(f"\n{pages} pages in {seconds:.2f} s ({pages / seconds:.0f} pages per second)")
    print(f"  {stats.get('simhash/new', 0):4} new")
    print(
        f"  {len(marks):4} near-duplicates of {len(clusters)} of them, {wrong} of these wrong by truth.json"
    )
    print(f"  {stats.get('simhash/revisits', 0):4} revisits")
    print(f"  {sum(skipped.values()):4} skipped: {reasons}")
    print(f"  {errors:4} errors")
    print(
        f"({requests} requests: the pages, {requests - responses} redirects, {robots} robots.txt;"
        f" {len(items)} of the pages are HTML and became items)\n"
    )
    print(f"The items, with their marks: {shown(feed_of(SPIDER))}")
    print(f"What Scrapy logged:          {shown(log_of(SPIDER))}")
    return int(wrong + errors)


def main() -> int:
    """Run the demo with one request at a time, so that runs have equal results; return 0 if nothing is wrong."""
    with serving() as server:
        crawl = Crawl(SPIDER, SPIDER, f"{server.url}/", {"CONCURRENT_REQUESTS": 1})
        stats = run(crawl)
    return min(report(items_of(SPIDER), stats, Truth()), 1)


if __name__ == "__main__":
    sys.exit(main())
