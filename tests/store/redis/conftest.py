from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.store.server import RedisServer


@pytest.fixture(scope="session", autouse=True)
def client() -> None:
    pytest.importorskip("redis", reason="redis is not installed")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server of the test's own, which it may kill."""
    # With less, a disk that is busy lets it acknowledge what is not written for two seconds, and a kill loses that.
    with RedisServer(tmp_path, appendfsync="always") as server:
        yield server


_prefixes = count()


@pytest.fixture
def prefix() -> str:
    return f"test-{next(_prefixes)}:simhash"
