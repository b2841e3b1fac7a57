from __future__ import annotations

import random
from types import ModuleType

import pytest
from xxhash import xxh3_64_intdigest

from scrapy_simhash import kernel


@pytest.fixture(scope="module")
def native() -> ModuleType:
    if kernel.native is None:
        pytest.skip(f"pure Python runs: {kernel.REASON}")
    return kernel.native


def test_the_hash_is_the_packages_for_every_length_and_start(native: ModuleType) -> None:
    content = random.Random(3).randbytes(5_000_001)
    pieces = [content[:length] for length in (*range(1_101), 4_095, 4_096, 4_097, 100_003, len(content))]
    pieces += [content[start : start + n] for start in range(16) for n in (3, 8, 16, 17, 129, 241, 1_024)]
    pieces += [bytes([byte]) * n for byte in (0, 1, 0x7F, 0x80, 0xFF) for n in (*range(300), 1_025, 65_536)]
    assert [len(piece) for piece in pieces if native.digest(piece) != xxh3_64_intdigest(piece)] == []
