from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.store.cluster import RedisCluster, cluster_without_replicas
from tests.store.server import RedisServer
from tests.store.sqlite.stores import Shelf


@pytest.fixture(scope="session")
def client() -> None:
    pytest.importorskip("redis")


@pytest.fixture(scope="session")
def shared(client: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests that do not change its state; each test has its own key prefix."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendonly="no") as server:
        yield server


@pytest.fixture(scope="session")
def lone(client: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """A cluster of one node, for all tests that do not change its state."""
    with cluster_without_replicas(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def server(client: None, tmp_path: Path) -> Iterator[RedisServer]:
    """A server for one test, which may kill it."""
    # With ``everysec`` a kill may lose writes that were acknowledged up to two seconds earlier.
    with RedisServer(tmp_path, appendfsync="always") as server:
        yield server


_prefixes = count()


@pytest.fixture
def prefix() -> str:
    return f"test-{next(_prefixes)}:simhash"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shop.sqlite"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()
