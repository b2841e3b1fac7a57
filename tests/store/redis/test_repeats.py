"""Claims that are sent again because their reply was lost: they are answered as if they had been sent once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from scrapy_simhash.store import Claim, Posting
from scrapy_simhash.store.redis.line import ConnectionLost
from scrapy_simhash.store.redis.nodes import Nodes
from tests.examples import examples
from tests.store.cases import FACTS, FAR, content, own_part, posting
from tests.store.redis.stores import admin, opened, waits
from tests.store.server import RedisServer

HASHES = ("pages", "contents", "short", "texts", "copies")


def lose_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every claim be executed, and its first reply be lost."""
    ask = Nodes._ask

    async def lossy(self: Nodes, shard: int, name: str, *arguments: Any) -> Any:
        reply = await ask(self, shard, name, *arguments)
        if name == "claim" and arguments[-1] != b"again":
            raise ConnectionLost("the reply was lost")
        return reply

    monkeypatch.setattr(Nodes, "_ask", lossy)


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
        assert kept == once_kept, name
    assert client.llen(f"{prefix}:twice:events") == client.llen(f"{prefix}:once:events")


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
        is_done = False

        async def reset() -> None:
            client = admin(shared.url)
            while not is_done:
                await asyncio.sleep(0.03)
                with suppress(ConnectionError):
                    client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

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
        assert one._nodes.connections + other._nodes.connections > 6
    assert Counter((claim.former is None, claim.original is None) for claim in claims) == {
        (True, True): 300,
        (True, False): 300,
    }
    assert admin(shared.url).hlen(f"{prefix}:contents") == 300
