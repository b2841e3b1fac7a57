"""Tell whether crawlers that share a store in Redis agree, and what they lose while the server is away.

    python benchmarks/crawlers.py                   # four crawlers, 2,000 pages each, ten runs
    python benchmarks/crawlers.py --outage 10       # one crawler, the server killed in mid-crawl for 10 s

Each crawler is a process of its own that crawls all pages of one site on the loopback interface, in an order of its
own; every fourth page says the same. Over all crawlers exactly one page of each such cluster must be new, the
first; every other page of it a near-duplicate at its first visit, a revisit later, and none a duplicate of itself.
With ``--outage`` every page must reach the spider, none may cause an error, and the last ones must be judged again.
The program ends with status 1 if anything is otherwise.

Needs redis-server or valkey-server on the PATH.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy.crawler import CrawlerProcess

from benchmarks.lib.prose_site import prose_site
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.witness import Witness
from tests.store.server import RedisServer

#: Pages of a cluster.
COPIES = 4
#: Pages after which the server is killed, and pages that must be judged when it is back.
BEFORE, AFTER = 200, 200
#: Seconds within which a crawler that lost its server looks for it again.
PATIENCE = 6


def crawl(site: str, redis: str, pages: int, seed: int, folder: str, delay: float) -> None:
    """Crawl in this process; leave verdicts and stats in *folder*."""
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_simhash.Addon": 500},
            "SIMHASH_REDIS_URL": redis,
            "SIMHASH_REDIS_PREFIX": "benchmark",
            "DOWNLOAD_DELAY": delay,
            "LOG_FILE": f"{folder}/{seed}.log",
            "LOG_LEVEL": "INFO",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    crawler = process.create_crawler(Witness)
    process.crawl(crawler, site=site, pages=pages, seed=seed, file=f"{folder}/{seed}.jsonl")
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    Path(folder, f"{seed}.json").write_text(json.dumps(stats, default=str), "utf-8")


def crawl_together(
    server: RedisServer, site: str, folder: Path, crawlers: int, pages: int, delay: float, outage: float
) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Run *crawlers* at once; return the verdicts and the stats of each."""
    spawn = multiprocessing.get_context("spawn")
    processes = [
        spawn.Process(target=crawl, args=(site, server.url, pages, seed, str(folder), delay))
        for seed in range(crawlers)
    ]
    for process in processes:
        process.start()
    if outage:
        _await_lines(folder / "0.jsonl", BEFORE)
        server.kill()
        time.sleep(outage)
        server.start()
    for process in processes:
        process.join()
    return [
        (
            [json.loads(line) for line in (folder / f"{seed}.jsonl").read_text("utf-8").splitlines()],
            json.loads((folder / f"{seed}.json").read_text("utf-8")),
        )
        for seed in range(crawlers)
    ]


def _await_lines(file: Path, least: int) -> None:
    while not file.exists() or len(file.read_text("utf-8").splitlines()) < least:
        time.sleep(0.05)


def faults_of(done: list[tuple[list[dict[str, Any]], dict[str, Any]]], pages: int) -> dict[str, int]:
    """Return what is not as it should be, by kind; zeros when all crawlers agree."""
    clusters = pages // COPIES
    verdicts = [verdict for told, _ in done for verdict in told]
    news = Counter(_number(one["url"]) % clusters for one in verdicts if one["status"] == "new")
    first = Counter(one["url"] for one in verdicts if one["status"] in ("new", "near_duplicate"))
    return {
        "clusters without a new page": clusters - len(news),
        "clusters with several new pages": sum(count > 1 for count in news.values()),
        "pages with several first visits": sum(count > 1 for count in first.values()),
        "pages without a first visit": pages - len(first),
        "duplicates of another cluster": sum(
            _number(one["duplicate_of"]) % clusters != _number(one["url"]) % clusters
            for one in verdicts
            if one["duplicate_of"]
        ),
        "duplicates of themselves": sum(one["duplicate_of"] == one["url"] for one in verdicts),
        **_losses(done, pages),
    }


