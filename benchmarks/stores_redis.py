"""Measure what a claim costs in a store in Redis, and what a page weighs there, by size and concurrency.

    python benchmarks/stores_redis.py                   # table; --json for programs
    python benchmarks/stores_redis.py --sizes 1000000 --aof
    python benchmarks/stores_redis.py --learning

A ``redis-server`` of its own on the loopback interface, and one process of one store beside it. It is filled with
pages that are all different, 64 claims under way; their URLs have some 70 characters, their keys 20 bytes as
Scrapy's request fingerprints have. Then, at each size, by the number of claims under way: *new* pages, *copies* of
them (other keys, three bits different, the sketch the same), and the first ones *again*, unchanged. Of each: claims
per second, the median and the 99th percentile of the time of one, and the processor time that it took here.

Bytes are those of the server's ``used_memory``, by page of those the store was filled with. *Opening* is another
store, which reads the log and makes its index, and that index.

With ``--learning`` instead: what site learning costs. Two crawlers take turns with the pages of one large site whose
pages share text, once without SIMHASH_SITE_LEARNING and once with it; of each, by page: commands to the server (those
of its scripts too), new contents, bytes to and from it, and bytes in it, as the server counts them. Without learning
most pages repeat others, and have no content. So also the bytes of own parts and profiles alone. Profiles are written
as in a crawl: every 500 pages, and at the end.

Without ``--aof`` nothing is written to disk. Not measured: a network, several crawlers at once, TLS.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from redis import Redis

from benchmarks.lib.memory import resident_bytes
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import Config, Fingerprint, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.redis.layout import names_of
from tests.store.server import RedisServer

SEED = 67
SECTIONS = 25
SIZES = (20_000,)
CONCURRENCY = (1, 16, 64)
CLAIMS = 10_000
STEP = 20_000


def different_pages(seed: int) -> Iterator[Posting]:
    """Yield pages that have nothing in common, without end."""
    randoms = random.Random(seed)
    number = 0
    while True:
        number += 1
        url = f"https://www.example-{number % 50}.com/section-{number % 97}/an-article-of-some-length-{number}.html"
        fingerprint = Fingerprint(randoms.getrandbits(64), sketch=randoms.randbytes(SKETCH_BYTES))
        yield Posting(
            randoms.randbytes(20), url, "", fingerprint, text_hash=randoms.getrandbits(64), seen=number
        )


def copies(originals: Iterable[Posting]) -> Iterator[Posting]:
    """Yield for each page another one that says nearly the same."""
    randoms = random.Random(SEED)
    for page in originals:
        value = page.fingerprint.value ^ sum(1 << bit for bit in randoms.sample(range(64), 3))
        yield page._replace(key=randoms.randbytes(20), fingerprint=replace(page.fingerprint, value=value))


async def claim_all(store: RedisStore, postings: Iterable[Posting], concurrency: int) -> list[float]:
    """Claim *postings*, so many under way at any time; return the seconds that each took."""
    waiting, seconds = iter(postings), []

    async def work() -> None:
        for posting in waiting:
            begin = perf_counter()
            await store.claim(posting)
            seconds.append(perf_counter() - begin)

    await asyncio.gather(*[work() for _ in range(concurrency)])
    return sorted(seconds)


async def measure(
    server: RedisServer, size: int, concurrencies: Sequence[int], claims: int
) -> dict[str, Any]:
    """Return what is to be told of a store of *size* pages."""
    client = Redis.from_url(server.url, protocol=2)
    prefix = f"benchmark-{size}"
    store = RedisStore(server.url, prefix, Header())
    await store.connect()
    before = client.info("memory")["used_memory"]
    source = different_pages(SEED)
    for done in range(0, size, STEP):
        progress(f"filled with {done:,} of {size:,} ...")
        await claim_all(store, islice(source, min(STEP, size - done)), 64)
    result: dict[str, Any] = {"size": size, "bytes": (client.info("memory")["used_memory"] - before) / size}

    progress(f"opening {size:,} ...")
    resident, begin = resident_bytes(), perf_counter()
    other = RedisStore(server.url, prefix, Header(), read_only=True)
    await other.connect()
    result["opening"] = {"seconds": perf_counter() - begin, "bytes": (resident_bytes() - resident) / size}
    await other.close()
    del other

    result["claims"] = []
    for concurrency in concurrencies:
        new = list(islice(source, claims))
        for kind, postings in {"new": new, "copies": list(copies(new)), "again": new}.items():
            progress(f"{kind} at {size:,}, {concurrency} at once ...")
            begin, begin_processor = perf_counter(), process_time()
            seconds = await claim_all(store, postings, concurrency)
            result["claims"].append(
                {
                    "kind": kind,
                    "concurrency": concurrency,
                    "per_second": claims / (perf_counter() - begin),
                    "median": seconds[len(seconds) // 2],
                    "p99": seconds[len(seconds) * 99 // 100],
                    "processor": (process_time() - begin_processor) / claims,
                }
            )
    await store.close()
    client.unlink(*names_of(prefix))
    return result


def board(sections: int) -> list[str]:
    """Return the pages of one site: what they share of their text differs between its sections, of 80 pages each."""
    pages = [
        page.html for seed in range(sections) for page in make_site(PLANS[seed % len(PLANS)], seed).pages
    ]
    random.Random(SEED).shuffle(pages)
    return pages


async def learn(server: RedisServer, pages: Sequence[str], is_learning: bool) -> dict[str, Any]:
    """Return what *pages* cost when two crawlers take turns with them."""
    client = Redis.from_url(server.url, protocol=2)
    config, prefix = Config(site_learning=is_learning), f"learning-{is_learning}"
    stores = [RedisStore(server.url, prefix, header_for(config)) for _ in range(2)]
    detectors = [NearDuplicateDetector(config, store) for store in stores]
    for store in stores:
        await store.connect()
    before = {**client.info("memory"), **client.info("stats")}
    for number, html in enumerate(pages):
        if not number % 100:
            progress(f"{'with' if is_learning else 'without'} learning, {number:,} of {len(pages):,} ...")
        detector, url = (
            detectors[number % 2],
            f"https://jobs.example/a-section/an-advert-of-some-length-{number}.html",
        )
        await detector.load_site(url)
        await detector.conclude_async(detector.read(html, url), url)
    for detector in detectors:
        await detector.flush_async()
    after = {**client.info("memory"), **client.info("stats")}
    postings = [posting async for posting in stores[0]]
    for store in stores:
        await store.close()
    counted = {
        "commands": "total_commands_processed",
        "received": "total_net_input_bytes",
        "sent": "total_net_output_bytes",
        "bytes": "used_memory",
    }
    costs = {name: (after[field] - before[field]) / len(pages) for name, field in counted.items()}
    of_sites = sum(client.memory_usage(f"{prefix}:{key}", samples=0) or 0 for key in ("sites", "hosts"))
    return {
        "pages": len(pages),
        "is_learning": is_learning,
        **costs,
        "contents": stores[0].index_size / len(pages),
        "own_parts": sum(len(posting.fingerprint.own) for posting in postings) / len(pages),
        "profiles": of_sites / len(pages),
    }


def learning_as_text(result: dict[str, Any]) -> str:
    """Return the result of ``--learning`` as a person reads it."""
    rows = [
        [
            f"{one['pages']:,} pages {'with' if one['is_learning'] else 'without'} learning",
            *[f"{one[name]:.2f}" for name in ("commands", "contents")],
            *[f"{one[name]:,.0f}" for name in ("received", "sent", "bytes", "own_parts", "profiles")],
        ]
        for one in result["results"]
    ]
    head = ["by page", "commands", "contents", "bytes to it", "from it", "in it", "own parts", "profiles"]
    return "\n".join([opening(result), "", table(head, rows)])


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    rows = [
        [
            f"{one['size']:,} {claim['kind']}",
            f"{claim['concurrency']}",
            f"{claim['per_second']:,.0f}",
            *[f"{1e6 * claim[name]:,.0f}" for name in ("median", "p99", "processor")],
        ]
        for one in result["results"]
        for claim in one["claims"]
    ]
    notes = [
        f"{one['size']:,} pages: {one['bytes']:.0f} bytes each in the server; opened in"
        f" {one['opening']['seconds']:.2f} s, {one['opening']['bytes']:.0f} bytes each here"
        for one in result["results"]
    ]
    head = ["size, pages", "at once", "claims/s", "median us", "p99 us", "processor us"]
    return "\n".join([opening(result), "", table(head, rows), "", *notes])


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--concurrency", type=int, nargs="+", default=list(CONCURRENCY), metavar="N")
    parser.add_argument("--claims", type=int, default=CLAIMS, metavar="N", help="of each kind (%(default)s)")
    parser.add_argument(
        "--aof", action="store_true", help="let the server keep all on disk, fsync every second"
    )
    parser.add_argument("--learning", action="store_true", help="measure what site learning costs instead")
    parser.add_argument(
        "--sections", type=int, default=SECTIONS, metavar="N", help="80 pages each (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)

    result: dict[str, Any] = environment(__file__, sys.argv[1:] if arguments is None else arguments)
    appendonly = "yes" if options.aof else "no"
    with (
        tempfile.TemporaryDirectory() as folder,
        RedisServer(Path(folder), appendonly=appendonly) as server,
    ):
        version = Redis.from_url(server.url, protocol=2).info("server")["redis_version"]
        result["versions"] += f", redis-server {version}"
        if options.learning:
            pages = board(options.sections)
            result["results"] = [asyncio.run(learn(server, pages, is_on)) for is_on in (False, True)]
        else:
            result["results"] = [
                asyncio.run(measure(server, size, options.concurrency, options.claims))
                for size in options.sizes
            ]
    progress("")
    text = learning_as_text if options.learning else as_text
    print(json.dumps(result, indent=2) if options.json else text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
