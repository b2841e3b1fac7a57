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
    """One server for all tests that leave it as it is; each has a prefix of its own."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendonly="no") as server:
        yield server


@pytest.fixture(scope="session")
def lone(client: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """A cluster of one node, for all tests that leave it as it is."""
    with cluster_without_replicas(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def server(client: None, tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, which it may kill."""
    # With less, a disk that is busy lets it acknowledge what is not written for two seconds, and a kill loses that.
    with RedisServer(tmp_path, appendfsync="always") as server:
        yield server


_prefixes = count()


@pytest.fixture
def prefix() -> str:
    return f"test-{next(_prefixes)}:simhash"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store in a file may be."""
    return tmp_path / "shop.sqlite"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()
