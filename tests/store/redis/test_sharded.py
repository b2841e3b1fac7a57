"""The store on a cluster: shards by scope on several nodes behave like one store."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.exceptions import SettingError, StoreError, StoreMismatch, StoreUnavailable
from scrapy_simhash.notes import RULES, SITE, Note
from scrapy_simhash.store import Header, Posting
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.redis import store as stores
from scrapy_simhash.store.redis.client import Client, Server
from scrapy_simhash.store.redis.store import shard_of
from tests.store.cases import SECOND_LOOK, content, header, posting
from tests.store.cluster import RedisCluster, cluster_without_replicas
from tests.store.redis.stores import admin, eventually, opened, waits
from tests.store.server import RedisServer

pytestmark = pytest.mark.usefixtures("client")

HEADER = replace(header(SECOND_LOOK), scope="domain")
SHARDS = 12
SCOPES = [f"{number}.example" for number in range(40)]


def sharded(
    cluster: RedisCluster, prefix: str, header: Header | None = HEADER, **options: Any
) -> AbstractAsyncContextManager[RedisStore]:
    return opened(cluster.url, prefix, header, **{"shards": SHARDS, **options})


def pages(copy: str = "", **options: Any) -> list[Posting]:
    """Return one page per scope, all with the same text; in its scope each has only copies with other names."""
    return [posting(f"{scope}{copy}", content(7), scope, **options) for scope in SCOPES]


def profile_of(scope: str) -> bytes:
    return scope.encode().ljust(17)


@waits
async def test_pages_are_compared_within_their_scope_whatever_its_shard(
    lone: RedisCluster, prefix: str
) -> None:
    async with sharded(lone, prefix) as one, sharded(lone, prefix) as other:
        claims = await asyncio.gather(*[store.claim(page) for page in pages() for store in (one, other)])
        copies = await asyncio.gather(*[other.claim(page) for page in pages("/copy")])
    assert Counter(claim.original for claim in claims)[None] == 2 * len(SCOPES)
    assert Counter(claim.former is None for claim in claims) == {True: len(SCOPES), False: len(SCOPES)}
    assert [claim.original for claim in copies] == [page.url for page in pages()]
    # Cluster numbers are unique, although every shard counts from 0.
    assert len({claim.cluster for claim in copies}) == len(SCOPES)


@waits
async def test_idle_shards_are_unloaded_and_read_again(
    lone: RedisCluster, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "LOADED", 3)
    async with sharded(lone, prefix) as store:
        for page in pages():
            await store.claim(page)
        assert sum(one._replica is not None for one in store._shards.values()) <= 3
        assert store.index_size == len(SCOPES)
        copies = [await store.claim(page) for page in pages("/copy")]
        assert [claim.original for claim in copies] == [page.url for page in pages()]
        # All at once: more shards than are kept in memory.
        again = await asyncio.gather(*[store.claim(page) for page in pages("/again")])
    assert [claim.original for claim in again] == [page.url for page in pages()]


@pytest.mark.slow("a node is down for some seconds")
@waits
async def test_an_unavailable_node_only_affects_its_scopes(tmp_path: Path) -> None:
    with cluster_without_replicas(tmp_path, nodes=2) as cluster:
        gone = cluster.nodes[1]
        ports = {scope: cluster.port_of(f"{{away:{shard_of(scope, SHARDS)}}}") for scope in SCOPES}
        assert set(ports.values()) == {node.port for node in cluster.nodes}
        async with sharded(cluster, "away") as store:
            await asyncio.gather(*[store.claim(page) for page in pages()])
            gone.kill()
            copies = pages("/copy", page_hash=1)
            answers = await asyncio.gather(*[store.claim(page) for page in copies], return_exceptions=True)
            for scope, answer in zip(SCOPES, answers, strict=True):
                assert isinstance(answer, StoreUnavailable) == (ports[scope] == gone.port), answer
            assert store.absence is not None
            gone.start()
            for page in pages("/again"):
                assert (await eventually(lambda page=page: store.claim(page))).original is not None  # type: ignore[misc]
            assert store.absence is None
            await store.close()


@waits
async def test_a_reader_has_pages_sites_and_runs_of_all_shards(lone: RedisCluster, prefix: str) -> None:
    async with sharded(lone, prefix) as store:
        store.check()
        await asyncio.gather(*[store.claim(page) for page in pages()])
        for scope in SCOPES[:5]:
            assert await store.note(SITE, scope) == (0, None)
            assert await store.replace_notes(SITE, [Note(scope, 0, profile_of(scope))])
        await store.close("shutdown")
    async with sharded(lone, prefix, None, shards=None, read_only=True) as reader:
        reader.check()
        assert (len(reader), reader.header) == (len(SCOPES), HEADER)
        assert {page.url async for page in reader} == {page.url for page in pages()}
        assert reader.index_size == len(SCOPES)
        assert {host: profile async for host, profile in reader.notes(SITE)} == {
            scope: profile_of(scope) for scope in SCOPES[:5]
        }
        (run,) = await reader.runs()
        assert (run.number, run.reason) == (1, "shutdown")
        assert run.ended is not None
        assert reader.damaged_records == []
        with pytest.raises(StoreError, match="read-only"):
            await reader.claim(pages()[0])


@waits
async def test_the_model_of_a_site_is_in_the_shard_of_its_pages(lone: RedisCluster, prefix: str) -> None:
    site = "example.com"
    async with sharded(lone, prefix) as store:
        for name in (site, f"www.{site}"):
            await store.replace_notes(SITE, [Note(name, 0, profile_of(name))])
            await store.replace_notes(RULES, [Note(name, 0, b"rules")])
        assert set(store._shards) <= {0, shard_of(site, SHARDS)}


@waits
async def test_a_page_is_delivered_in_its_shard_even_if_the_shard_is_unknown(
    lone: RedisCluster, prefix: str
) -> None:
    async with sharded(lone, prefix) as store:
        await asyncio.gather(*[store.claim(page) for page in pages(page_hash=1)])
        store._shard_by_page.pop(pages()[1].key)
        await store.deliver({page.key: 1 for page in pages()[:2]})
        await store.close()
    async with sharded(lone, prefix) as store:
        former = [(await store.claim(page)).former for page in pages(page_hash=1)[:3]]
        assert [visit and visit.delivered is not None for visit in former] == [True, True, False]


@waits
async def test_a_store_is_emptied_in_all_shards_or_not_opened(lone: RedisCluster, prefix: str) -> None:
    async with sharded(lone, prefix) as store:
        await asyncio.gather(*[store.claim(page) for page in pages()])
    async with sharded(lone, prefix, shards=5) as store:
        with pytest.raises(StoreMismatch, match=r"has 12 shards, not 5\. Nothing was changed"):
            store.check()
    async with sharded(lone, prefix, header=replace(HEADER, scope="host")) as store:
        with pytest.raises(StoreMismatch, match="SIMHASH_SCOPE is 'domain' there, 'host' here"):
            store.check()
    async with sharded(lone, prefix, shards=5, reset=True) as store:
        store.check()
        assert len(store) == 0
        claims = await asyncio.gather(*[store.claim(page) for page in pages()])
    assert {claim.former for claim in claims} == {None}


def test_pages_that_cannot_be_split_into_shards_are_refused_with_the_reason(
    lone: RedisCluster, prefix: str
) -> None:
    with pytest.raises(SettingError, match="SIMHASH_SCOPE = 'crawl' would store all pages in one shard"):
        RedisStore(lone.url, prefix, header(SECOND_LOOK), shards=SHARDS)
    with pytest.raises(SettingError, match=r"must not contain \{"):
        RedisStore(lone.url, "a{b", HEADER)
    with pytest.raises(StoreError, match="no such store"):
        RedisStore(lone.url, prefix, None, read_only=True).check()


def test_a_server_that_is_not_a_cluster_or_denies_access_is_reported(
    tmp_path: Path, shared: RedisServer
) -> None:
    store = RedisStore(cluster_at(shared), "p", HEADER)
    with pytest.raises(StoreError, match="is not a Redis Cluster"):
        store.check()
    with RedisServer(tmp_path, requirepass="secret") as server:
        with pytest.raises(StoreError, match="denies access"):
            RedisStore(cluster_at(server), "p", HEADER).check()
        with pytest.raises(StoreError, match="is not a Redis Cluster"):
            RedisStore(cluster_at(server, ":secret@"), "p", HEADER).check()
    with pytest.raises(StoreUnavailable):
        RedisStore(cluster_at(server), "p", HEADER).check()


def cluster_at(server: RedisServer, user: str = "") -> str:
    return f"redis+cluster://{user}127.0.0.1:{server.port}"


@waits
async def test_the_original_of_a_copy_is_read_from_its_shard_only(lone: RedisCluster, prefix: str) -> None:
    server = admin(lone.nodes[0].url)
    async with sharded(lone, prefix) as one, sharded(lone, prefix) as other:
        await asyncio.gather(*[one.claim(page) for page in pages()])
        keys = [(await other.claim(page)).original_key for page in pages("/copy")]
        before = server.info("commandstats").get("cmdstat_hexists", {"calls": 0})["calls"]
        assert all([key is not None and await other.get(key) for key in keys])
        assert server.info("commandstats").get("cmdstat_hexists", {"calls": 0})["calls"] == before


@waits
async def test_commands_are_sent_again_if_redis_py_closes_their_connections(lone: RedisCluster) -> None:
    client = Client(Server(lone.url), "the store", 10)

    async def get(steps: int) -> Any:
        for _ in range(steps):
            await asyncio.sleep(0)
        return await client.ask("GET", "absent")

    try:
        for steps in range(6):
            await asyncio.gather(*[get(0) for _ in range(20)])
            # redis-py does this when it reads the nodes again, as after a failover.
            closing = [node.disconnect_free_connections() for node in client._client.get_nodes()]
            replies = await asyncio.gather(*closing, *[get(steps) for _ in range(20)])
            assert set(replies) == {None}
    finally:
        await client.close()
