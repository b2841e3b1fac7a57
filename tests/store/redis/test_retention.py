"""Pages that were not seen for a time are removed when a store is opened; pages and hosts are removed by
name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from scrapy_simhash.store.redis import shard as shards
from tests.store.cases import content, posting
from tests.store.cluster import RedisCluster
from tests.store.redis.stores import admin, opened, waits
from tests.store.redis.test_sharded import pages, sharded
from tests.store.server import RedisServer

DAY = 86_400


@waits
async def test_events_of_removed_pages_are_deleted_and_running_crawlers_read_the_log_again(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shards, "MAX_DEAD", 3)
    client = admin(shared.url)
    async with opened(shared.url, prefix) as running:
        for text in "abcd":
            await running.claim(posting(text, content(0, text=text)))
        for key in (b"b", b"d"):
            await running.remove(key)
        assert client.xlen(f"{prefix}:log") == 6
        async with opened(shared.url, prefix) as other:
            assert (await other.claim(posting("x", content(0, text="c")))).original == posting("c", 0).url
            assert client.xlen(f"{prefix}:log") == 2
            assert (await running.claim(posting("y", content(0, text="d")))).cluster == 5
            assert (await running.claim(posting("z", content(0, text="a")))).original == posting("a", 0).url
            assert (await other.claim(posting("y", content(0, text="d")))).former is not None
            assert (running.index_size, other.index_size, len(other)) == (3, 3, 5)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@waits
async def test_all_shards_of_a_cluster_are_read(lone: RedisCluster, prefix: str) -> None:
    def at(seen: int) -> list[Any]:
        return [page._replace(seen=seen) for page in pages()]

    now = int(time.time())
    async with sharded(lone, prefix) as store:
        await asyncio.gather(*[store.claim(page) for page in [*at(1)[:20], *at(now)[20:]]])
        assert await store.remove_host("example.com") == 40
        await asyncio.gather(*[store.claim(page) for page in [*at(1)[:20], *at(now)[20:]]])
    async with sharded(lone, prefix, keep=DAY) as store:
        claims = await asyncio.gather(*[store.claim(page) for page in pages()])
        assert [claim.former is None for claim in claims] == [True] * 20 + [False] * 20
