"""What a page takes in a store, on disk and in memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.lib.memory import resident_bytes
from scrapy_simhash import Fingerprint
from scrapy_simhash.page.fingerprint import SKETCH_BYTES
from scrapy_simhash.store import MemoryStore, Posting, Store
from scrapy_simhash.store.sqlite import SqliteStore

SEED = 6
#: Pages that are copied where pages are copies.
COPIED = 20
#: The stores.
MEMORY, SQLITE = "memory", "sqlite"


def pages(count: int, copies: float) -> Iterator[Posting]:
    """Yield *count* postings of different pages; a share of *copies* repeats one of the first twenty."""
    draw = random.Random(SEED)
    first: list[Fingerprint] = []
    for number in range(count):
        fingerprint = Fingerprint(draw.getrandbits(64), sketch=draw.randbytes(SKETCH_BYTES))
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
    store: Store = MemoryStore() if way == MEMORY else SqliteStore(file)
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
        "copies": share,
        "pages": count,
        "contents": found,
        "resident_bytes": resident / count,
        "disk_bytes": on_disk / count,
    }
