"""Which run has handed a page on, and whether it is still at work: by heartbeats, and the server's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import settings

from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.cases import posting
from tests.store.redis.stores import (
    PATIENCE,
    Opener,
    eventually,
    opened,
    run_number,
    run_record,
    shift_run,
    waits,
)
from tests.store.server import RedisServer
from tests.store.shared import SharedContract, SharedMachine

#: Seconds for which a heartbeat counts: longer than any of these tests takes.
LIVE = 600
PAGE = posting("a", 5, text_hash=1)


class TestSharedRedisStore(SharedContract):
    @pytest.fixture(autouse=True)
    def _opener(self, shared: RedisServer) -> Iterator[None]:
        self.opener = Opener(shared.url)
        yield
        self.opener.close()

    def make(self, header: Header) -> Store:
        return self.opener.make(header, live=LIVE)

    def join(self, store: Store, has_heartbeat: bool = True) -> Store:
        return self.opener.join(store, live=LIVE if has_heartbeat else 0)

    def end(self, store: Store) -> None:
        self.opener.end(store)

    def silence(self, store: Store) -> None:
        self.opener.silence(store)


class SharedRedisMachine(SharedMachine):
    """Run by the fixture's server."""

    server: RedisServer

    def __init__(self) -> None:
        self.opener = Opener(self.server.url)
        super().__init__()

    def make(self, header: Header) -> Store:
        return self.opener.make(header, live=LIVE)

    def join(self, store: Store) -> Store:
        return self.opener.join(store, live=LIVE)

    def end(self, store: Store) -> None:
        self.opener.end(store)

    def silence(self, store: Store) -> None:
        self.opener.silence(store)

    def teardown(self) -> None:
        self.opener.close()


@pytest.fixture(autouse=True, scope="module")
def _server_of_the_machine(shared: RedisServer) -> None:
    SharedRedisMachine.server = shared


TestSharedRedisMachine = SharedRedisMachine.TestCase
TestSharedRedisMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


async def is_live(store: RedisStore) -> bool:
    former = (await store.look(PAGE)).former
    assert former is not None
    return former.is_live


@waits
async def test_a_run_is_live_for_as_long_as_was_asked_for_by_the_clock_of_the_server(
    shared: RedisServer, prefix: str
) -> None:
    async with opened(shared.url, prefix, live=LIVE) as one, opened(shared.url, prefix, live=LIVE) as other:
        await one.claim(PAGE)
        await other.connect()
        shift_run(shared.url, prefix, 2, began=-3 * LIVE)
        assert await is_live(other)
        shift_run(shared.url, prefix, heartbeat=60 - LIVE)
        assert await is_live(other)
        shift_run(shared.url, prefix, heartbeat=-120)
        assert not await is_live(other)
        # As if the clock had been put back: nobody is live for hours on that account.
        shift_run(shared.url, prefix, heartbeat=3 * LIVE)
        assert not await is_live(other)


@waits
async def test_only_a_heartbeat_that_comes_after_its_own_beginning_counts_for_a_run(
    shared: RedisServer, prefix: str
) -> None:
    async with opened(shared.url, prefix, live=LIVE) as one, opened(shared.url, prefix, live=LIVE) as other:
        await one.claim(PAGE)
        await other.connect()
        # A crawler that was killed just now, and this one was started in its place.
        shift_run(shared.url, prefix, 2, began=1)
        assert not await is_live(other)
        shift_run(shared.url, prefix, heartbeat=1)
        assert not await is_live(other), "in the very second: which came first?"
        shift_run(shared.url, prefix, heartbeat=1)
        assert await is_live(other)


@waits
async def test_the_first_claim_of_a_second_is_a_heartbeat(shared: RedisServer, prefix: str) -> None:
    async with opened(shared.url, prefix, live=LIVE) as one, opened(shared.url, prefix) as quiet:
        await one.claim(PAGE)
        await quiet.claim(PAGE)
        shift_run(shared.url, prefix, heartbeat=-100)
        old = run_record(shared.url, prefix)
        await one.look(PAGE)
        await quiet.claim(PAGE)
        assert run_record(shared.url, prefix) == old
        await one.claim(PAGE)
        assert -run_record(shared.url, prefix)[2] >= -old[2] + 100
        assert run_record(shared.url, prefix, 2)[2] == -1


@waits
async def test_who_asks_nothing_gives_heartbeats_too_until_it_is_closed(
    shared: RedisServer, prefix: str
) -> None:
    async with opened(shared.url, prefix, live=1) as one:
        await one.claim(PAGE)
        shift_run(shared.url, prefix, heartbeat=-100)
        old = run_record(shared.url, prefix)

        async def beat() -> None:
            while run_record(shared.url, prefix) == old:
                await asyncio.sleep(0.02)

        await asyncio.wait_for(beat(), PATIENCE)
        await one.close()
        assert run_record(shared.url, prefix)[2] > 0
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


@waits
async def test_a_crawler_gives_heartbeats_again_when_its_server_is_back(server: RedisServer) -> None:
    async with opened(server.url, "p", live=LIVE) as one, opened(server.url, "p", live=LIVE) as other:
        await one.claim(PAGE)
        await other.connect()
        shift_run(server.url, "p", 2, began=-10)
        shift_run(server.url, "p", heartbeat=-2 * LIVE)
        server.kill()
        server.start()
        await eventually(one.runs)
        await eventually(other.runs)
        assert await is_live(other)


@waits
async def test_of_many_crawlers_at_once_one_has_the_page_and_the_others_are_told(
    shared: RedisServer, prefix: str
) -> None:
    async with opened(shared.url, prefix, live=LIVE) as one, opened(shared.url, prefix, live=LIVE) as other:
        for store in (one, other):
            await store.connect()
            shift_run(shared.url, prefix, run_number(store), began=-10)
        pages = [posting(str(number), number << 32, text_hash=number) for number in range(200)]
        claims = await asyncio.gather(*[store.claim(page) for page in pages for store in (one, other)])
    pairs = list(zip(claims[::2], claims[1::2], strict=True))
    for pair in pairs:
        assert sorted(claim.former is None or not claim.former.is_live for claim in pair) == [False, True]


@waits
async def test_without_heartbeats_runs_are_kept_as_ever(shared: RedisServer, prefix: str) -> None:
    async with opened(shared.url, prefix) as store:
        await store.claim(PAGE)
        assert run_record(shared.url, prefix)[2] == -1
    async with opened(shared.url, prefix, live=LIVE) as store:
        await store.claim(PAGE)
        _, began, heartbeat = run_record(shared.url, prefix, 2)
        assert 0 <= -heartbeat - began < 60
        assert [run.ended for run in await store.runs()] == [None, None]
