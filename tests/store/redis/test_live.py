"""Which run has handed a page on, and whether it is still at work: by heartbeats, and the server's clock."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from scrapy_simhash.store import Store, Visit
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


#: What crawlers hear of a page in turn, each by its number; perhaps after a new text of theirs, or a minus for one
#: that is not delivered. In between runs end, are killed, or take back what they have told. Who is named joins.
FATES = {
    "a text that another run at work has delivered is live": "0 none, 1 live, 2 live",
    "what a run itself has delivered is not": "0 none, 0 open, 1 live, 0 open",
    "who comes next takes the place of a run that was killed": (
        "0 none, 1 live, join 2, kill 0, 1 open, 1 open, 2 live"
    ),
    # Else the page would be lost.
    "who asked in vain does not settle what is another's": "0 none, 1 live, end 1, 2 live, kill 0, 2 open",
    "a text is settled when the run that handed it on ends in order": "0 none, 1 live, end 0, 1 settled, 2 settled",
    "another text is that of who found it": "0 none, join 1, 1 live 2, 1 open 2, 0 live 2",
    "a claim that is not delivered leaves nothing live": "0 none, 1 live, 0 open -, 1 open, 0 live",
    "nor does that of another": "0 none, 1 live, 1 live -, 1 open, 0 live",
    # It is delivered anew, by the other.
    "what was unsettled is not live": "0 none, 1 live, unsettle 0, 1 open, 0 live",
    "who was told that a text is live cannot unsettle it": "0 none, 1 live, unsettle 1, 2 live, end 0, 1 settled",
    # As without heartbeats, the text is that of who came last.
    "who has no part in heartbeats is not live and sees nobody": "quiet 1, 1 none, 0 open, 1 open, 0 open",
}


@pytest.mark.parametrize("is_short", [False, True], ids=["long", "short"])
@pytest.mark.parametrize("fates", FATES.values(), ids=FATES)
def test_what_became_of_a_page(fates: str, is_short: bool, shared: RedisServer) -> None:
    opener = Opener(shared.url)
    stores: dict[str, Store] = {"0": opener.make(HEADER, live=LIVE)}
    for step in fates.split(", "):
        what, word, *more = step.split()
        if what in ("join", "quiet"):
            stores[word] = opener.join(stores["0"], live=0 if what == "quiet" else LIVE)
        elif what == "unsettle":
            stores[word].unsettle([b"a"])
        elif what in ("end", "kill"):
            (opener.end if what == "end" else opener.silence)(stores[word])
        else:
            store = stores.get(what) or stores.setdefault(what, opener.join(stores["0"], live=LIVE))
            text_hash = 2 if more == ["2"] else 1
            page = posting("a", 5, "", is_short, text_hash, is_delivered=more != ["-"])
            assert fate_of(store.claim(page).former) == word, step
    opener.close()


def fate_of(former: Visit | None) -> str:
    if former is None:
        return "none"
    assert not (former.is_live and former.is_settled)
    return "live" if former.is_live else "settled" if former.is_settled else "open"


class SharedMachine(RuleBasedStateMachine):
    """Three crawlers at once, lived beside ``NaiveStore``: they end, are killed, and others take their places."""

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
        is_look=st.sampled_from([False, False, False, True]),
    )
    def visit(
        self, crawler: int, key: str, value: int, text_hash: int | None, is_delivered: bool, is_look: bool
    ) -> None:
        page = posting(key, value, "", False, text_hash, is_delivered=is_delivered)
        self.naive.run = self.runs[crawler]
        store, what = self.stores[crawler], "look" if is_look else "claim"
        assert getattr(store, what)(page) == getattr(self.naive, what)(page)

    @rule(crawler=st.integers(0, 2), keys=st.sets(st.sampled_from("abc")))
    def unsettle(self, crawler: int, keys: set[str]) -> None:
        named = {key.encode() for key in keys}
        self.naive.run = self.runs[crawler]
        self.stores[crawler].unsettle(named)
        self.naive.unsettle(named)

    @rule(crawler=st.integers(0, 2), in_order=st.booleans())
    def end_and_begin_anew(self, crawler: int, in_order: bool) -> None:
        store = self.stores[crawler]
        if in_order:
            self.opener.end(store)
            self.naive.ended.add(self.runs[crawler])
        else:
            self.opener.silence(store)
            self.naive.live.discard(self.runs[crawler])
        self.stores[crawler] = self.opener.join(store, live=LIVE)
        self.runs[crawler] = max(self.runs) + 1
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
