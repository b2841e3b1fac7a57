from __future__ import annotations

import gc
import sqlite3

import pytest
from hypothesis import settings

from scrapy_simhash import kernel
from scrapy_simhash.index import index
from scrapy_simhash.judge import rule as judge_rule
from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.sqlite import SqliteStore
from tests.examples import examples
from tests.store.contract import StoreContract
from tests.store.machine import StoreMachine

SETTINGS = settings(max_examples=examples(150), stateful_step_count=30, deadline=None)


def scan_up_to(contents: int, patch: pytest.MonkeyPatch) -> None:
    """Use linear scans for up to *contents* records, and tables for more."""
    patch.setattr(index, "ROW_LIMIT", (0, contents, contents))


def without_kernel(patch: pytest.MonkeyPatch) -> None:
    """Make new stores and rules use pure Python."""
    patch.setattr(kernel, "hamming", None)
    patch.setattr(judge_rule, "_native_look", lambda min_similarity, reach: None)


class TestMemoryStore(StoreContract):
    def make(self, header: Header) -> Store:
        return SqliteStore(header=header, blocks=header.rule.reach + 3)


def test_the_database_is_closed_with_the_store_and_not_before() -> None:
    store = SqliteStore()
    connection = store._connection
    store.close()
    assert len(store) == 0
    connection.execute("SELECT 1")
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


class TestMemoryStoreInPurePython(TestMemoryStore):
    """The store in memory without the C extension."""

    @pytest.fixture(autouse=True)
    def _pure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        without_kernel(monkeypatch)


class MemoryStoreMachine(StoreMachine):
    def make(self, header: Header) -> Store:
        return SqliteStore(header=header, blocks=header.rule.reach + 2)


class PromotedStoreMachine(MemoryStoreMachine):
    """The machine with a store whose indexes change from the scan to tables at three records."""

    def __init__(self) -> None:
        self.patch = pytest.MonkeyPatch()
        scan_up_to(3, self.patch)
        super().__init__()

    def teardown(self) -> None:
        self.patch.undo()


class PureStoreMachine(MemoryStoreMachine):
    """The machine with rows, index and rule in pure Python, which are the definition."""

    def __init__(self) -> None:
        self.patch = pytest.MonkeyPatch()
        without_kernel(self.patch)
        super().__init__()

    def teardown(self) -> None:
        self.patch.undo()


TestMemoryStoreMachine = MemoryStoreMachine.TestCase
TestMemoryStoreMachine.settings = SETTINGS
TestPureStoreMachine = PureStoreMachine.TestCase
TestPureStoreMachine.settings = SETTINGS
TestPromotedStoreMachine = PromotedStoreMachine.TestCase
TestPromotedStoreMachine.settings = SETTINGS
