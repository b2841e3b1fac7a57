from __future__ import annotations

import pytest

from tests.commands import Cli


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)
