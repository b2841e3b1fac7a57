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


def test_the_hash_is_the_packages_for_every_length(native: ModuleType) -> None:
    content = random.Random(3).randbytes(1_100)
    for length in range(1_101):
        assert native.digest(content[:length]) == xxh3_64_intdigest(content[:length]), length


@pytest.mark.parametrize("byte", [0, 1, 0x7F, 0x80, 0xFF])
def test_the_hash_of_one_byte_over_and_over(native: ModuleType, byte: int) -> None:
    for length in (*range(300), 1_023, 1_024, 1_025, 2_048, 65_536):
        assert native.digest(bytes([byte]) * length) == xxh3_64_intdigest(bytes([byte]) * length), length


@pytest.mark.parametrize("length", [4_095, 4_096, 4_097, 100_003, 1_048_576, 5_000_001])
def test_the_hash_of_much(native: ModuleType, length: int) -> None:
    content = random.Random(length).randbytes(length)
    assert native.digest(content) == xxh3_64_intdigest(content)


def test_the_hash_of_bytes_that_start_anywhere(native: ModuleType) -> None:
    content = random.Random(5).randbytes(2_000)
    for start in range(16):
        for length in (3, 8, 16, 17, 129, 241, 1_024):
            piece = content[start : start + length]
            assert native.digest(piece) == xxh3_64_intdigest(piece)
