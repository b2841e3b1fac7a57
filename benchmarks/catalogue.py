"""Measure what a page costs the store on a site whose pages share nearly all of their text, as the site grows.

    python benchmarks/catalogue.py                       # 6,000, 25,000 and 100,000 pages in memory and in SQLite
    python benchmarks/catalogue.py --sizes 6000 --stores memory sqlite redis --json
    python benchmarks/catalogue.py -s SIMHASH_SITE_LEARNING=False

The pages of a drawn catalogue have a name, a sentence of their own and 300 words that all of them share; every tenth
is a page that came before, with another counter. They go through one NearDuplicateDetector. The time of every claim
is taken, which is the search, the second look and the insert. Of the last thousand pages before each size: mean and
longest claim in milliseconds, the share of copies that were found, and how many different pages were merged, of all
pages so far. Times are processor time of this process: a busy machine shows less. Redis is a server of its own,
started for this, and what it takes there is not in the time.

Not measured: reading pages (``benchmarks/page.py``), bytes (``benchmarks/stores.py``).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import counted, environment, opening, table
from benchmarks.lib.settings import add_settings, config_of
from scrapy_simhash import Config, NearDuplicateDetector, Status
from scrapy_simhash.detector import header_for
from scrapy_simhash.store import AsyncStore, Claim, Header, MemoryStore, Posting, Store
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.server import RedisServer

SIZES = (6_000, 25_000, 100_000)
STORES = ("memory", "sqlite", "redis")
SEED = 29
SHARED, OWN = 300, 20
LAST = 1_000
STOPWORDS = "the of and to in with for our your all we you this that is are".split()


class Page(NamedTuple):
    """A page of the catalogue."""

    html: str
    product: int
    """Pages of one product repeat each other, pages of two never do."""
    is_copy: bool


def pages(number: int) -> Iterator[Page]:
    """Yield so many pages, always the same ones."""
    draw = Random(SEED)

    def word() -> str:
        return "".join(draw.choice("bcdfghklmnprstvw") + draw.choice("aeiou") for _ in range(3))

    def prose(words: int) -> str:
        return " ".join(word() if place % 2 else draw.choice(STOPWORDS) for place in range(words))

    shared = "".join(f"<p>{prose(60)}.</p>" for _ in range(SHARED // 60))
    products: list[tuple[str, str]] = []
    for place in range(number):
        is_copy = place % 10 == 9
        if not is_copy:
            products.append((f"{word()} {word()}".title(), prose(OWN)))
        product = draw.randrange(len(products)) if is_copy else len(products) - 1
        name, own = products[product]
        counter = f"<p>Seen {draw.randrange(10_000)} times</p>"
        html = f"<html lang=en><title>{name} - Shop</title><main><h1>{name}</h1><p>The {name}: {own}.</p>{shared}"
        yield Page(f"{html}</main>{counter}</html>", product, is_copy)


@asynccontextmanager
async def opened(kind: str, header: Header) -> AsyncIterator[Store | AsyncStore]:
    """Yield a new store of a *kind*."""
    with TemporaryDirectory() as folder:
        if kind == "memory":
            yield MemoryStore(header)
        elif kind == "sqlite":
            with closing(SqliteStore(Path(folder, "pages.db"), header)) as store:
                yield store
        else:
            with RedisServer(Path(folder)) as server:
                remote = RedisStore(server.url, "catalogue", header)
                await remote.connect()
                yield remote
                await remote.close()


async def grow(kind: str, sizes: Sequence[int], config: Config) -> list[dict[str, Any]]:
    """Return the figures of one store at each of *sizes*."""
    async with opened(kind, header_for(config)) as store:
        return await measure(store, sizes, config)


async def measure(store: Store | AsyncStore, sizes: Sequence[int], config: Config) -> list[dict[str, Any]]:
    """Return the figures at each of *sizes*."""
    detector = NearDuplicateDetector(config, store)
    times: list[float] = []
    claim = detector.claim_async

    async def timed(posting: Posting, remember: bool = True) -> Claim:
        start = process_time()
        found = await claim(posting, remember)
        times.append(process_time() - start)
        return found

    detector.claim_async = timed  # type: ignore[method-assign]
    found: list[dict[str, Any]] = []
    product_of: dict[str, int] = {}
    copies = recognised = merged = 0
    for number, page in enumerate(counted(pages(max(sizes)), max(sizes), f"pages of {store}"), 1):
        url = f"https://shop.example/{number}"
        product_of[url] = page.product
        await detector.load_site(url)
        verdict = await detector.conclude_async(detector.read(page.html, url), url)
        is_found = verdict.status is Status.NEAR_DUPLICATE
        copies += page.is_copy
        if is_found and verdict.duplicate_of is not None:
            recognised += product_of[verdict.duplicate_of] == page.product
            merged += product_of[verdict.duplicate_of] != page.product
        if number in sizes:
            last = times[-LAST:]
            found.append(
                {
                    "pages": number,
                    "mean_ms": fmean(last) * 1e3,
                    "longest_ms": max(times) * 1e3,
                    "found": recognised / copies if copies else 1.0,
                    "merged": merged,
                }
            )
    return found


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    rows = [
        [
            kind if place == 0 else "",
            f"{one['pages']:,}",
            f"{one['mean_ms']:.2f}",
            f"{one['longest_ms']:.1f}",
            f"{one['found']:.3f}",
            f"{one['merged']:,}",
        ]
        for kind, sizes in result["stores"].items()
        for place, one in enumerate(sizes)
    ]
    head = ["milliseconds a claim", "pages", "mean of the last", "longest", "copies found", "merged"]
    return f"{opening(result)}\n\n{table(head, rows)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="pages at which figures are taken"
    )
    parser.add_argument(
        "--stores", nargs="+", choices=STORES, default=STORES[:2], help="default: memory sqlite"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    add_settings(parser)
    options = parser.parse_args(given)
    start = perf_counter()
    config = config_of(options.settings)
    stores = {kind: asyncio.run(grow(kind, sorted(options.sizes), config)) for kind in options.stores}
    result: dict[str, Any] = {
        **environment(__file__, given),
        "stores": stores,
        "seconds": perf_counter() - start,
    }
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
