from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.sqlite.stores import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "shop.sqlite"
