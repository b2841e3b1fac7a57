"""Tell whether crawlers that share a store in Redis agree, and what they lose while the server is away.

    python benchmarks/crawlers.py                   # four crawlers, 2,000 pages each, ten runs
    python benchmarks/crawlers.py --outage 10       # one crawler, the server killed in mid-crawl for 10 s
    python benchmarks/crawlers.py --faults 1        # four crawlers, and 20 seconds of faults by the plan of a seed

Each crawler is a process of its own that crawls all pages of one site on the loopback interface, in an order of its
own; every fourth page says the same. Over all crawlers exactly one page of each such cluster must be new, the
first; every other page of it a near-duplicate at its first visit, a revisit later, and none a duplicate of itself.
With ``--outage`` every page must reach the spider, none may cause an error, and the last ones must be judged again.
With ``--faults`` as well: to server and connections happens what happens in ``chaos.py``; pages may be unknown
then, and in all else the crawlers must agree.
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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapy.crawler import CrawlerProcess

from benchmarks.lib.chaos_plan import REDIS, plan
from benchmarks.lib.prose_site import prose_site
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.trouble import happen, means_of
from benchmarks.lib.witness import Witness
from tests.store.proxy import Proxy
from tests.store.server import RedisServer

#: Pages of a cluster.
COPIES = 4
#: Pages after which the server is killed, and pages that must be judged when it is back.
BEFORE, AFTER = 200, 200
#: Seconds of faults, and what pages may lack that are unknown then.
STORM = 20.0
UNKNOWN_ONES = ("clusters without a new page", "pages without a first visit")
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
    redis: str, site: str, folder: Path, options: argparse.Namespace, trouble: Callable[[], None] | None
) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Run crawlers at once, and *trouble* in the midst of it; return the verdicts and the stats of each."""
    crawlers, pages = options.crawlers, options.pages
    spawn = multiprocessing.get_context("spawn")
    processes = [
        spawn.Process(target=crawl, args=(site, redis, pages, seed, str(folder), options.delay))
        for seed in range(crawlers)
    ]
    for process in processes:
        process.start()
    if trouble is not None:
        _await_lines(folder / "0.jsonl", BEFORE)
        trouble()
    for process in processes:
        process.join()
    return [
        (
            [json.loads(line) for line in (folder / f"{seed}.jsonl").read_text("utf-8").splitlines()],
            json.loads((folder / f"{seed}.json").read_text("utf-8")),
        )
        for seed in range(crawlers)
    ]


def outage(server: RedisServer, seconds: float) -> None:
    """Kill *server*, and start it again after *seconds*."""
    server.kill()
    time.sleep(seconds)
    server.start()


def storm(server: RedisServer, proxy: Proxy, seed: int) -> None:
    """Let things go wrong with *server* and the connections over *proxy*, by the plan of *seed*."""
    means = means_of(server, proxy)
    faults = [fault for fault in plan(REDIS, seed, STORM, 1) if fault.kind in means]
    happen(
        faults,
        lambda fault: means[fault.kind](),
        lambda begun: progress(f"fault {begun} of {len(faults)} ..."),
    )


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
    with (
        tempfile.TemporaryDirectory() as name,
        prose_site(options.pages // COPIES) as site,
        RedisServer(Path(name), appendfsync="always") as server,
        Proxy(server.port) as proxy,
    ):
        redis, trouble = server.url, None
        if options.outage:
            trouble = partial(outage, server, options.outage)
        elif options.faults is not None:
            redis = f"redis://127.0.0.1:{proxy.port}/0"
            trouble = partial(storm, server, proxy, options.faults)
        started = time.perf_counter()
        done = crawl_together(redis, site, Path(name), options, trouble)
        seconds = time.perf_counter() - started
    statuses = Counter(one["status"] for told, _ in done for one in told)
    result = {
        "run": number,
        "seconds": seconds,
        "statuses": dict(statuses),
        "store_errors": sum(stats.get("simhash/store_errors", 0) for _, stats in done),
        "warnings": sum(stats.get("log_count/WARNING", 0) for _, stats in done),
    }
    if trouble is None:
        return {**result, "faults": faults_of(done, options.pages)}
    unknown = [one["time"] for told, _ in done for one in told if one["status"] == "unknown"]
    judged_after = sum(one["time"] > max(unknown, default=0) for told, _ in done for one in told)
    unknown_for = max(unknown) - min(unknown) if unknown else 0.0
    if options.outage:
        faults = _losses(done, options.pages)
        faults["unknown for too long"] = int(unknown_for > options.outage + PATIENCE)
    else:
        faults = {
            name: count for name, count in faults_of(done, options.pages).items() if name not in UNKNOWN_ONES
        }
    faults["nothing went wrong"] = int(not unknown)
    faults["not judged again"] = int(judged_after < AFTER)
    return {**result, "judged_after": judged_after, "unknown_for": unknown_for, "faults": faults}


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
        "--runs", type=int, help="runs, each on an empty store (default: 10, with --outage or --faults 1)"
    )
    parser.add_argument(
        "--outage", type=float, default=0, help="seconds for which the server is away (default: 0)"
    )
    parser.add_argument(
        "--faults", type=int, metavar="SEED", help="let things go wrong by the plan of this seed"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    options.crawlers = options.crawlers or (1 if options.outage else 4)
    trouble = options.outage or (0 if options.faults is None else STORM)
    # So slow that the crawl outlasts it.
    options.delay = 2 * (trouble + PATIENCE) / options.pages if trouble else 0
    runs = []
    for number in range(options.runs or (1 if trouble else 10)):
        progress(f"run {number + 1} ...")
        runs.append(run(options, number + 1))
    progress("")
    result = {
        **environment(__file__, given),
        "crawlers": options.crawlers,
        "pages": options.pages,
        "outage": options.outage,
        "seed of faults": options.faults,
        "runs": runs,
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return int(any(sum(one["faults"].values()) for one in runs))


if __name__ == "__main__":
    sys.exit(main())
