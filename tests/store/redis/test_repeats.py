"""Claims that are sent again because their reply was lost: they are answered as if they had been sent once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from redis import ConnectionError

from scrapy_simhash.store import Claim, Posting
from scrapy_simhash.store.redis import layout
from scrapy_simhash.store.redis.client import Client, script
from tests.examples import examples
from tests.store.cases import FACTS, FAR, content, own_part, posting
from tests.store.redis.stores import admin, opened, waits
from tests.store.server import RedisServer

HASHES = ("pages", "texts", "log")


def lose_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch with claims be executed, and its first reply be lost."""
    trip, lost = Client._trip, set[int]()

    async def lossy(self: Client, batch: Any) -> list[Any]:
        replies = await trip(self, batch)
        if id(batch) in lost or not any(script("claim")[1] in command for command, _ in batch):
            return replies
        lost.add(id(batch))
        kept.append(batch)
        raise ConnectionError("the replies were lost")

    # So that no two batches have the same id.
    kept: list[Any] = []
    monkeypatch.setattr(Client, "_trip", lossy)


def some_pages(draw: random.Random) -> list[Posting]:
    """Return pages that are new, near-duplicates, equal, short, or visited again in the same second."""
    pages = []
    for number in range(40):
        value = draw.choice((0, 1, 3, FAR, FAR + 1))
        fingerprint = content(value, edited=draw.choice((0, 10, 60, 300)), facts=draw.choice(FACTS))
        if draw.random() < 0.3:
            fingerprint = replace(fingerprint, own=own_part(draw.choice((1, 2)), draw.choice((0, 10, 300))))
        is_short, page_hash = draw.random() < 0.2, draw.choice((None, 1, 2, 3))
        key = str(draw.choice((number, number, number, draw.randrange(number + 1))))
        is_delivered = draw.random() < 0.8
        pages.append(posting(key, fingerprint, "", is_short, page_hash, number // 8, is_delivered))
    return pages


def unlike(record: bytes) -> layout.Row | None:
    """Return a row without the random number of its claim."""
    return layout.read_row(record)._replace(claim=0) if record else None


@pytest.mark.parametrize("seed", range(examples(10)))
def test_a_claim_that_was_executed_is_answered_and_stored_once(
    seed: int, shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = some_pages(random.Random(seed))

    async def claims_of(name: str) -> list[Claim]:
        async with opened(shared.url, name) as store:
            return [await store.claim(page) for page in pages]

    expected = asyncio.run(claims_of(f"{prefix}:once"))
    lose_replies(monkeypatch)
    claims = asyncio.run(claims_of(f"{prefix}:twice"))
    for claim, once in zip(claims, expected, strict=True):
        if once.former is None:
            assert claim == once
        else:
            # What the page was before is not kept.
            assert (claim.cluster, claim.rank) == (once.cluster, once.rank)
            assert claim.former is not None
    client = admin(shared.url)
    for name in HASHES:
        once_kept, kept = (client.hgetall(f"{prefix}:{which}:{name}") for which in ("once", "twice"))
        if name == "pages":
            once_kept, kept = ({key: unlike(row) for key, row in rows.items()} for rows in (once_kept, kept))
        if name == "log":
            # Marks depend on the random id of the store.
            once_kept, kept = ({block: len(row) for block, row in rows.items()} for rows in (once_kept, kept))
        assert kept == once_kept, name


@waits
async def test_a_page_that_comes_twice_in_a_second_is_a_revisit(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = posting("a", content(0), page_hash=1)
    async with opened(shared.url, prefix) as store:
        assert (await store.claim(page)).former is None
        assert (await store.claim(page)).former
        lose_replies(monkeypatch)
        assert (await store.claim(page)).former


@waits
async def test_connections_that_are_reset_cost_no_verdict(shared: RedisServer, prefix: str) -> None:
    async with opened(shared.url, prefix) as one, opened(shared.url, prefix) as other:
        is_done, resets_done = False, 0

        async def reset() -> None:
            nonlocal resets_done
            client = admin(shared.url)
            while not is_done:
                await asyncio.sleep(0.03)
                with suppress(ConnectionError):
                    resets_done += client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

        resets = asyncio.create_task(reset())
        claims: list[Claim] = []
        draw = random.Random(1)
        values = [draw.getrandbits(64) for _ in range(300)]
        for start in range(0, 600, 12):
            some = range(start, start + 12)
            pages = [posting(f"{number}", values[number // 2], page_hash=number // 2) for number in some]
            stores = [one if number % 2 else other for number in some]
            asked = [store.claim(page) for store, page in zip(stores, pages, strict=True)]
            claims += await asyncio.gather(*asked)
            await asyncio.sleep(0.005)
        is_done = True
        await resets
        assert resets_done > 6
    assert Counter((claim.former is None, claim.original is None) for claim in claims) == {
        (True, True): 300,
        (True, False): 300,
    }
    client = admin(shared.url)
    assert (client.hlen(f"{prefix}:pages"), client.hget(f"{prefix}:header", "next")) == (601, b"600")
