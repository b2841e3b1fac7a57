from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from scrapy_simhash.cli.main import main
from tests.cli.example_files import write_example_files
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
        return f"{self._server.url}?prefix={name}" if self._server else str(self._folder / f"{name}.sqlite")


@pytest.fixture(params=["sqlite", "redis"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    server = request.getfixturevalue("redis") if request.param == "redis" else None
    return Places(request.param, tmp_path, server)


class Cli:
    """Runs commands in this process, and knows what they write."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def ended(self, *arguments: object) -> tuple[int, str, str]:
        """Return the exit status of a command, and what it writes to standard output and error."""
        self._capture.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            # argparse ends so.
            status = cast("int", end.code)
        said = self._capture.readouterr()
        return status, said.out, said.err

    def __call__(self, *arguments: object) -> str:
        """Return what a command writes that works without a word on standard error."""
        status, said, complaint = self.ended(*arguments)
        assert (status, complaint) == (0, "")
        return said

    def json(self, *arguments: object) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*arguments, "--json"))
        return found

    def json_list(self, *arguments: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self(*arguments, "--json"))
        return found

    def fails(self, *arguments: object) -> tuple[int, str]:
        """Return the status of a command that fails, and what it complains."""
        status, said, complaint = self.ended(*arguments)
        assert said == ""
        assert complaint.startswith("scrapy-simhash: ")
        assert complaint.endswith("\n")
        return status, complaint.removeprefix("scrapy-simhash: ").rstrip("\n")


@pytest.fixture(scope="session")
def _examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples") / "files"
    folder.mkdir()
    write_example_files(folder)
    return folder


@pytest.fixture
def folder(_examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, which has the files of the examples."""
    copied = Path(shutil.copytree(_examples, tmp_path / "folder"))
    monkeypatch.chdir(copied)
    return copied


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)
