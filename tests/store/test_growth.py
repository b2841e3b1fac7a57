"""A page costs a store the same work however large a site of pages that are all alike is: counted, not timed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge import rule as judge_rule
from scrapy_simhash.judge.rule import SimilarityRule
from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.redis.client import Client
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.redis.stores import admin
from tests.store.server import RedisServer

CONFIG = Config()
#: Pages, each time twice as many, and the last ones before each size of which the work is counted.
SIZES, LAST = (600, 1_200, 2_400), 200
#: From one size to the next. Work that grows with the site nearly doubles.
MOST_GROWTH = 1.4
#: Instructions of SQLite's machine that are counted together.
STEP = 10

REACHED, COMPARED, COMMANDS = "postings within reach", "contents compared", "commands"
STATEMENTS, INSTRUCTIONS = "statements", f"instructions / {STEP}"

STOPWORDS = "the of and to in with for our your all we you this that is are".split()


def catalogue(number: int) -> Iterator[str]:
    """Yield so many pages: a name, a sentence of their own, 300 words that all share; each tenth repeats one."""
    draw = Random(29)

    def word() -> str:
        return "".join(draw.choice("bcdfghklmnprstvw") + draw.choice("aeiou") for _ in range(3))

    def prose(words: int) -> str:
        return " ".join(word() if place % 2 else draw.choice(STOPWORDS) for place in range(words))

    shared = "".join(f"<p>{prose(60)}.</p>" for _ in range(5))
    products: list[tuple[str, str]] = []
    for place in range(number):
        if place % 10 != 9:
            products.append((f"{word()} {word()}".title(), prose(20)))
        name, own = draw.choice(products) if place % 10 == 9 else products[-1]
        counter = f"<p>Seen {draw.randrange(10_000)} times</p>"
        html = f"<html lang=en><title>{name} - Shop</title><main><h1>{name}</h1><p>The {name}: {own}.</p>{shared}"
        yield f"{html}</main>{counter}</html>"


def made(kind: str, header: Header, folder: Path, request: pytest.FixtureRequest) -> Store:
    """Return a new store of a *kind*."""
    if kind in ("memory", "sqlite"):
        return SqliteStore(header=header) if kind == "memory" else SqliteStore(folder / "pages.db", header)
    server: RedisServer = request.getfixturevalue("shared")
    return RedisStore(server.url, "catalogue", header)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What stores do from now on, by kind of work."""
    counts: Counter[str] = Counter()
    nearest, keys_of = SimhashIndex.nearest, SimhashIndex.keys_of
    compare_all, reply = SimilarityRule.compare_all, Client._reply

    def counted_nearest(self: SimhashIndex, values: Any, most: int) -> Any:
        found = nearest(self, values, most)
        counts[REACHED] += sum(found[1])
        return found

    def counted_keys(self: SimhashIndex, value: Any) -> list[int]:
        keys = keys_of(self, value)
        counts[REACHED] += len(keys)
        return keys

    def counted_comparison(
        self: SimilarityRule, one: Any, others: Sequence[bytes], is_generic: bool = False
    ) -> Any:
        counts[COMPARED] += len(others)
        return compare_all(self, one, others, is_generic)

    async def counted_reply(self: Client, *command: Any) -> Any:
        # One page is asked about at a time: each command is a trip.
        counts[COMMANDS] += 1
        return await reply(self, *command)

    # What the kernel does in one call is not counted: these are the steps of the definition.
    monkeypatch.setattr(judge_rule, "_native_look", lambda min_similarity, reach: None)
    monkeypatch.setattr(SimhashIndex, "nearest", counted_nearest)
    monkeypatch.setattr(SimhashIndex, "keys_of", counted_keys)
    monkeypatch.setattr(SimilarityRule, "compare_all", counted_comparison)
    monkeypatch.setattr(Client, "_reply", counted_reply)
    return counts


def watch(store: Store, counts: Counter[str]) -> None:
    """Have SQLite count what it does."""
    if isinstance(store, SqliteStore):
        store._connection.set_trace_callback(lambda statement: counts.update([STATEMENTS]))
        store._connection.set_progress_handler(lambda: counts.update([INSTRUCTIONS]), STEP)


def server_counts(store: Store) -> Counter[str]:
    """Return what a server has done by now: the commands of scripts too, and bytes."""
    if not isinstance(store, RedisStore):
        return Counter()
    with admin(str(store).rpartition(" at ")[2]) as client:
        said = client.info("commandstats") | client.info("stats")
    calls = sum(one["calls"] for name, one in said.items() if name.startswith("cmdstat_"))
    sent, received = said["total_net_input_bytes"], said["total_net_output_bytes"]
    return Counter({"calls in the server": calls, "bytes sent": sent, "bytes received": received})


async def work_of(store: Store, sizes: Sequence[int], counts: Counter[str]) -> list[Counter[str]]:
    """Return the work for the last pages before each of *sizes*, of a catalogue in *store*."""
    found = []
    if isinstance(store, RedisStore):
        await store.runs()
    watch(store, counts)
    detector = NearDuplicateDetector(CONFIG, store)
    for number, html in enumerate(catalogue(max(sizes)), 1):
        if number + LAST in sizes:
            before = counts + server_counts(store)
        url = f"https://shop.example/{number}"
        await detector.load_site(url)
        await detector.conclude_async(detector.read(html, url), url)
        if number in sizes:
            found.append(counts + server_counts(store) - before)
    closed = store.close()
    if closed is not None:
        await closed
    return found


def grown(work: Sequence[Counter[str]]) -> list[str]:
    """Return which work grows with the site."""
    return [
        f"{kind}: {[one[kind] for one in work]}"
        for kind in sorted(set().union(*work))
        if any(after[kind] > MOST_GROWTH * max(before[kind], LAST) for before, after in pairwise(work))
    ]


@pytest.mark.slow("it reads thousands of pages")
@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_a_page_of_a_catalogue_costs_the_same_however_large_it_is(
    kind: str, counts: Counter[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store = made(kind, header_for(CONFIG), tmp_path, request)
    work = asyncio.run(work_of(store, SIZES, counts))
    assert all(one[COMPARED] >= LAST for one in work), "they are candidates of each other"
    assert not grown(work)
