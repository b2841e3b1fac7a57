from __future__ import annotations

import json
from typing import Any

import pytest

from scrapy_simhash.cli.main import main


class Command:
    """Runs commands in this process, and returns what they write."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def ended(self, *arguments: object) -> tuple[int, str, str]:
        """Return the exit status, standard output and standard error."""
        self._capture.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        said = self._capture.readouterr()
        return status, said.out, said.err

    def __call__(self, *arguments: object) -> str:
        """Return the output of a command that works."""
        status, said, complaint = self.ended(*arguments)
        assert (status, complaint) == (0, "")
        return said

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "--json"))

    def fails(self, *arguments: object) -> tuple[int, str]:
        """Return the status and the message of a command that fails."""
        status, said, complaint = self.ended(*arguments)
        assert said == ""
        return status, complaint.removeprefix("scrapy-simhash: ").rstrip("\n")


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(capfd)
