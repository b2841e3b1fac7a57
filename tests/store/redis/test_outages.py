"""The server is down, hangs, is full or loses data. Pages are kept uncompared, and the store continues when the
server is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store.redis import store as redis_store
from tests.store.cases import FAR, content, posting
from tests.store.redis.stores import (
    HEADER,
    admin,
    after_each_command,
    eventually,
    lose_patience,
    opened,
    waits,
)
from tests.store.server import RedisServer


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def become_full(server: RedisServer) -> None:
    admin(server.url).config_set("maxmemory", "1kb")


def have_room(server: RedisServer) -> None:
    admin(server.url).config_set("maxmemory", "0")


def become_a_replica(server: RedisServer) -> None:
    admin(server.url).execute_command("REPLICAOF", "127.0.0.1", "1")


def become_a_master(server: RedisServer) -> None:
    admin(server.url).execute_command("REPLICAOF", "NO", "ONE")


@pytest.mark.parametrize(
    ("begin", "end", "message"),
    [
        (RedisServer.kill, RedisServer.start, "does not answer"),
        (RedisServer.pause, RedisServer.resume, "does not answer"),
        (become_full, have_room, "OOM|maxmemory"),
        (become_a_replica, become_a_master, "read only"),
    ],
)
@waits
async def test_a_failing_server_is_unavailable_for_a_time_and_nothing_is_lost(
    begin: Callable[[RedisServer], None],
    end: Callable[[RedisServer], None],
    message: str,
    server: RedisServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened(server.url, "p") as store:
        first = await store.claim(posting("a", content(0)))
        lose_patience(store)
        begin(server)
        for _ in range(300):
            # Fails at once: three hundred timeouts would take minutes.
            with pytest.raises(StoreUnavailable, match=message) as caught:
                await store.claim(posting("x", content(FAR)))
            assert "script" not in str(caught.value), "the hash of a script does not explain the error"
        end(server)
        copy = await eventually(lambda: store.claim(posting("b", content(1))))
        assert (copy.original, copy.cluster) == (posting("a", 0).url, first.cluster)
        # A claim sent to a stopped server may have been stored; no other refused claim was.
        assert len(store) == 2 or (begin is RedisServer.pause and len(store) == 3)
        assert [run.number for run in await store.runs()] == [1], "it is the same run"
    assert warnings(caplog) == []


@waits
async def test_a_claim_in_progress_when_the_server_dies_is_not_stored(server: RedisServer) -> None:
    async with opened(server.url, "p", timeout=20) as store:
        await store.runs()
        server.pause()
        tasks = [asyncio.ensure_future(store.claim(posting(str(i), content(i << 20)))) for i in range(100)]
        await asyncio.sleep(0.1)
        server.kill()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(claim) for claim in done} == {StoreUnavailable}
        server.start()
        await eventually(lambda: store.claim(posting("x", content(FAR))))


@waits
async def test_a_server_that_comes_back_empty_is_a_new_store(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(server.url, "p") as store, opened(server.url, "p") as other:
        await store.claim(posting("a", content(0)))
        await other.claim(posting("b", content(FAR, text="x")))
        server.lose()
        assert (await eventually(lambda: store.claim(posting("b", content(FAR, text="x"))))).cluster == 1
        assert (len(store), store.index_size) == (1, 1)
        assert (await eventually(lambda: other.claim(posting("a", content(0))))).cluster == 2
        assert sorted(run.number for run in await other.runs()) == [1, 2]
    lines = warnings(caplog)
    assert len(lines) == 2, "one of each store"
    assert all("has lost stored pages" in line for line in lines)


@waits
async def test_pages_whose_events_a_server_lost_are_detected(
    server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backup = tmp_path / "backup"
    async with opened(server.url, "p") as store, opened(server.url, "p") as other:
        await store.claim(posting("a", content(0)))
        await other.runs()
        server.back_up(backup)
        # A copy and a short page do not change the log.
        assert (await store.claim(posting("b", content(0)))).cluster == 0
        assert (await store.claim(posting("c", 5, is_short=True))).cluster == 2
        server.lose(backup)
        assert (await other.claim(posting("d", 6, is_short=True))).cluster == 1, "one page was visited"
        assert (await store.claim(posting("e", 7, is_short=True))).cluster == 3
        assert (await store.claim(posting("f", content(0)))).original == posting("a", 0).url
        assert (await other.claim(posting("g", 8, is_short=True))).cluster == 5
        assert [
            page.posting.key if page else None for page in [await store.get(b"b"), await store.get(b"e")]
        ] == [None, b"e"]
        assert [run.number for run in await store.runs()] == [1, 2]
    assert [line.partition(" has ")[2][:17] for line in warnings(caplog)] == ["lost stored pages"]


@waits
async def test_a_server_that_comes_back_with_a_part_of_its_data_is_accepted(
    server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backup = tmp_path / "backup"
    async with opened(server.url, "p") as one, opened(server.url, "p") as other:
        await one.claim(posting("a", content(0)))
        await other.runs()
        server.back_up(backup)
        for store in (one, other):
            await eventually(store.runs)
        await one.claim(posting("b", content(FAR, text="b")))
        await other.claim(posting("c", content(0, text="c")))
        server.lose(backup)
        # A different log of the same length: the first crawler must not trust its replica.
        for store in (other, one):
            await eventually(store.runs)
        await other.claim(posting("d", content(FAR, text="d")))
        await other.claim(posting("e", content(0, text="e")))
        assert (await one.claim(posting("f", content(FAR, text="b")))).original is None
        assert (await one.claim(posting("g", content(0, text="e")))).original == posting("e", 0).url
        assert (await one.claim(posting("h", content(0)))).original == posting("a", 0).url
        assert one.index_size == 4
    assert {line.partition(" has ")[2][:17] for line in warnings(caplog)} == {"lost stored pages"}


@pytest.mark.parametrize("moment", ["HSCAN", "get"])
@waits
async def test_pages_lost_during_iteration_end_it(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    async with opened(server.url, "p") as store:
        await store.claim(posting("a", content(0)))

        def lose(name: str) -> None:
            if name == moment:
                admin(server.url).flushdb()

        after_each_command(store, monkeypatch, lose)
        with pytest.raises(StoreUnavailable, match="while it was read"):
            [page async for page in store]


@waits
async def test_sketches_beyond_the_cache_are_fetched_again(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "FINGERPRINTS", 1)
    async with opened(server.url, "p", HEADER) as store:
        for text in "abcdef":
            await store.claim(posting(text, content(0, text=text)))
        for text in "abcdef":
            claim = await store.claim(posting(f"copy of {text}", content(0, text=text)))
            assert claim.original == posting(text, 0).url
        replica = await store._shard(0).ready()
        assert sum(replica.row(number) is not None for number in range(12)) == 1
