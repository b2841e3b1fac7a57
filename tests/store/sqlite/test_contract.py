"""The store in a file passes the contract, and behaves like the naive store, including kills and checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from scrapy_simhash.store import Header, Store
from scrapy_simhash.store.sqlite import SqliteStore, checkpoints
from scrapy_simhash.store.sqlite import store as sqlite_store
from tests.examples import examples
from tests.store.contract import PersistentContract
from tests.store.machine import PersistentMachine
from tests.store.sqlite.stores import Shelf


@pytest.fixture(params=[checkpoints.EVERY, 2], ids=["no checkpoint", "a checkpoint every two claims"])
def _checkpoints(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", request.param)
    monkeypatch.setattr(checkpoints, "LONG", request.param)


@pytest.mark.usefixtures("_checkpoints")
class TestSqliteStore(PersistentContract):
    @pytest.fixture(autouse=True)
    def _shelf(self, tmp_path: Path) -> Iterator[None]:
        self.shelf = Shelf(tmp_path)
        yield
        self.shelf.close()

    def make(self, header: Header) -> Store:
        return self.shelf.new(header)

    def reopen(self, store: Store, in_order: bool, header: Header | None = None, **options: Any) -> Store:
        assert isinstance(store, SqliteStore)
        return self.shelf.reopen(store, in_order, header, **options)

    def read(self, store: Store) -> Store:
        return self.shelf.open(Path(str(store)), read_only=True)


class SqliteStoreMachine(PersistentMachine):
    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.shelf = Shelf(Path(self.folder.name))
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(checkpoints, "EVERY", 4)
        self.patch.setattr(sqlite_store, "CHUNK", 3)
        super().__init__()

    def make(self, header: Header) -> Store:
        return self.shelf.new(header)

    def reopen(self, store: Store, in_order: bool) -> Store:
        assert isinstance(store, SqliteStore)
        return self.shelf.reopen(store, in_order)

    def teardown(self) -> None:
        self.patch.undo()
        self.shelf.close()
        self.folder.cleanup()


TestSqliteStoreMachine = SqliteStoreMachine.TestCase
TestSqliteStoreMachine.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