def _losses(done: list[tuple[list[dict[str, Any]], dict[str, Any]]], pages: int) -> dict[str, int]:
    return {
        "pages lost": sum(pages - len(told) for told, _ in done),
        "errors": sum(
            stats.get(name, 0)
            for _, stats in done
            for name in ("log_count/ERROR", "spider_exceptions/count", "simhash/errors")
        ),
    }


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def run(options: argparse.Namespace, number: int) -> dict[str, Any]:
    """Crawl once; return what came of it."""
    with tempfile.TemporaryDirectory() as name, prose_site(options.pages // COPIES) as site:
        folder = Path(name)
        with RedisServer(folder, appendfsync="always") as server:
            started = time.perf_counter()
            done = crawl_together(
                server, site, folder, options.crawlers, options.pages, options.delay, options.outage
            )
            seconds = time.perf_counter() - started
    statuses = Counter(one["status"] for told, _ in done for one in told)
    result = {
        "run": number,
        "seconds": seconds,
        "statuses": dict(statuses),
        "store_errors": sum(stats.get("simhash/store_errors", 0) for _, stats in done),
        "warnings": sum(stats.get("log_count/WARNING", 0) for _, stats in done),
    }
    if not options.outage:
        return {**result, "faults": faults_of(done, options.pages)}
    unknown = [one["time"] for told, _ in done for one in told if one["status"] == "unknown"]
    judged_after = sum(one["time"] > max(unknown, default=0) for told, _ in done for one in told)
    faults = _losses(done, options.pages)
    faults["unknown for too long"] = (
        int(max(unknown) - min(unknown) > options.outage + PATIENCE) if unknown else 1
    )
    faults["not judged again"] = int(judged_after < AFTER)
    return {
        **result,
        "judged_after": judged_after,
        "unknown_for": max(unknown) - min(unknown),
        "faults": faults,
    }


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    statuses = ("new", "near_duplicate", "revisit", "unknown")
    rows = [
        [
            str(one["run"]),
            *(f"{one['statuses'].get(status, 0):,}" for status in statuses),
            str(one["warnings"]),
            f"{one['seconds']:.1f}",
            str(sum(one["faults"].values())),
        ]
        for one in result["runs"]
    ]
    faults = [
        f"  {name}: {count}" for one in result["runs"] for name, count in one["faults"].items() if count
    ]
    return "\n".join(
        [
            opening(result),
            f"{result['crawlers']} crawlers, {result['pages']:,} pages each, {COPIES} of a cluster",
            "",
            table(["run", *statuses, "warnings", "seconds", "faults"], rows),
            *faults,
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, crawl, print a table or JSON; 1 if anything is not as it should be."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--crawlers", type=int, help="crawlers at once (default: 4, with --outage 1)")
    parser.add_argument("--pages", type=int, default=2_000, help="pages of the site (default: 2000)")
    parser.add_argument(
        "--runs", type=int, help="runs, each on an empty store (default: 10, with --outage 1)"
    )
    parser.add_argument(
        "--outage", type=float, default=0, help="seconds for which the server is away (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    options.crawlers = options.crawlers or (1 if options.outage else 4)
    # So slow that the crawl outlasts the outage.
    options.delay = 2 * (options.outage + PATIENCE) / options.pages if options.outage else 0
    runs = []
    for number in range(options.runs or (1 if options.outage else 10)):
        progress(f"run {number + 1} ...")
        runs.append(run(options, number + 1))
    progress("")
    result = {
        **environment(__file__, given),
        "crawlers": options.crawlers,
        "pages": options.pages,
        "outage": options.outage,
        "runs": runs,
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return int(any(sum(one["faults"].values()) for one in runs))


if __name__ == "__main__":
    sys.exit(main())
