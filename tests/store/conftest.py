from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
