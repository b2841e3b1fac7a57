from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.store.server import RedisServer

_places = count()


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests here; each place has a prefix of its own."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendonly="no") as server:
        yield server


class Places:
    """Places for stores of one kind that are not there yet."""

    def __init__(self, kind: str, folder: Path, server: RedisServer | None) -> None:
        self.kind = kind
        self._folder = folder
        self._server = server

    def new(self) -> str:
        name = f"store-{next(_places)}"
        return f"{self._server.url}#{name}" if self._server else str(self._folder / f"{name}.sqlite")


@pytest.fixture(params=["sqlite", "redis"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    server = request.getfixturevalue("redis") if request.param == "redis" else None
    return Places(request.param, tmp_path, server)
