"""Measure what a store on disk costs beside the one in memory: a claim, a page, an opening.

    python benchmarks/stores.py
    python benchmarks/stores.py --sizes 1000000 10000000 --only open

Three questions, ``--only`` some of them:

``claims``
    Every page is claimed by each store, in random order: in memory, in SQLite as a crawl does it, with a thread that
    makes the checkpoints, and in SQLite with those that it makes by itself, in the claim that comes after a thousand
    pages of log. There are ``--rounds``, in a process each with new stores, and ``--claims`` pages a round, a third
    of them copies of earlier ones. Of the time of a claim, in microseconds: median, 99th and 99.9th percentile, and
    the longest of all; and how much more the median is than that in memory, the median of the rounds. Before each
    page one of some twenty sentences is read, so that the processor has had other things in mind, as in a crawl. On
    Linux the time is left out for which no processor was free.
``bytes``
    What a page takes once it is claimed, on disk (the file, closed) and in memory (the growth of the resident
    set), for pages of new content and for copies of one of twenty, in a process each. URLs have 60 characters.
``open``
    How long it takes to open a file of ``--sizes`` pages, and how much memory, in a process each: the median of
    three. The file was just written, so that the system has it in memory. Its rows are what claims would have
    written, but were written at one go.

Fingerprints are uniform random numbers with random sketches and facts of 78 bytes, from a fixed seed: real ones have
more candidates, and each costs SQLite one query more.
Not measured: a disk that others use, network drives, Redis.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.processes import alone, resident_bytes
from benchmarks.lib.prose_site import page
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.sketches import random_sketch
from scrapy_simhash import Fingerprint, PageFingerprinter
from scrapy_simhash.store import Posting, Store
from scrapy_simhash.store.candidates import BY_ALL
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.store.sqlite.schema import NEW_PAGE, signed

SEED = 6
#: Pages that are copied where pages are copies.
COPIED = 20
#: The stores.
MEMORY, SQLITE = "memory", "sqlite"

QUESTIONS = ("claims", "bytes", "open")
OPENINGS = 3
#: Different pages that are read between claims.
TEXTS = 100
#: Rows that are written at a time, and KiB of memory that may be used meanwhile.
CHUNK, FILLING_CACHE = 10_000, 2_000_000
ITSELF = "sqlite, no thread"
#: What is shown of many times: name and share of the times that are less.
RANKS = {"median": 0.5, "99 %": 0.99, "99.9 %": 0.999}


def pages(count: int, copies: float) -> Iterator[Posting]:
    """Yield *count* postings of different pages; a share of *copies* repeats one of the first twenty."""
    draw = random.Random(SEED)
    first: list[Fingerprint] = []
    for number in range(count):
        fingerprint = Fingerprint(draw.getrandbits(64), sketch=random_sketch(draw))
        if len(first) < COPIED:
            first.append(fingerprint)
        elif draw.random() < copies:
            copied = first[draw.randrange(COPIED)]
            fingerprint = Fingerprint(copied.value ^ 1 << draw.randrange(64), sketch=copied.sketch)
        url = f"https://www.example.com/section-{draw.randrange(100):02}/{number:020}.html"
        yield Posting(
            draw.randbytes(20), url, "", fingerprint, False, draw.getrandbits(64), 1_800_000_000 + number
        )


def weigh(way: str, share: float, count: int, folder: Path) -> dict[str, Any]:
    """Return what a page takes in the store *way*, in bytes, of *count* pages of which a *share* are copies."""
    file = folder / "weighed.sqlite"
    store: Store = SqliteStore() if way == MEMORY else SqliteStore(file)
    stream = pages(count, share)
    # What every store takes once, and the interpreter with it.
    for posting in islice(stream, COPIED):
        store.claim(posting)
    before = resident_bytes()
    for posting in stream:
        store.claim(posting)
    resident = resident_bytes() - before
    found = store.index_size
    store.close()
    on_disk = file.stat().st_size if way == SQLITE else 0
    return {
        "store": way,
        "pages are": "copies" if share else "new",
        "pages": count,
        "contents": found,
        "resident_bytes": resident / count,
        "disk_bytes": on_disk / count,
    }


def processor_waits() -> Callable[[], int]:
    """Return what tells for how many nanoseconds this thread has waited for a processor so far; 0 if nobody knows."""
    file = Path("/proc/thread-self/schedstat")
    if not file.exists():
        return lambda: 0
    descriptor = os.open(file, os.O_RDONLY)
    return lambda: int(os.pread(descriptor, 100, 0).split()[1])


def claims(folder: Path, count: int) -> dict[str, list[int]]:
    """Return the nanoseconds of *count* claims, by store."""
    waits, shuffle, fingerprinter = processor_waits(), random.Random(SEED).shuffle, PageFingerprinter()
    itself = SqliteStore(folder / "itself.sqlite")
    assert itself._checkpoints is not None
    itself._checkpoints.stop()
    itself._execute("PRAGMA wal_autocheckpoint = 1000").fetchall()
    stores: dict[str, Store] = {
        MEMORY: SqliteStore(),
        SQLITE: SqliteStore(folder / "thread.sqlite"),
        ITSELF: itself,
    }
    times: dict[str, list[int]] = {name: [] for name in stores}
    order = list(stores)
    for number, posting in enumerate(pages(count, 1 / 3)):
        fingerprinter.from_html(page(number % TEXTS, TEXTS))
        shuffle(order)
        for name in order:
            store = stores[name]
            waited, start = waits(), perf_counter_ns()
            store.claim(posting)
            end = perf_counter_ns()
            times[name].append(end - start - (waits() - waited))
        if number % 1000 == 0:
            progress(f"claims: {number:,} of {count:,}")
    for store in stores.values():
        store.close()
    return times


def fill(file: Path, count: int) -> None:
    """Make a store of *count* pages of new content: the rows that claims would write, all at once."""
    SqliteStore(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{FILLING_CACHE}"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO names VALUES (0, '')")
        stream = enumerate(pages(count, 0))
        while chunk := list(islice(stream, CHUNK)):
            progress(f"open: making {chunk[-1][0] + 1:,} of {count:,} pages")
            _insert(connection, chunk)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()


def _insert(connection: sqlite3.Connection, chunk: Sequence[tuple[int, Posting]]) -> None:
    rows = (
        (
            *(n, p.key, p.url, 0, 0, False, signed(p.fingerprint.value), p.fingerprint.sketch, BY_ALL),
            *(signed(p.page_hash or 0), None, 0, 1, p.seen, p.seen, p.seen),
        )
        for n, p in chunk
    )
    connection.executemany(NEW_PAGE, rows)


def open_it(file: Path) -> dict[str, Any]:
    """Return what it costs to open the store in *file*: seconds, and bytes a page by which the process grew."""
    before, start = resident_bytes(), perf_counter()
    store = SqliteStore(file)
    seconds = perf_counter() - start
    resident = resident_bytes() - before
    index = sum(index.nbytes for index in store._indexes.values())
    size = len(store)
    store.close()
    return {"seconds": seconds, "resident_bytes": resident / size, "index_bytes": index / size, "pages": size}


def measure_claims(folder: Path, rounds: int, count: int) -> list[dict[str, Any]]:
    """Return the times of claims by store, over all rounds, and what the median is more than in memory."""
    done: list[dict[str, list[int]]] = []
    for number in range(rounds):
        progress(f"claims: round {number + 1} of {rounds} ...")
        with tempfile.TemporaryDirectory(dir=folder) as name:
            done.append(alone(claims, Path(name), count))
    medians = [{way: median(times) for way, times in one.items()} for one in done]
    results = []
    for way in done[0]:
        times = sorted(time for one in done for time in one[way])
        results.append(
            {
                "store": way,
                "claims": len(times),
                **{name: times[int(rank * len(times))] / 1000 for name, rank in RANKS.items()},
                "longest": times[-1] / 1000,
                "more than in memory": median((one[way] - one[MEMORY]) / 1000 for one in medians),
            }
        )
    return results


def measure_bytes(folder: Path, count: int) -> list[dict[str, Any]]:
    """Return what a page takes, by store and by what pages are."""
    results = []
    for share in (0.0, 1.0):
        for way in (MEMORY, SQLITE):
            progress(f"bytes: {way}, {count:,} pages ...")
            with tempfile.TemporaryDirectory(dir=folder) as name:
                results.append(alone(weigh, way, share, count, Path(name)))
    return results


def measure_openings(folder: Path, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return what an opening costs, by size."""
    results = []
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            file = Path(name) / "opened.sqlite"
            fill(file, size)
            progress(f"open: {size:,} pages ...")
            done = [alone(open_it, file) for _ in range(OPENINGS)]
            results.append(
                {
                    "pages": size,
                    "file_bytes": file.stat().st_size / size,
                    **{
                        name: median(one[name] for one in done)
                        for name in ("seconds", "resident_bytes", "index_bytes")
                    },
                }
            )
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS, help="default: all three")
    parser.add_argument("--claims", type=int, default=20_000, help="pages a round (default: 20000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of claims (default: 5)")
    parser.add_argument("--pages", type=int, default=200_000, help="pages that are weighed (default: 200000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000], help="default: 1000000")
    parser.add_argument("--folder", type=Path, help="where the files are made (default: for temporary ones)")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {}
    if "claims" in options.only:
        result["microseconds a claim"] = measure_claims(options.folder, options.rounds, options.claims)
    if "bytes" in options.only:
        result["bytes a page"] = measure_bytes(options.folder, options.pages)
    if "open" in options.only:
        result["openings, bytes a page"] = measure_openings(options.folder, options.sizes)
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
