"""The store in Redis does what every store does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from scrapy_simhash.store import Header, Store
from tests.examples import examples
from tests.store.cluster import RedisCluster
from tests.store.contract import PersistentContract
from tests.store.machine import PersistentMachine
from tests.store.redis.stores import Opener, ShardedOpener
from tests.store.server import RedisServer


class TestRedisStore(PersistentContract):
    @pytest.fixture(
        autouse=True,
        params=[
            Opener,
            pytest.param(
                ShardedOpener,
                marks=pytest.mark.slow("a store of one shard does all that the store on one server does"),
            ),
        ],
        ids=["one server", "a shard"],
    )
    def _opener(
        self, shared: RedisServer, lone: RedisCluster, request: pytest.FixtureRequest
    ) -> Iterator[None]:
        self.opener: Opener = request.param(lone.url if request.param is ShardedOpener else shared.url)
        yield
        self.opener.close()

    def make(self, header: Header) -> Store:
        return self.opener.make(header)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None) -> Store:
        return self.opener.reopen(store, in_order, header)


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
