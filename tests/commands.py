"""Run commands in the process of the test."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from scrapy_simhash.cli.main import main


class Cli:
    """Runs commands in this process, and captures their output."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def ended(self, *arguments: object) -> tuple[int, str, str]:
        """Return exit status, standard output and standard error of a command."""
        self._capture.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            # argparse exits this way.
            status = cast("int", end.code)
        said = self._capture.readouterr()
        return status, said.out, said.err

    def __call__(self, *arguments: object) -> str:
        """Return the output of a command that writes nothing to standard error."""
        status, said, complaint = self.ended(*arguments)
        assert (status, complaint) == (0, "")
        return said

    def json(self, *arguments: object) -> Any:
        """Return the parsed output of a command with --json."""
        return json.loads(self(*arguments, "--json"))

    def fails(self, *arguments: object) -> tuple[int, str]:
        """Return exit status and error message of a command."""
        status, said, complaint = self.ended(*arguments)
        assert said == ""
        assert complaint.startswith("scrapy-simhash: ")
        assert complaint.endswith("\n")
        return status, complaint.removeprefix("scrapy-simhash: ").rstrip("\n")
