from __future__ import annotations

from hypothesis import settings

from scrapy_simhash.store import MemoryStore, Store
from tests.store.contract import StoreContract, StoreMachine


class TestMemoryStore(StoreContract):
    def make(self, max_distance: int = 3) -> Store:
        return MemoryStore(max_distance, blocks=max_distance + 3)


class MemoryStoreMachine(StoreMachine):
    def make(self, max_distance: int) -> Store:
        return MemoryStore(max_distance, blocks=max_distance + 2)


TestMemoryStoreMachine = MemoryStoreMachine.TestCase
TestMemoryStoreMachine.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
