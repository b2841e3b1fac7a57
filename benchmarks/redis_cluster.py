"""Measure what a store on a Redis Cluster costs beside one on a single server: claims a second, and memory.

    python benchmarks/redis_cluster.py                   # table; --json for programs
    python benchmarks/redis_cluster.py --scopes 3000 --pages 10

A cluster of three masters and three replicas and a single ``redis-server``, all on the loopback interface, and one
process that claims the same pages from both, in turns, 16 claims under way at any time. The pages are all different.

*steady*: pages of the same scopes, ``--active`` of them, round after round. *new scopes*: so many scopes at a time,
each with ``--pages`` pages, then the next ones, until all ``--scopes`` had theirs; the store of the cluster opens a
scope when its first page comes. Of both the median round: claims a second, and the cluster's share of them.

Then the memory of a crawler that begins when the stores are full, each in a process of its own: with all contents, as
the store on one server has them, and with those of the active scopes, as the store of the cluster has them.

All seven servers share the machine's processors with the crawler. Not measured: a network, several machines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.memory import settled_bytes
from benchmarks.lib.report import environment, opening, progress, table
from scrapy_simhash import Config, Fingerprint
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from scrapy_simhash.store import Posting
from scrapy_simhash.store.redis import RedisStore, Servers, ShardedStore, servers_of
from tests.store.cluster import redis_cluster
from tests.store.server import RedisServer

SEED = 67
SCOPES, ACTIVE, PAGES, SHARDS, ROUNDS = 30_000, 200, 20, 1024, 40
#: Of each scope, in a round of those that are not new.
STEADY = 10
CONCURRENCY = 16
PREFIX = "benchmark"
HEADER = header_for(Config(scope="domain"))


def pages_of(scopes: range, pages: int, seed: str) -> list[Posting]:
    """Return so many different pages of each of *scopes*, in turns."""
    randoms = random.Random(f"{SEED} {seed} {scopes}")
    found = []
    for number in range(pages):
        for scope in scopes:
            url = f"https://www.example-{scope}.com/section-{number % 97}/an-article-of-some-length.html"
            fingerprint = Fingerprint(randoms.getrandbits(64), sketch=randoms.randbytes(SKETCH_BYTES))
            text_hash = randoms.getrandbits(64)
            name = f"example-{scope}.com"
            found.append(Posting(randoms.randbytes(20), url, name, fingerprint, text_hash=text_hash))
    return found


def steady_rounds(options: argparse.Namespace) -> Iterator[list[Posting]]:
    """Yield pages of the same scopes, which come before all others."""
    for number in range(options.rounds):
        yield pages_of(range(-options.active, 0), STEADY, f"steady {number}")


def rounds_of_new(options: argparse.Namespace, pages: int) -> Iterator[list[Posting]]:
    """Yield the pages of so many scopes after the other, until all had theirs."""
    for first in range(0, options.scopes, options.active):
        yield pages_of(range(first, min(first + options.active, options.scopes)), pages, "new")


async def claim_all(store: RedisStore | ShardedStore, postings: Sequence[Posting]) -> float:
    """Claim *postings*, so many under way at any time, and return how many it were in a second."""
    waiting = iter(postings)

    async def work() -> None:
        for posting in waiting:
            await store.claim(posting)

    begin = perf_counter()
    await asyncio.gather(*[work() for _ in range(CONCURRENCY)])
    return len(postings) / (perf_counter() - begin)


async def measure(server: str, cluster: str, options: argparse.Namespace) -> dict[str, Any]:
    """Claim all pages from both stores; return of each kind of rounds the claims a second and the cluster's share."""
    stores = store_at(server, options), store_at(cluster, options)
    kinds = {"steady": steady_rounds(options), "new scopes": rounds_of_new(options, options.pages)}
    result = {}
    for kind, rounds in kinds.items():
        speeds = []
        for number, pages in enumerate(rounds):
            progress(f"{kind}, round {number + 1} ...")
            # Whoever is second finds the processor's caches warm.
            order = (0, 1) if number % 2 else (1, 0)
            measured = {which: await claim_all(stores[which], pages) for which in order}
            speeds.append((measured[0], measured[1]))
        a_second = [median(each) for each in zip(*speeds, strict=True)]
        share = median(one / other for other, one in speeds)
        result[kind] = {"rounds": len(speeds), "a_second": a_second, "share": share}
    for store in stores:
        await store.close()
    return result


def store_at(url: str, options: argparse.Namespace, prefix: str = PREFIX) -> RedisStore | ShardedStore:
    """Return the store of one server, or of several."""
    servers = servers_of(url)
    if isinstance(servers, Servers):
        return ShardedStore(servers, prefix, HEADER, shards=options.shards)
    return RedisStore(servers, prefix, HEADER)


def weigh(url: str, options: argparse.Namespace, found: Any) -> None:
    """Send how many bytes a crawler takes more when it has met a full store, and the scopes that are active last."""
    *_, last = rounds_of_new(options, 1)

    async def meet() -> int:
        before = settled_bytes()
        store = store_at(url, options)
        for page in last:
            await store.look(page)
        taken = settled_bytes() - before
        await store.abandon()
        return taken

    async def warm_up() -> None:
        store = store_at(url, options, prefix="nothing")
        await store.look(last[0])
        await store.abandon()

    # What is imported and allocated once is none of the store's.
    asyncio.run(warm_up())
    found.put(asyncio.run(meet()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--scopes", type=int, default=SCOPES, metavar="N", help="(%(default)s)")
    parser.add_argument("--active", type=int, default=ACTIVE, metavar="N", help="at a time (%(default)s)")
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help="of a scope (%(default)s)")
    parser.add_argument("--shards", type=int, default=SHARDS, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help="of the steady kind (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    with tempfile.TemporaryDirectory() as folder:
        (one := Path(folder) / "one").mkdir()
        with RedisServer(one, appendonly="no") as server, redis_cluster(Path(folder) / "cluster") as cluster:
            result["claims"] = asyncio.run(measure(server.url, cluster.url, options))
            spawn = multiprocessing.get_context("spawn")
            result["memory"] = []
            for url in (server.url, cluster.url):
                progress("weighing a crawler ...")
                found = spawn.Queue()
                process = spawn.Process(target=weigh, args=(url, options, found))
                process.start()
                result["memory"].append(found.get())
                process.join()
    result["memory_share"] = result["memory"][1] / result["memory"][0]
    progress("")
    print(json.dumps(result, indent=2) if options.json else as_text(result, options))
    return 0


def as_text(result: dict[str, Any], options: argparse.Namespace) -> str:
    """Return *result* as a person reads it."""
    rows = []
    for kind, measured in result["claims"].items():
        speeds = [f"{speed:,.0f}" for speed in measured["a_second"]]
        rows.append(
            [f"claims a second, {CONCURRENCY} under way, {kind}", *speeds, f"{measured['share']:.2f}"]
        )
    contents = options.scopes * options.pages + options.active * STEADY * options.rounds
    memory = [f"{taken / 1e6:,.1f} MB" for taken in result["memory"]]
    what = f"memory of {contents:,} contents, {options.active} of {options.scopes:,} scopes active"
    rows.append([what, *memory, f"{result['memory_share']:.2f}"])
    head = ["", "one server", f"cluster, {options.shards:,} shards", "cluster / server"]
    return "\n".join([opening(result), "", table(head, rows)])


if __name__ == "__main__":
    sys.exit(main())
