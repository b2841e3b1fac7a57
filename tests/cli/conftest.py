from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pytest

from tests.cli.example_files import write_example_files
from tests.commands import Cli
from tests.store.conftest import client, shared  # noqa: F401
from tests.store.server import RedisServer

_places = count()


class Places:
    """Locations for new stores of one kind."""

    def __init__(self, kind: str, folder: Path, server: RedisServer | None) -> None:
        self.kind = kind
        self._folder = folder
        self._server = server

    def new(self) -> str:
        name = f"store-{next(_places)}"
        return f"{self._server.url}?prefix={name}" if self._server else str(self._folder / f"{name}.sqlite")


@pytest.fixture(params=["sqlite", "redis"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    server = request.getfixturevalue("shared") if request.param == "redis" else None
    return Places(request.param, tmp_path, server)


@pytest.fixture(scope="session")
def _examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples") / "files"
    folder.mkdir()
    write_example_files(folder)
    return folder


@pytest.fixture
def folder(_examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the files of the examples."""
    copied = Path(shutil.copytree(_examples, tmp_path / "folder"))
    monkeypatch.chdir(copied)
    return copied


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)
