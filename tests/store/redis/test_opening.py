"""Opening a store on a server: refused, unchanged and logged cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreUnavailable
from scrapy_simhash.notes import PAGE, SITE, Note
from scrapy_simhash.store import Header
from scrapy_simhash.store.redis import RedisStore
from scrapy_simhash.store.redis.layout import KEYS, VERSION
from tests.store.cases import FAR, content, posting
from tests.store.redis.stores import HEADER, abandon, admin, opened, waits
from tests.store.server import RedisServer

pytestmark = pytest.mark.usefixtures("client")


# --- Connections.


@waits
async def test_a_password_grants_access_and_a_wrong_one_is_reported_at_the_start(tmp_path: Path) -> None:
    with RedisServer(tmp_path, requirepass="secret") as server:
        async with opened(server.url.replace("//", "//:secret@"), "p") as store:
            store.check()
            assert (await store.claim(posting("a", content(0)))).cluster == 0
        async with opened(f"{server.url}?password=secret", "p") as store:
            assert (await store.look(posting("a", content(0)))).former
        for url in (server.url, server.url.replace("//", "//:wrong@")):
            store = RedisStore(url, "p", HEADER)
            with pytest.raises(StoreError, match="denies access") as caught:
                store.check()
            assert not isinstance(caught.value, StoreUnavailable)
            assert "wrong@" not in str(caught.value)
            with pytest.raises(StoreUnavailable, match="denies access"):
                await store.claim(posting("b", content(0)))
            await abandon(store)


# --- Existing data.


def dump(server: RedisServer, prefix: str) -> dict[bytes, bytes]:
    client = admin(server.url)
    return {key: client.dump(key) for key in sorted(client.keys(f"{prefix}*"))}


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (["SET {}:pages mine"], "has no header, but contains the key .*:pages"),
        (["LPUSH {}:header mine"], "a key that does not belong to a store"),
        (["RPUSH {}:log a"], "has no header, but contains the key .*:log"),
        (["HSET {}:pages a b"], "has no header, but contains the key .*:pages"),
        (
            ["HSET {}:header id 12345678 version 7 header {{}}"],
            "another release .*: its layout has version 7, this .* Set SIMHASH_RESET = True to delete the store",
        ),
        (["HSET {}:header id 12345678 version {version} header {{}}"], "header that cannot be read"),
        (["HSET {}:header id 12345678 version {version} header what"], "header that cannot be read"),
        (
            ['HSET {}:header id 12345678 version {version} header {{"rule":"classic","later":1}}'],
            "unknown fields: later. A newer release wrote it",
        ),
        (["HSET {}:header id 12345678"], "header that cannot be read"),
    ],
)
@waits
async def test_a_file_that_is_not_a_store_is_refused_and_not_changed(
    shared: RedisServer, prefix: str, commands: list[str], message: str
) -> None:
    client = admin(shared.url)
    for command in commands:
        client.execute_command(*command.format(prefix, version=VERSION).split())
    before = dump(shared, prefix)
    for read_only in (False, True):
        async with opened(shared.url, prefix, read_only=read_only) as store:
            with pytest.raises(StoreDamaged, match=message):
                store.check()
            with pytest.raises(StoreDamaged, match=message):
                await store.look(posting("a", content(0)))
    assert dump(shared, prefix) == before


@waits
async def test_a_reset_empties_the_store_once(server: RedisServer) -> None:
    client = admin(server.url)
    async with opened(server.url, "p", Header("web-0")) as old:
        await old.claim(posting("a", content(0)))
        await old.claim(posting("b", 5, is_short=True))
    client.hset("p:header", "version", VERSION - 1)
    async with opened(server.url, "p", reset=True) as store:
        store.check()
        assert (await store.claim(posting("b", content(FAR)))).cluster == 0
        server.kill()
        server.start()
    async with opened(server.url, "p", reset=True) as store, opened(server.url, "p") as other:
        # Also without an earlier check, and only once.
        assert (await store.claim(posting("c", content(0)))).cluster == 0
        assert (await other.claim(posting("d", content(1)))).original
        client.flushdb()
        # A number that this store has used is not used again.
        assert (await store.claim(posting("d", content(0)))).cluster == 1
        assert (await other.claim(posting("c", content(0)))).original


@waits
async def test_a_reset_keeps_other_keys(server: RedisServer) -> None:
    client = admin(server.url)
    foreign = dict.fromkeys(["p", "p:", "p:pages2", "p:queue", "pp:pages"], b"x")
    client.mset(foreign)
    async with opened(server.url, "p:pages") as neighbour:
        await neighbour.claim(posting("a", content(0)))
    async with opened(server.url, "p") as store:
        await store.claim(posting("a", content(0), page_hash=1))
        await store.claim(posting("c", content(0), page_hash=2))
        await store.claim(posting("b", 5, is_short=True))
        await store.replace_notes(SITE, [Note("a.example", 0, b"profile")])
        await store.replace_notes(PAGE, [Note(b"a", 0, b"about")])
        assert set(KEYS) <= {key.decode().removeprefix("p:") for key in client.keys("*")}
    RedisStore(server.url, "p", HEADER, reset=True).check()
    left = {key.decode() for key in client.keys("*")}
    assert left == {*foreign, *(f"p:pages:{key}" for key in KEYS)}


@waits
async def test_a_reader_of_a_missing_store_creates_nothing(shared: RedisServer, prefix: str) -> None:
    async with opened(shared.url, prefix, read_only=True) as reader:
        reader.check()
        assert (await reader.look(posting("a", content(0)))).cluster == 0
        assert await reader.get(b"a") is None
        assert await reader.runs() == []
        assert [page async for page in reader] == []
        assert dump(shared, prefix) == {}
        async with opened(shared.url, prefix) as writer:
            await writer.claim(posting("a", content(0)))
            assert (await reader.look(posting("b", content(0)))).original


@pytest.mark.parametrize("denied", ["hset", "hdel"])
@pytest.mark.parametrize("is_there", [False, True])
@waits
async def test_a_user_without_write_permission_is_refused_before_anything_is_stored(
    is_there: bool, denied: str, server: RedisServer
) -> None:
    client = admin(server.url)
    if is_there:
        async with opened(server.url, "p") as store:
            await store.claim(posting("a", content(0)))
    before = {key: client.dump(key) for key in client.keys("*")}
    commands = ["+@all", f"-{denied}"]
    client.acl_setuser("crawler", enabled=True, passwords=["+x"], keys=["p:*"], commands=commands)
    async with opened(server.url.replace("//", "//crawler:x@"), "p") as store:
        with pytest.raises(StoreError, match="denies access"):
            store.check()
        with pytest.raises(StoreUnavailable, match="denies access"):
            await store.claim(posting("b", content(FAR)))
    assert {key: client.dump(key) for key in client.keys("*")} == before
