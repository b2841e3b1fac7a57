from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_simhash.store import MemoryStore, Store
from tests.store.cases import SECOND_LOOK, header
from tests.store.server import RedisServer
from tests.store.sqlite.stores import Shelf


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests that leave it as it is; each has a prefix of its own."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendonly="no") as server:
        yield server


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


@pytest.fixture(params=["memory", "sqlite", "redis"])
def any_store(request: pytest.FixtureRequest, shelf: Shelf) -> Iterator[Store]:
    """A store of each kind, which takes a second look."""
    of = header(SECOND_LOOK)
    if request.param == "redis":
        stores = pytest.importorskip("tests.store.redis.stores", reason="redis is not installed")
        opener = stores.Opener(request.getfixturevalue("shared").url)
        yield opener.make(of)
        opener.close()
    else:
        yield MemoryStore(of) if request.param == "memory" else shelf.new(of)
