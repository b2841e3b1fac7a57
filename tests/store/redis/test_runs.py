"""Several concurrent runs: which of them has delivered a page, and whether it has ended in order."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from scrapy_simhash.store import Store
from tests.examples import examples
from tests.store.cases import FAR, SECOND_LOOK, bare, posting
from tests.store.naive import NaiveStore
from tests.store.redis.stores import HEADER, Opener
from tests.store.server import RedisServer


class SharedMachine(RuleBasedStateMachine):
    """Three concurrent crawlers compared with ``NaiveStore``: they end or are killed, and others replace
    them.
    """

    server: RedisServer

    def __init__(self) -> None:
        self.opener = Opener(self.server.url)
        super().__init__()

    def teardown(self) -> None:
        self.opener.close()

    @initialize()
    def start(self) -> None:
        first = self.opener.make(HEADER)
        self.stores: list[Store] = [first, self.opener.join(first), self.opener.join(first)]
        self.runs = [1, 2, 3]
        self.naive = NaiveStore(SECOND_LOOK)

    @rule(
        crawler=st.integers(0, 2),
        key=st.sampled_from("abc"),
        value=st.sampled_from([5, 5, 5, 4, FAR]),
        page_hash=st.sampled_from([1, 1, 1, 2, None]),
        is_delivered=st.sampled_from([False, False, False, True]),
        is_short=st.sampled_from([False, False, True]),
        is_look=st.sampled_from([False, False, False, True]),
    )
    def visit(
        self,
        crawler: int,
        key: str,
        value: int,
        page_hash: int | None,
        is_delivered: bool,
        is_short: bool,
        is_look: bool,
    ) -> None:
        page = posting(key, value, "", is_short, page_hash, is_delivered=is_delivered)
        self.naive.run = self.runs[crawler]
        store, what = self.stores[crawler], "look" if is_look else "claim"
        assert bare(getattr(store, what)(page)) == bare(getattr(self.naive, what)(page))

    @rule(
        crawler=st.integers(0, 2),
        pages=st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, 1, 1, 2, None, 5])),
    )
    def deliver(self, crawler: int, pages: dict[str, int | None]) -> None:
        named = {key.encode(): page_hash for key, page_hash in pages.items()}
        self.naive.run = self.runs[crawler]
        self.stores[crawler].deliver(named)
        self.naive.deliver(named)

    @rule(crawler=st.integers(0, 2), in_order=st.booleans())
    def end_and_begin_anew(self, crawler: int, in_order: bool) -> None:
        store = self.stores[crawler]
        self.opener.end(store, in_order)
        self.stores[crawler] = self.opener.join(store)
        self.runs[crawler] = max(self.runs) + 1

    @rule(key=st.sampled_from("abc"))
    def get(self, key: str) -> None:
        assert bare(self.stores[0].get(key.encode())) == bare(self.naive.get(key.encode()))


@pytest.fixture(autouse=True, scope="module")
def _server_of_the_machine(shared: RedisServer) -> None:
    SharedMachine.server = shared


TestSharedMachine = SharedMachine.TestCase
TestSharedMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
