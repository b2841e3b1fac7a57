"""Claims that are sent again because their reply was lost have the results of a single claim."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from scrapy_simhash.store import Claim, Posting
from scrapy_simhash.store.redis.client import Client, scripts
from tests.examples import examples
from tests.store.cases import FACTS, FAR, content, posting, unique_text
from tests.store.redis.stores import admin, opened, waits
from tests.store.server import RedisServer


def lose_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute every claim twice, as if the first reply was lost."""
    reply = Client._reply

    async def lossy(self: Client, *command: Any) -> Any:
        if scripts()["claim"][1] in command:
            await reply(self, *command)
        return await reply(self, *command)

    monkeypatch.setattr(Client, "_reply", lossy)


def some_pages(draw: random.Random) -> list[Posting]:
    """Return pages that are new, near-duplicates, equal, short, or visited again in the same second."""
    pages = []
    for number in range(40):
        value = draw.choice((0, 1, 3, FAR, FAR + 1))
        fingerprint = content(value, edited=draw.choice((0, 10, 60, 300)), facts=draw.choice(FACTS))
        if draw.random() < 0.3:
            fingerprint = replace(
                fingerprint, own=unique_text(draw.choice((1, 2)), draw.choice((0, 10, 300)))
            )
        is_short, page_hash = draw.random() < 0.2, draw.choice((None, 1, 2, 3))
        key = str(draw.choice((number, number, number, draw.randrange(number + 1))))
        is_delivered = draw.random() < 0.8
        pages.append(posting(key, fingerprint, "", is_short, page_hash, number // 8, is_delivered))
    return pages


@pytest.mark.parametrize("seed", range(examples(10)))
def test_a_claim_that_is_sent_twice_is_stored_once(
    seed: int, shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = some_pages(random.Random(seed))

    async def claims_of(name: str) -> list[Claim]:
        async with opened(shared.url, name) as store:
            return [await store.claim(page) for page in pages]

    expected = asyncio.run(claims_of(f"{prefix}:once"))
    lose_replies(monkeypatch)
    claims = asyncio.run(claims_of(f"{prefix}:twice"))
    # The cached rows have another random version.
    assert [claim._replace(nearest=None) for claim in claims] == [
        one._replace(nearest=None) for one in expected
    ]
    client = admin(shared.url)
    once, twice = f"{prefix}:once", f"{prefix}:twice"
    assert client.hgetall(f"{twice}:texts") == client.hgetall(f"{once}:texts")
    rows = [{key: row[4:] for key, row in client.hgetall(f"{name}:pages").items()} for name in (once, twice)]
    assert rows[0] == rows[1]
    events = [
        [(position, event[b"e"][5:]) for position, event in client.xrange(f"{name}:log")]
        for name in (once, twice)
    ]
    assert events[0] == events[1]


@waits
async def test_a_page_that_is_requested_twice_in_a_second_is_a_revisit(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = posting("a", content(0), page_hash=1)
    async with opened(shared.url, prefix) as store:
        assert (await store.claim(page)).former is None
        assert (await store.claim(page)).former
        lose_replies(monkeypatch)
        assert (await store.claim(page)).former
