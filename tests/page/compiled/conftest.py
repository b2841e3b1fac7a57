"""Skip the comparison of C and Python if the C extension is not built; fail if it is built and not used."""

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
