from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import Reader
from tests.commands import Cli


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """An empty page in a browser."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def reader(tab: Any) -> Reader:
    """A browser that opens files."""
    return Reader(tab)
