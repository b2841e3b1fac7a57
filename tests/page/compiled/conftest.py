"""These tests compare the compiled kernel with pure Python: where it was not built there is nothing to compare.

One that was built and is not used, since it cannot be imported or reads a page differently, is a failure.
"""

from __future__ import annotations

import pytest

from scrapy_simhash import kernel
from scrapy_simhash.page.compiled import CompiledReader, compiled_reader


@pytest.fixture(scope="session", autouse=True)
def reader() -> CompiledReader:
    reader = compiled_reader()
    if reader is None:
        if kernel.hamming is not None or kernel.REASON.startswith("it is built"):
            pytest.fail(f"the kernel was built and is not used: {kernel.REASON}")
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    return reader
