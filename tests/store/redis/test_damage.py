"""One damaged record costs one page: no script fails, nothing goes round for ever, and a rescue reads the rest."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest

from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.cases import url
from tests.store.damaged import OTHERS, PAGES, page, told, with_own
from tests.store.redis.stores import HEADER, admin, opened, waits
from tests.store.server import RedisServer


async def fill(url: str, prefix: str) -> None:
    store = RedisStore(url, prefix, HEADER)
    for one in PAGES:
        await store.claim(one)
    await store.close()


#: Ways to damage the bytes of a record.
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda record: b"",
    "a byte": lambda record: b"?",
    "half": lambda record: record[: len(record) // 2],
    "shorter": lambda record: record[:-1],
    "longer": lambda record: record + b"\xff",
    "ones": lambda record: b"\xff" * len(record),
    "zeros": bytes,
    "another kind": lambda record: (
        b"the value of another program, long enough to be taken for a record of ours"
    ),
}


def fields() -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    """Yield ways to damage each field of a record, by byte of its head."""
    for start, end in ((0, 8), (8, 16), (16, 24), (24, 28), (28, 29), (29, 37), (37, 45), (45, 53)):
        yield f"bytes {start} to {end}", partial(overwritten, start, end)
        yield f"bits of {start} to {end}", partial(flipped, end - 1)


def overwritten(start: int, end: int, record: bytes) -> bytes:
    return record[:start] + b"\xff" * (end - start) + record[end:]


def flipped(place: int, record: bytes) -> bytes:
    return (
        record[:place] + bytes([record[place] ^ 0x15]) + record[place + 1 :] if place < len(record) else b""
    )


ALL_WAYS = {**WAYS, **dict(fields())}


async def other_pages(server: str, prefix: str) -> list[tuple[object, ...]]:
    store = RedisStore(server, prefix, HEADER)
    await store.unsettle([b"a", b"b", b"d"])
    answers = [told(await store.claim(one)) for one in OTHERS]
    for one in (PAGES[0], PAGES[1], page("x", with_own(1, own=1 << 60 | 1, edited=9))):
        with suppress(RecordDamaged):
            claim = await store.claim(one)
            assert claim.original != one.url
        with suppress(RecordDamaged):
            await store.get(one.key)
        with suppress(RecordDamaged):
            await store.look(one)
    await store.unsettle([b"a", b"b"])
    await store.close()
    return answers


@pytest.fixture(scope="module")
def sound(shared: RedisServer) -> list[tuple[object, ...]]:
    """What the others are told by a store in which nothing is damaged."""

    async def ask() -> list[tuple[object, ...]]:
        await fill(shared.url, "sound")
        return await other_pages(shared.url, "sound")

    return asyncio.run(ask())


@pytest.mark.parametrize("way", ALL_WAYS.values(), ids=ALL_WAYS)
@pytest.mark.parametrize("kind", ["pages", "contents", "events", "short"])
@waits
async def test_a_damaged_record_costs_its_page_and_no_other(
    kind: str,
    way: Callable[[bytes], bytes],
    shared: RedisServer,
    prefix: str,
    sound: list[tuple[object, ...]],
) -> None:
    await fill(shared.url, prefix)
    client, name = admin(shared.url), f"{prefix}:{kind}"
    if kind == "events":
        client.lset(name, 0, way(client.lindex(name, 0)))
    else:
        field = {"pages": "a", "contents": "0"}.get(kind) or client.hkeys(name)[0]
        client.hset(name, field, way(client.hget(name, field)))
    answers = await other_pages(shared.url, prefix)
    # Of short pages only that they have the same text is not known any more.
    unlike = slice(2, 4) if kind == "short" else slice(0)
    del answers[unlike]
    assert answers == [answer for answer in sound if answer not in sound[unlike]]
    store = RedisStore(shared.url, prefix, HEADER, read_only=True)
    found = [one.key async for one in store]
    assert {b"c", b"d", b"e", b"f", b"g", b"h"} <= set(found)
    await store.close()
    async with opened(shared.url, prefix) as store:
        for key in (b"a", b"b", b"c"):
            with suppress(RecordDamaged):
                await store.remove(key)


@pytest.mark.parametrize("kind", ["runs", "header"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@waits
async def test_damaged_runs_and_headers_raise_store_errors_only(
    kind: str, way: Callable[[bytes], bytes], shared: RedisServer, prefix: str
) -> None:
    await fill(shared.url, prefix)
    client, name = admin(shared.url), f"{prefix}:{kind}"
    for field, value in client.hgetall(name).items():
        client.hset(name, field, way(value))
        # The end waits so long for a server that cannot be opened.
        store = RedisStore(shared.url, prefix, HEADER, live=60, timeout=0.5)
        with suppress(StoreError):
            await store.claim(PAGES[0])
        with suppress(StoreError):
            await store.claim(page("new", 1 << 40))
        with suppress(StoreError):
            await store.runs()
        with suppress(StoreError):
            await store.unsettle([b"a"])
        with suppress(StoreError):
            await store.close()
        client.hset(name, field, value)


@pytest.mark.parametrize("before", [3, 4, 2, 99])
@waits
async def test_a_content_that_names_itself_as_its_predecessor_ends_nothing(
    before: int, shared: RedisServer, prefix: str
) -> None:
    await fill(shared.url, prefix)
    client, contents = admin(shared.url), f"{prefix}:contents"
    record = client.hget(contents, "2")
    assert record is not None
    client.hset(contents, "2", record[:8] + struct.pack(">Q", before) + record[16:])
    async with opened(shared.url, prefix) as store:
        assert {b"a", b"b", b"c", b"d"} <= {one.key async for one in store}
        assert await store.remove(b"c")
        assert await store.get(b"a") is not None
        assert (await store.claim(page("again", with_own(0, own=1 << 60)))).original == url("a")


@waits
async def test_each_damaged_record_is_named_once(
    shared: RedisServer, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(shared.url, prefix)
    admin(shared.url).hset(f"{prefix}:pages", "a", b"?")
    async with opened(shared.url, prefix) as store:
        for _ in range(3):
            with pytest.raises(RecordDamaged, match=r"is damaged: page with key 61$"):
                await store.claim(PAGES[0])
            assert (await store.claim(PAGES[1])).original is None, "nobody repeats what is damaged"
            [_ async for _ in store]
        assert len(store.damage) == 1
    assert [record.getMessage() for record in caplog.records if "left out" in record.getMessage()] == [
        f"{store}: a damaged record is left out: page with key 61. All other pages are compared as before."
        " scrapy-simhash info --check reads all records"
    ]


@waits
async def test_counters_that_are_behind_put_nothing_in_the_place_of_others(
    shared: RedisServer, prefix: str
) -> None:
    await fill(shared.url, prefix)
    client = admin(shared.url)
    before = client.hgetall(f"{prefix}:contents")
    client.hset(f"{prefix}:header", "contents", "1")
    async with opened(shared.url, prefix) as store:
        with pytest.raises(RecordDamaged, match="the counters in its header"):
            await store.claim(page("new", 0xAAAA_5555_AAAA_5555))
        assert (await store.claim(PAGES[4])).original == url("c")
    assert client.hgetall(f"{prefix}:contents") == before


@waits
async def test_whatever_is_overwritten_nothing_but_store_errors_come(
    shared: RedisServer, prefix: str
) -> None:
    await fill(shared.url, prefix)
    client, draw = admin(shared.url), random.Random(5)
    names = [f"{prefix}:{kind}" for kind in ("pages", "contents")]
    kept = {name: client.hgetall(name) for name in names}
    for _ in range(examples(200)):
        name = draw.choice(names)
        field, record = draw.choice(sorted(kept[name].items()))
        damaged = bytearray(record)
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        client.hset(name, field, bytes(damaged[: draw.choice((None, None, draw.randrange(len(damaged))))]))
        store = RedisStore(shared.url, prefix, HEADER)
        for one in PAGES:
            with suppress(StoreError):
                await store.look(one)
            with suppress(StoreError):
                await store.get(one.key)
        [_ async for _ in store]
        await store.close()
        client.hset(name, field, record)
