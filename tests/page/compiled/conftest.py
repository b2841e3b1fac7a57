"""These tests compare the compiled kernel with pure Python: where it was not built there is nothing to compare."""

from __future__ import annotations

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader


@pytest.fixture(scope="session", autouse=True)
def reader() -> CompiledReader:
    reader = compiled_reader()
    if reader is None:
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    return reader
