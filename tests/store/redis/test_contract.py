"""The store in Redis does what every store does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import settings

from scrapy_simhash.cli.blocking import BlockingStore
from scrapy_simhash.store import AsyncStore, Header, Store
from scrapy_simhash.store.redis import RedisStore
from tests.examples import examples
from tests.store.contract import PersistentContract
from tests.store.machine import PersistentMachine
from tests.store.redis.stores import run_number, shift_run
from tests.store.server import RedisServer

_prefixes = count()


class Opener:
    """Opens stores of one server, and closes what is left at the end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.loop = asyncio.new_event_loop()
        self._stores: dict[int, tuple[BlockingStore, RedisStore, str]] = {}

    def make(self, header: Header, **options: Any) -> BlockingStore:
        return self._open(f"contract-{next(_prefixes)}", header, **options)

    def join(self, store: Store, **options: Any) -> BlockingStore:
        """Open what *store* is, once more, while it is open."""
        _, other, prefix = self._stores[id(store)]
        return self._open(prefix, other.header, **options)

    def end(self, store: Store) -> None:
        self._end(self._stores[id(store)][1], in_order=True)

    def silence(self, store: Store) -> None:
        """Kill the run of *store*, so long ago that its last heartbeat does not count any more."""
        _, other, prefix = self._stores[id(store)]
        self._end(other, in_order=False)
        shift_run(self.url, prefix, run_number(other), heartbeat=-3_600)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None) -> BlockingStore:
        _, former, prefix = self._stores[id(store)]
        self._end(former, in_order)
        return self._open(prefix, header or former.header)

    def close(self) -> None:
        for _, store, _ in self._stores.values():
            self._end(store, in_order=False)
        self.loop.close()

    def _open(self, prefix: str, header: Header, **options: Any) -> BlockingStore:
        store = RedisStore(self.url, prefix, header, blocks=header.rule.reach + 2, **options)
        store.check()
        self.loop.run_until_complete(store.connect())
        if options.get("live"):
            # Else no heartbeat comes after its beginning until the next second.
            shift_run(self.url, prefix, run_number(store), began=-10)
        opened = BlockingStore(store, self.loop)
        self._stores[id(opened)] = opened, store, prefix
        return opened

    def _end(self, store: RedisStore, in_order: bool) -> None:
        # As a kill leaves it: the connection is gone, and nothing was said.
        self.loop.run_until_complete(store.close() if in_order else store._link.close())


class TestRedisStore(PersistentContract):
    @pytest.fixture(autouse=True)
    def _opener(self, shared: RedisServer) -> Iterator[None]:
        self.opener = Opener(shared.url)
        yield
        self.opener.close()

    def make(self, header: Header) -> Store:
        return self.opener.make(header)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None) -> Store:
        return self.opener.reopen(store, in_order, header)

    def test_it_is_a_store_that_waits(self, shared: RedisServer) -> None:
        assert isinstance(RedisStore(shared.url, "x", Header()), AsyncStore)


class RedisStoreMachine(PersistentMachine):
    """Run by the fixture's server."""

    server: RedisServer

    def __init__(self) -> None:
        self.opener = Opener(self.server.url)
        super().__init__()

    def make(self, header: Header) -> Store:
        return self.opener.make(header)

    def reopen(self, store: Store, in_order: bool) -> Store:
        return self.opener.reopen(store, in_order)

    def teardown(self) -> None:
        self.opener.close()


@pytest.fixture(autouse=True, scope="module")
def _server_of_the_machine(shared: RedisServer) -> None:
    RedisStoreMachine.server = shared


TestRedisStoreMachine = RedisStoreMachine.TestCase
TestRedisStoreMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
