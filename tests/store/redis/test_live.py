"""Which run has handed a page on, and whether it is still at work: by heartbeats, and the server's clock."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from scrapy_simhash.store import Store
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.cases import FAR, SECOND_LOOK, posting
from tests.store.naive import NaiveStore
from tests.store.redis.stores import (
    HEADER,
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

#: Seconds for which a heartbeat counts: longer than any of these tests takes.
LIVE = 600
PAGE = posting("a", 5, text_hash=1)


class SharedMachine(RuleBasedStateMachine):
    """Three crawlers at once, lived beside ``NaiveStore``: they end, are killed, and others take their places.

    A quiet one has no part in heartbeats: it is not live and sees nobody who is.
    """

    server: RedisServer

    def __init__(self) -> None:
        self.opener = Opener(self.server.url)
        super().__init__()

    def teardown(self) -> None:
        self.opener.close()

    @initialize()
    def start(self) -> None:
        first = self.opener.make(HEADER, live=LIVE)
        self.stores: list[Store] = [
            first,
            self.opener.join(first, live=LIVE),
            self.opener.join(first, live=LIVE),
        ]
        self.runs = [1, 2, 3]
        self.naive = NaiveStore(SECOND_LOOK)
        self.naive.live = {1, 2, 3}

    @rule(
        crawler=st.integers(0, 2),
        key=st.sampled_from("abc"),
        value=st.sampled_from([5, 5, 5, 4, FAR]),
        text_hash=st.sampled_from([1, 1, 1, 2, None]),
        is_delivered=st.sampled_from([True, True, True, False]),
        is_short=st.sampled_from([False, False, True]),
        is_look=st.sampled_from([False, False, False, True]),
    )
    def visit(
        self,
        crawler: int,
        key: str,
        value: int,
        text_hash: int | None,
        is_delivered: bool,
        is_short: bool,
        is_look: bool,
    ) -> None:
        page = posting(key, value, "", is_short, text_hash, is_delivered=is_delivered)
        self.naive.run = self.runs[crawler]
        store, what = self.stores[crawler], "look" if is_look else "claim"
        assert getattr(store, what)(page) == getattr(self.naive, what)(page)

    @rule(crawler=st.integers(0, 2), keys=st.sets(st.sampled_from("abc")))
    def unsettle(self, crawler: int, keys: set[str]) -> None:
        named = {key.encode() for key in keys}
        self.naive.run = self.runs[crawler]
        self.stores[crawler].unsettle(named)
        self.naive.unsettle(named)

    @rule(crawler=st.integers(0, 2), in_order=st.booleans(), is_quiet=st.sampled_from([False, False, True]))
    def end_and_begin_anew(self, crawler: int, in_order: bool, is_quiet: bool) -> None:
        store = self.stores[crawler]
        if in_order:
            self.opener.end(store)
            self.naive.ended.add(self.runs[crawler])
        else:
            self.opener.silence(store)
            self.naive.live.discard(self.runs[crawler])
        self.stores[crawler] = self.opener.join(store, live=0 if is_quiet else LIVE)
        self.runs[crawler] = max(self.runs) + 1
        if not is_quiet:
            self.naive.live.add(self.runs[crawler])

    @rule(key=st.sampled_from("abc"))
    def get(self, key: str) -> None:
        assert self.stores[0].get(key.encode()) == self.naive.get(key.encode())


@pytest.fixture(autouse=True, scope="module")
def _server_of_the_machine(shared: RedisServer) -> None:
    SharedMachine.server = shared


TestSharedMachine = SharedMachine.TestCase
TestSharedMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


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
        await other.runs()
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
        await other.runs()
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
        await other.runs()
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
            await store.runs()
            shift_run(shared.url, prefix, run_number(store), began=-10)
        pages = [posting(str(number), number << 32, text_hash=number) for number in range(200)]
        claims = await asyncio.gather(*[store.claim(page) for page in pages for store in (one, other)])
    pairs = list(zip(claims[::2], claims[1::2], strict=True))
    for pair in pairs:
        assert sorted(claim.former is None or not claim.former.is_live for claim in pair) == [False, True]
