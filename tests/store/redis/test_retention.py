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
async def test_pages_not_seen_for_a_time_are_removed_at_opening(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shards, "_KEEP_STEP", 3)
    caplog.set_level(logging.INFO, "scrapy_simhash")
    now = int(time.time())
    async with opened(shared.url, prefix) as running:
        for number in range(50):
            what = content((number * 0x9E37_79B9_7F4A_7C15) % 2**64, text=str(number))
            age = 100 * DAY if number % 2 else DAY
            await running.claim(posting(str(number), what, page_hash=number, seen=now - age))
        await running.claim(posting("old copy", content(0, text="0"), seen=now - 100 * DAY))
        await running.claim(posting("short", 7, is_short=True, seen=now - 100 * DAY))
        await running.touch([(b"1", now)])
        async with opened(shared.url, prefix, keep=90 * DAY, read_only=True) as reader:
            assert await reader.get(b"3") is not None, "a reader removes nothing"
        async with opened(shared.url, prefix, keep=90 * DAY) as store:
            await store.runs()
            assert (len(store), store.index_size) == (26, 26)
            assert [await store.get(key) for key in (b"3", b"old copy", b"short")] == [None] * 3
            assert await store.get(b"1") is not None, "unchanged visits count"
            texts = admin(shared.url).hlen(f"{prefix}:texts")
            assert texts == 1 + 26, "only of existing pages"
            # The crawler that was already running has received the event.
            copy = content((3 * 0x9E37_79B9_7F4A_7C15) % 2**64, text="3")
            claim = await running.claim(posting("x", copy, page_hash=3))
            assert (claim.original, claim.cluster) == (None, 52), "numbers are not used again"
            assert running.index_size == 27
            assert (await store.claim(posting("y", copy))).original == posting("x", 0).url
    assert [line for line in caplog.messages if "removed" in line] == [
        f"the store {prefix!r} at {shared.url}: removed 26 pages that were not seen again"
    ]


@waits
async def test_a_pause_or_a_wrong_clock_removes_nothing(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = int(time.time())
    async with opened(shared.url, prefix) as store:
        await store.claim(posting("a", content(0), seen=now - 80 * DAY))
    for years in (50, -50, 1):
        monkeypatch.setattr(time, "time", lambda years=years: now + years * 365 * DAY)
        async with opened(shared.url, prefix, keep=90 * DAY) as store:
            assert await store.get(b"a") is not None, years
            await store.runs()
        admin(shared.url).hdel(f"{prefix}:runs", f"{(50, -50, 1).index(years) + 2}")


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
