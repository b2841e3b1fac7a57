"""Measure what a store on disk costs beside the one in memory: a claim, a page, an opening.

    python benchmarks/stores.py
    python benchmarks/stores.py --sizes 1000000 10000000 --only open

Five questions, ``--only`` some of them:

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
``longest``
    The longest call of each kind, in milliseconds, among ``--claims`` claims in a file of ``--sizes`` pages, with
    after every hundred claims a ``touch`` and a ``deliver`` of these pages and a note, and among as many claims as
    that in memory. Opening and closing are not among them: they come before the first page and after the last one.
``title``
    Claims on a site whose pages share one title and four fifths of their words, processor time in microseconds: the
    median of the last 500 claims at a thousand pages and at ``--titled`` pages.

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
from dataclasses import replace
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
from scrapy_simhash.notes import SITE, Note
from scrapy_simhash.store import Posting, Store
from scrapy_simhash.store.candidates import BY_ALL
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.store.sqlite.schema import NEW_PAGE, signed

SEED = 6
#: Pages that are copied where pages are copies.
COPIED = 20
#: The stores.
MEMORY, SQLITE = "memory", "sqlite"

QUESTIONS = ("claims", "bytes", "open", "longest", "title")
#: Pages between two calls for many pages.
STRIDE = 100
#: Words that pages of one title share, and that each has alone; pages of which the median is taken.
SHARED_WORDS, OWN_WORDS, LAST = 240, 60, 500
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
            *(draw.randbytes(20), url, "", fingerprint, False, draw.getrandbits(64), 1_800_000_000 + number),
            text_hash=draw.getrandbits(64),
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
            *(signed(p.page_hash or 0), signed(p.text_hash or 0), None, 0, None),
            *(p.seen, p.seen, p.seen, 1, 0),
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


def longest_calls(file: Path | None, count: int) -> dict[str, float]:
    """Return the milliseconds of the longest call of each kind, in the store in *file*, or in memory."""
    waits = processor_waits()
    longest: dict[str, float] = {}

    def timed(name: str, call: Callable[..., object], *given: object) -> None:
        waited, start = waits(), perf_counter_ns()
        call(*given)
        taken = perf_counter_ns() - start - (waits() - waited)
        longest[name] = max(longest.get(name, 0), taken / 1e6)

    with closing(SqliteStore() if file is None else SqliteStore(file)) as store:
        draw = random.Random(SEED + 1)
        seen: list[Posting] = []
        for number, posting in enumerate(pages(count, 1 / 3)):
            # Other pages than those that the file was filled with.
            posting = posting._replace(
                key=draw.randbytes(20), fingerprint=replace(posting.fingerprint, value=draw.getrandbits(64))
            )
            timed("claim", store.claim, posting)
            seen.append(posting)
            if len(seen) == STRIDE:
                timed("touch", store.touch, [(one.key, one.seen + 1) for one in seen])
                timed("deliver", store.deliver, {one.key: one.page_hash for one in seen})
                if file is not None:
                    timed(
                        "note",
                        store.replace_notes,
                        SITE,
                        [Note(f"host-{number % 1000}", None, bytes(10_000))],
                    )
                seen.clear()
                progress(f"longest: {number + 1:,} of {count:,} claims")
    return longest


def titled_pages(count: int) -> Iterator[Posting]:
    """Yield *count* pages of one title, which share most of their words."""
    draw = random.Random(SEED)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(20_000)]
    shared = prose(draw, words, SHARED_WORDS)
    fingerprinter = PageFingerprinter()
    for number in range(count):
        own = prose(draw, words, OWN_WORDS)
        html = f"<html lang=en><title>Record</title><main><h1>Record</h1><p>{shared}<p>{own}</main>"
        reading = fingerprinter.read(html)
        assert reading.fingerprint is not None
        url = f"https://www.example.com/records/{number:020}.html"
        yield Posting(draw.randbytes(20), url, "", reading.fingerprint, False, reading.page_hash, number)


def prose(draw: random.Random, words: Sequence[str], count: int) -> str:
    """Return *count* words, every third of them a stopword."""
    stopwords = ("the", "of", "and", "to", "in", "is", "that", "it")
    return " ".join([draw.choice(stopwords if number % 3 == 0 else words) for number in range(count)])


def titled_claims(count: int) -> list[float]:
    """Return the median microseconds of the claims before the thousandth page, and before the last of *count*."""
    waits = processor_waits()
    times: list[float] = []
    store = SqliteStore()
    for number, posting in enumerate(titled_pages(count)):
        waited, start = waits(), perf_counter_ns()
        store.claim(posting)
        times.append((perf_counter_ns() - start - (waits() - waited)) / 1000)
        if number % 1000 == 0:
            progress(f"title: {number:,} of {count:,}")
    return [median(times[max(0, end - LAST) : end]) for end in (min(1_000, count), count)]


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


def measure_longest(folder: Path, sizes: Sequence[int], count: int) -> list[dict[str, Any]]:
    """Return the longest calls, by size and store."""
    results = []
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            file = Path(name) / "pages.sqlite"
            fill(file, size)
            found = alone(longest_calls, file, count)
            results.append({"store": SQLITE, "pages": size, "claims": count, **found})
        found = alone(longest_calls, None, size)
        results.append({"store": MEMORY, "pages": 0, "claims": size, **found})
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, measure, print tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=QUESTIONS, help="default: all")
    parser.add_argument("--claims", type=int, default=20_000, help="pages a round (default: 20000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of claims (default: 5)")
    parser.add_argument("--pages", type=int, default=200_000, help="pages that are weighed (default: 200000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000], help="default: 1000000")
    parser.add_argument("--folder", type=Path, help="where the files are made (default: for temporary ones)")
    parser.add_argument("--titled", type=int, default=100_000, help="pages of one title (default: 100000)")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {}
    if "claims" in options.only:
        result["microseconds a claim"] = measure_claims(options.folder, options.rounds, options.claims)
    if "bytes" in options.only:
        result["bytes a page"] = measure_bytes(options.folder, options.pages)
    if "open" in options.only:
        result["openings, bytes a page"] = measure_openings(options.folder, options.sizes)
    if "longest" in options.only:
        result["milliseconds of the longest call"] = measure_longest(
            options.folder, options.sizes, options.claims
        )
    if "title" in options.only:
        first, last = alone(titled_claims, options.titled)
        result["microseconds a claim, one title"] = {
            "1,000 pages": first,
            f"{options.titled:,} pages": last,
            "times": last / first,
        }
    return show(__file__, options, arguments, result)


if __name__ == "__main__":
    sys.exit(main())
