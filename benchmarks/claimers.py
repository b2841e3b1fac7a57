"""Let several crawlers claim the same pages at once, and see that of identical ones exactly one is new.

    python benchmarks/claimers.py                 # four crawlers, 2,000 pages, ten runs

Each crawler is a process with a store of its own in one ``redis-server`` on the loopback interface, and claims every
page, in an order of its own. The pages are of clusters of four. Half of the clusters are identical pages, in the
others they differ in a bit or two. Half have the same addresses for all crawlers, which meet the same page four
times, the others are found under other addresses by each. All begin at one moment, 16 claims under way in each.

A run is right when of each cluster, over all crawlers, one claim says that it is new, and all others name that page,
or are later visits of it. It is no measurement, but it says how long a run took.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from time import perf_counter
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import environment, opening, progress, table
from scrapy_simhash import Fingerprint
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from scrapy_simhash.store import Claim, Header, Posting
from scrapy_simhash.store.redis import RedisStore
from tests.store.server import RedisServer

SEED = 67
CRAWLERS, PAGES, RUNS = 4, 2_000, 10
#: Pages of a cluster, one after the other in ``pages_of``.
CLUSTER = 4
CONCURRENCY = 16


def pages_of(crawler: int, pages: int) -> list[Posting]:
    """Return the pages as *crawler* gets them: with addresses of its own, in an order of its own."""
    randoms, own = random.Random(SEED), random.Random(f"{SEED} {crawler}")
    found = []
    for cluster in range(pages // CLUSTER):
        value, sketch = randoms.getrandbits(64), randoms.randbytes(SKETCH_BYTES)
        for number in range(CLUSTER):
            # In half of the clusters all are identical, in the others they differ in a few bits.
            other = value ^ (1 << number if cluster % 2 else 0)
            url = f"https://{crawler if cluster // 2 % 2 else 'all'}.example/{cluster}/{number}"
            found.append(Posting(url.encode(), url, "", Fingerprint(other, sketch=sketch)))
    own.shuffle(found)
    return found


async def crawl(crawler: int, url: str, prefix: str, pages: int, start: Barrier) -> list[tuple[str, Claim]]:
    """Claim all pages; return the claims with their URLs."""
    store = RedisStore(url, prefix, Header())
    await store.connect()
    waiting = iter(pages_of(crawler, pages))
    claims = []

    async def work() -> None:
        for page in waiting:
            claims.append((page.url, await store.claim(page)))

    start.wait()
    await asyncio.gather(*[work() for _ in range(CONCURRENCY)])
    await store.close()
    return claims


def serve(crawler: int, url: str, prefixes: Sequence[str], pages: int, start: Barrier, found: Any) -> None:
    """Crawl once for each of *prefixes*, and send what came out."""
    for prefix in prefixes:
        found.put(asyncio.run(crawl(crawler, url, prefix, pages, start)))


def is_new(claim: Claim) -> bool:
    """Return whether a page was met for the first time, and repeats none."""
    return claim.former is None and claim.original is None


def faults(claims: Iterable[tuple[str, Claim]]) -> Iterator[str]:
    """Yield what is wrong in the *claims* of one run, in words."""
    clusters: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
    for url, claim in claims:
        clusters[url.split("/")[3]].append((url, claim))
    for cluster, members in clusters.items():
        new = [url for url, claim in members if is_new(claim)]
        if len(new) != 1:
            yield f"cluster {cluster}: {len(new)} pages are new: {', '.join(new)}"
        elif {claim.original or url for url, claim in members} != {new[0]}:
            yield f"cluster {cluster}: not all name {new[0]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, crawl, print a table or JSON; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--crawlers", type=int, default=CRAWLERS, metavar="N")
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help="of each crawler (%(default)s)")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)

    result: dict[str, Any] = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    result["runs"] = []
    spawn = multiprocessing.get_context("spawn")
    start, found = spawn.Barrier(options.crawlers + 1), spawn.Queue()
    prefixes = [f"run-{number}" for number in range(options.runs)]
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder), appendonly="no") as server:
        crawlers = [
            spawn.Process(
                target=serve, args=(n, server.url, prefixes, options.pages, start, found), daemon=True
            )
            for n in range(options.crawlers)
        ]
        for crawler in crawlers:
            crawler.start()
        for prefix in prefixes:
            progress(f"{prefix} ...")
            start.wait()
            begin = perf_counter()
            claims: list[tuple[str, Claim]] = []
            for _ in crawlers:
                claims += found.get()
            wrong = list(faults(claims))
            new = sum(is_new(claim) for _, claim in claims)
            seconds = perf_counter() - begin
            result["runs"].append({"claims": len(claims), "new": new, "seconds": seconds, "wrong": wrong})
        for crawler in crawlers:
            crawler.join()
    progress("")
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 1 if any(run["wrong"] for run in result["runs"]) else 0


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    rows = [
        [
            str(number),
            f"{run['claims']:,}",
            f"{run['new']:,}",
            f"{run['seconds']:.2f}",
            str(len(run["wrong"])),
        ]
        for number, run in enumerate(result["runs"], 1)
    ]
    lines = [line for run in result["runs"] for line in run["wrong"]]
    head = ["run", "claims", "new", "seconds", "wrong"]
    return "\n".join([opening(result), "", table(head, rows), *lines])


if __name__ == "__main__":
    sys.exit(main())
