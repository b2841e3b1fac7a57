"""Measure the cost of a store in memory, in SQLite and in Redis: claims, bytes per page, and opening.

    python benchmarks/stores.py
    python benchmarks/stores.py --sizes 1000000 10000000 --only open
    python benchmarks/stores.py --sizes 1000000 --only redis

Four measurements, of which ``--only`` selects some:

``claims``
    Microseconds of a claim in memory and in SQLite, in random order: median, 99th and 99.9th percentile, maximum.
    Each of ``--rounds`` runs in a separate process, with ``--claims`` pages, of which a third are copies. Before each
    claim a page is read, so that the processor's caches hold other data, as in a crawl. On Linux, the time of waiting
    for a processor is excluded.
``bytes``
    The bytes of a claimed page on disk (the closed file) and in memory (the growth of the resident set), for new
    pages and for copies of one of twenty pages, each in a separate process. URLs have 60 characters.
``open``
    Seconds and memory to open a file of ``--sizes`` pages, each in a separate process: the median of three. The file
    is in the cache of the system.
``redis``
    A store in a separate server is filled with ``--sizes`` pages. For each number of concurrent claims, new pages are
    claimed, then copies of them, then the new pages again. *opening* is a second store that reads the log.

Fingerprints are uniformly random, with random sketches and facts of 78 bytes. Real fingerprints have more candidates,
each of which needs one more query in SQLite. Not measured: a disk or a network that others use, Redis Cluster, TLS.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns, process_time
from typing import TYPE_CHECKING, Any

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.processes import alone, resident_bytes
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.soak import Web
from scrapy_simhash import Fingerprint, PageFingerprinter
from scrapy_simhash.page.fingerprint import FACTS_AT
from scrapy_simhash.page.fingerprint.facts import LINE, WORD_BITS, packed
from scrapy_simhash.store import Header, Posting, Store
from scrapy_simhash.store.candidates import BY_ALL
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.store.sqlite.schema import WRITE, signed

if TYPE_CHECKING:
    from scrapy_simhash.store.redis import RedisStore

SEED = 6
#: Number of pages that are copied, and facts of a page: 78 bytes, the average of real pages.
COPIED, FACTS = 20, 25
MEMORY, SQLITE = "memory", "sqlite"
QUESTIONS = ("claims", "bytes", "open", "redis")
OPENINGS = 3
#: Different pages that are read between claims.
TEXTS = 100
#: Rows that are written at a time, and max KiB of memory for this.
CHUNK, FILLING_CACHE = 10_000, 2_000_000
#: Pages per batch that fills a store in Redis, and number of concurrent claims.
STEP, FILLING = 20_000, 64
#: The percentiles that are shown: name, and share of the times that are less.
RANKS = {"median": 0.5, "99 %": 0.99, "99.9 %": 0.999}


def pages(count: int, copies: float) -> Iterator[Posting]:
    """Yield *count* postings of different pages, of which a share *copies* are copies of one of the first twenty."""
    draw = random.Random(SEED)
    first: list[Fingerprint] = []
    for number in range(count):
        facts = packed(1, dict.fromkeys(draw.sample(range(1 << WORD_BITS), FACTS), LINE))
        fingerprint = Fingerprint(draw.getrandbits(64), sketch=draw.randbytes(FACTS_AT) + facts)
        if len(first) < COPIED:
            first.append(fingerprint)
        elif draw.random() < copies:
            copied = first[draw.randrange(COPIED)]
            fingerprint = Fingerprint(copied.value ^ 1 << draw.randrange(64), sketch=copied.sketch)
        url = f"https://www.example.com/section-{draw.randrange(100):02}/{number:020}.html"
        yield Posting(
            *(draw.randbytes(20), url, "", fingerprint, False, draw.getrandbits(64), 1_800_000_000 + number),
            text_hash=draw.getrandbits(64),
        )


def bytes_per_page(way: str, share: float, count: int, folder: Path) -> dict[str, Any]:
    """Return the bytes per page in the store *way*, with *count* pages and a *share* of copies."""
    file = folder / "weighed.sqlite"
    store: Store = SqliteStore() if way == MEMORY else SqliteStore(file)
    stream = pages(count, share)
    # Claim some pages first: the store and the interpreter take some memory only once.
    for posting in islice(stream, COPIED):
        store.claim(posting)
    before = resident_bytes()
    for posting in stream:
        store.claim(posting)
    resident = resident_bytes() - before
    found = store.index_size
    store.close()
    return {
        "store": way,
        "pages are": "copies" if share else "new",
        "pages": count,
        "contents": found,
        "resident_bytes": resident / count,
        "disk_bytes": (file.stat().st_size if way == SQLITE else 0) / count,
    }


def processor_waits() -> Callable[[], int]:
    """Return a function that returns the nanoseconds that this thread waited for a processor; 0 if unknown."""
    file = Path("/proc/thread-self/schedstat")
    if not file.exists():
        return lambda: 0
    descriptor = os.open(file, os.O_RDONLY)
    return lambda: int(os.pread(descriptor, 100, 0).split()[1])


def claims(folder: Path, count: int) -> dict[str, list[int]]:
    """Return the nanoseconds of *count* claims, by store."""
    waits, shuffle, fingerprinter = processor_waits(), random.Random(SEED).shuffle, PageFingerprinter()
    web = Web(SEED)
    texts = [web.page(web.url(number)) for number in range(TEXTS)]
    stores: dict[str, Store] = {MEMORY: SqliteStore(), SQLITE: SqliteStore(folder / "pages.sqlite")}
    times: dict[str, list[int]] = {name: [] for name in stores}
    order = list(stores)
    for number, posting in enumerate(pages(count, 1 / 3)):
        fingerprinter.from_html(texts[number % TEXTS])
        shuffle(order)
        for name in order:
            waited, start = waits(), perf_counter_ns()
            stores[name].claim(posting)
            end = perf_counter_ns()
            times[name].append(end - start - (waits() - waited))
        if number % 1000 == 0:
            progress(f"claims: {number:,} of {count:,}")
    for store in stores.values():
        store.close()
    return times


def fill(file: Path, count: int) -> None:
    """Make a store of *count* different pages, by writing the rows of claims in bulk."""
    SqliteStore(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{FILLING_CACHE}"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO names VALUES (0, '')")
        stream = enumerate(pages(count, 0))
        while chunk := list(islice(stream, CHUNK)):
            progress(f"open: making {chunk[-1][0] + 1:,} of {count:,} pages")
            rows = (
                (
                    *(n, p.key, p.url, 0, False),
                    *(signed(p.fingerprint.value), p.fingerprint.sketch, BY_ALL),
                    *(signed(p.page_hash or 0), signed(p.text_hash or 0), None, n, 0, 0, None),
                    *(p.seen, p.seen, p.seen, 1, 0),
                )
                for n, p in chunk
            )
            connection.executemany(WRITE, rows)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()


def open_it(file: Path) -> dict[str, float]:
    """Return the cost of opening the store in *file*: seconds, and growth of the process in bytes per page."""
    before, start = resident_bytes(), perf_counter()
    store = SqliteStore(file)
    seconds = perf_counter() - start
    figures = {"seconds": seconds, "resident_bytes": (resident_bytes() - before) / len(store)}
    store.close()
    return figures


def measure_claims(rounds: int, count: int) -> list[dict[str, Any]]:
    """Return the times of claims by store, over all rounds."""
    done: list[dict[str, list[int]]] = []
    for number in range(rounds):
        progress(f"claims: round {number + 1} of {rounds} ...")
        with tempfile.TemporaryDirectory() as name:
            done.append(alone(claims, Path(name), count))
    results = []
    for way in done[0]:
        times = sorted(time for one in done for time in one[way])
        ranks = {name: times[int(rank * len(times))] / 1000 for name, rank in RANKS.items()}
        results.append({"store": way, "claims": len(times), **ranks, "longest": times[-1] / 1000})
    return results


def measure_bytes(count: int) -> list[dict[str, Any]]:
    """Return the bytes per page, by store and by kind of pages."""
    results = []
    for share in (0.0, 1.0):
        for way in (MEMORY, SQLITE):
            progress(f"bytes: {way}, {count:,} pages ...")
            with tempfile.TemporaryDirectory() as name:
                results.append(alone(bytes_per_page, way, share, count, Path(name)))
    return results


def measure_openings(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return the cost of opening, by size."""
    results = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "opened.sqlite"
            fill(file, size)
            progress(f"open: {size:,} pages ...")
            done = [alone(open_it, file) for _ in range(OPENINGS)]
            figures = {name: median(one[name] for one in done) for name in ("seconds", "resident_bytes")}
            results.append({"pages": size, "file_bytes": file.stat().st_size / size, **figures})
    return results


