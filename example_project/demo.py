"""Crawl the example site for real and report which pages repeat which: ``python demo.py [--json]``.

Starts the site on a free loopback port, runs the spider of this project against it over HTTP, and compares what
was marked with truth.json. Files go to ``out/``: the feed and Scrapy's log.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from typing import Any

from crawler.running import Crawl, feed_of, items_of, log_of, run, shown
from magazine.server import serving
from magazine.truth import Truth

SPIDER = "pages"


def summary(items: list[dict[str, Any]], stats: dict[str, Any], truth: Truth) -> dict[str, Any]:
    """Return what the report says, as plain values."""
    marked = {item["url"]: item["near_duplicate"] for item in items if item["near_duplicate"]}
    marked = {url: mark for url, mark in marked.items() if mark["status"] == "near_duplicate"}
    wrong = [
        url
        for url, mark in marked.items()
        if truth.relation(url, mark["duplicate_of"]).expected == "different"
    ]
    seconds = stats["elapsed_time_seconds"]
    skipped = {name.rpartition("/")[2]: n for name, n in stats.items() if name.startswith("simhash/skipped/")}
    responses, robots = stats["response_received_count"], stats.get("robotstxt/response_count", 0)
    return {
        "pages": responses - robots,
        "requests": stats["downloader/request_count"],
        "robots": robots,
        "redirects": stats["downloader/request_count"] - responses,
        "items": len(items),
        "new": stats.get("simhash/new", 0),
        "near_duplicates": {
            truth.key(url): {"repeats": truth.key(mark["duplicate_of"]), "distance": mark["distance"]}
            for url, mark in marked.items()
        },
        "revisits": stats.get("simhash/revisits", 0),
        "skipped": skipped,
        "errors": stats.get("simhash/errors/compare", 0),
        "wrong": [truth.key(url) for url in wrong],
        "seconds": round(seconds, 2),
        "pages_per_second": round((responses - robots) / seconds),
        "feed": shown(feed_of(SPIDER)),
        "log": shown(log_of(SPIDER)),
    }


def report(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    lines = ["Near-duplicates, below the page that was seen first:", ""]
    clusters = defaultdict(list)
    for url, mark in result["near_duplicates"].items():
        clusters[mark["repeats"]].append((mark["distance"], url))
    for original, copies in sorted(clusters.items()):
        lines.append(f"  {original}")
        lines += [f"    {distance} bits  {url}" for distance, url in sorted(copies)]
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(result["skipped"].items()))
    lines += [
        "",
        f"{result['pages']} pages in {result['seconds']} s ({result['pages_per_second']} pages per second)",
        f"  {result['new']:4} new",
        f"  {len(result['near_duplicates']):4} near-duplicates of {len(clusters)} of them,"
        f" {len(result['wrong'])} of these wrong by truth.json",
        f"  {result['revisits']:4} revisits",
        f"  {sum(result['skipped'].values()):4} skipped: {skipped}",
        f"  {result['errors']:4} errors",
        f"({result['requests']} requests: the pages, {result['redirects']} redirects, {result['robots']} robots.txt;"
        f" {result['items']} of the pages are HTML and became items)",
        "",
        f"The items, with their marks: {result['feed']}",
        f"What Scrapy logged:          {result['log']}",
    ]
    return "\n".join(lines)


def crawl(url: str, shows_progress: bool = False) -> dict[str, Any]:
    """Crawl the site at *url*, one page after another, so that the same ones are first each time."""
    return run(Crawl(SPIDER, SPIDER, f"{url}/", {"CONCURRENT_REQUESTS": 1}), shows_progress)


def main() -> int:
    """Run the demo; 0 when no page was called a near-duplicate wrongly."""
    parser = argparse.ArgumentParser(description="Crawl the example site and report its near-duplicates.")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args()
    with serving() as server:
        stats = crawl(server.url, shows_progress=sys.stderr.isatty())
    result = summary(items_of(SPIDER), stats, Truth())
    print(json.dumps(result, indent=2, ensure_ascii=False) if arguments.json else report(result))
    return 1 if result["wrong"] or result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
