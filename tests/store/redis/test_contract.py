"""The contract of stores for Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from scrapy_simhash import Config, NearDuplicateDetector, Status
from scrapy_simhash.cli.stores import SyncStore
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.redis import RedisStore, shard
from tests.examples import examples
from tests.store.cases import posting
from tests.store.contract import PersistentContract
from tests.store.machine import PersistentMachine
from tests.store.redis.stores import Opener
from tests.store.server import RedisServer


class TestRedisStore(PersistentContract):
    @pytest.fixture(autouse=True)
    def _opener(self, shared: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        # Pages are removed in several steps.
        monkeypatch.setattr(shard, "_KEEP_STEP", 2)
        self.opener = Opener(shared.url)
        yield
        self.opener.close()

    def make(self, header: Header) -> Store:
        return self.opener.make(header)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None, **options: Any) -> Store:
        return self.opener.reopen(store, in_order, header, **options)

    def read(self, store: Store) -> Store:
        return self.opener.join(store, read_only=True)


def test_a_detector_uses_the_store_without_an_event_loop(shared: RedisServer, prefix: str) -> None:
    story = "<p>" + " ".join(f"the ship and {word} went out to the sea" for word in "abcdefgh")
    for status in (Status.NEW, Status.REVISIT):
        detector = NearDuplicateDetector(store=RedisStore(shared.url, prefix, header_for(Config())))
        verdict = detector.check(story, "https://example.com/")
        assert (verdict.status, verdict.is_delivered) == (status, status is Status.REVISIT)
        detector.deliver(b"https://example.com/", verdict.page_hash)
        detector.close()
    loop = asyncio.new_event_loop()
    store = SyncStore(RedisStore(shared.url, prefix, None, read_only=True), loop)
    ((site, data),) = store.notes(SITE)
    store.close()
    loop.close()
    assert (site, SiteProfile.from_bytes(data).pages) == ("example.com", 2)


class RedisStoreMachine(PersistentMachine):
    """Three crawlers in turn, on the server of the fixture: they end or are killed, and others replace them."""

    server: RedisServer
    runs_begun = 3

    def __init__(self) -> None:
        self.opener = Opener(self.server.url)
        super().__init__()

    def make(self, header: Header) -> Store:
        first = self.opener.make(header)
        self.stores: list[Store] = [first, self.opener.join(first), self.opener.join(first)]
        self.runs = [1, 2, 3]
        return first

    def reopen(self, store: Store, in_order: bool) -> Store:
        crawler = self.stores.index(store)
        self.stores[crawler] = self.opener.reopen(store, in_order)
        self.runs[crawler] = self.runs_begun + 1
        return self.stores[crawler]

    @rule(crawler=st.integers(0, 2))
    def go_on_with_another_crawler(self, crawler: int) -> None:
        self.store, self.naive.run = self.stores[crawler], self.runs[crawler]
        # The number of pages is that of the last reply.
        self.store.look(posting("a", 0))

    def teardown(self) -> None:
        self.opener.close()


@pytest.fixture(autouse=True, scope="module")
def _server_of_the_machine(shared: RedisServer) -> None:
    RedisStoreMachine.server = shared


TestRedisStoreMachine = RedisStoreMachine.TestCase
TestRedisStoreMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