def copies_of(originals: Iterable[Posting]) -> Iterator[Posting]:
    """Yield, for each page, another page with nearly the same fingerprint."""
    draw = random.Random(SEED)
    for page in originals:
        value = page.fingerprint.value ^ sum(1 << bit for bit in draw.sample(range(64), 3))
        yield page._replace(key=draw.randbytes(20), fingerprint=replace(page.fingerprint, value=value))


async def claim_all(store: RedisStore, postings: Iterable[Posting], concurrency: int) -> list[float]:
    """Claim *postings*, with a fixed number of concurrent claims; return the seconds of each claim."""
    waiting, done = iter(postings), []

    async def work() -> None:
        for posting in waiting:
            begin = perf_counter()
            await store.claim(posting)
            done.append(perf_counter() - begin)

    await asyncio.gather(*[work() for _ in range(concurrency)])
    return done


async def measure_redis(url: str, size: int, concurrencies: Sequence[int], count: int) -> dict[str, Any]:
    """Return the times and the memory of a store of *size* pages on the server at *url*."""
    from redis import Redis

    from scrapy_simhash.store.redis import RedisStore

    client, prefix = Redis.from_url(url, protocol=2), f"benchmark-{size}"
    store = RedisStore(url, prefix, Header())
    await store.runs()
    before = client.info("memory")["used_memory"]
    source = pages(size + count * len(concurrencies), 0)
    for done in range(0, size, STEP):
        progress(f"filled with {done:,} of {size:,} ...")
        await claim_all(store, islice(source, min(STEP, size - done)), FILLING)
    in_server = (client.info("memory")["used_memory"] - before) / size
    resident, begin = resident_bytes(), perf_counter()
    other = RedisStore(url, prefix, Header(), read_only=True)
    await other.runs()
    result: dict[str, Any] = {
        "bytes a page in the server": in_server,
        "opening, seconds": perf_counter() - begin,
        "opening, bytes a page": (resident_bytes() - resident) / size,
        "claims": [],
    }
    await other.close()
    for concurrency in concurrencies:
        new = list(islice(source, count))
        for kind, postings in {"new": new, "copies": list(copies_of(new)), "again": new}.items():
            progress(f"{kind} at {size:,}, {concurrency} at once ...")
            begin, begin_processor = perf_counter(), process_time()
            times = sorted(await claim_all(store, postings, concurrency))
            result["claims"].append(
                {
                    "pages are": kind,
                    "at once": concurrency,
                    "claims a second": count / (perf_counter() - begin),
                    "median us": 1e6 * times[len(times) // 2],
                    "99 % us": 1e6 * times[len(times) * 99 // 100],
                    "processor us": 1e6 * (process_time() - begin_processor) / count,
                }
            )
    await store.close()
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS, help="default: all")
    parser.add_argument("--claims", type=int, default=20_000, help="pages per round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of claims (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=200_000, help="pages to measure (%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000], help="default: 1000000")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16, 64], help="default: 1 16 64")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {}
    if "claims" in options.only:
        result["microseconds a claim"] = measure_claims(options.rounds, options.claims)
    if "bytes" in options.only:
        result["bytes a page"] = measure_bytes(options.pages)
    if "open" in options.only:
        result["openings, bytes a page"] = measure_openings(options.sizes)
    if "redis" in options.only:
        from tests.store.server import RedisServer

        with tempfile.TemporaryDirectory() as name, RedisServer(Path(name), appendonly="no") as server:
            for size in options.sizes:
                figures = measure_redis(server.url, size, options.concurrency, options.claims)
                result[f"{size:,} pages in Redis"] = asyncio.run(figures)
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
