from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives.gaps import GapCode
from scrapy_simhash.index.alternatives.packed_table import PackedTable, packed, packed_bytes
from tests.index.values import ALL_ONES, fingerprints

draw = random.Random(11)
NUMBERS = sorted(draw.getrandbits(64) for _ in range(5_000))


class CountingCode(GapCode):
    """Notes which texts were read."""

    __slots__ = ("read",)
    read: list[str]

    def numbers(self, text: str, start: int, last: int) -> object:  # type: ignore[override]
        self.read.append(text)
        return super().numbers(text, start, last)


def table_of(numbers: list[int], block_bytes: int = 512) -> tuple[PackedTable, CountingCode]:
    code = CountingCode(GapCode.of(numbers).word_lengths)
    code.read = []
    return PackedTable(memoryview(packed(numbers, code, block_bytes)[1]), block_bytes, code), code


@given(st.sets(fingerprints, max_size=40).map(sorted), fingerprints, st.sampled_from([16, 17, 64, 65_536]))
def test_the_numbers_from_one_on_are_read_in_order(numbers: list[int], first: int, block_bytes: int) -> None:
    table, _ = table_of(numbers, block_bytes)
    assert list(table.numbers()) == numbers
    for begin in [first, ALL_ONES, *numbers]:
        assert list(table.numbers(begin)) == [number for number in numbers if number >= begin]


def test_a_search_reads_one_block() -> None:
    for first in NUMBERS[::100]:
        table, code = table_of(NUMBERS)
        assert next(table.numbers(first)) == first
        assert len(code.read) == 1
        assert len(code.read[0]) == 8 * 512


def test_what_is_beyond_the_last_is_not_sought_in_any_block() -> None:
    table, code = table_of(NUMBERS[:-1])
    assert list(table.numbers(NUMBERS[-1])) == []
    assert code.read == []


def test_no_word_more_would_have_fitted_into_a_block() -> None:
    code = GapCode.of(NUMBERS)
    blocks, table = packed(NUMBERS, code, 512)
    assert len(table) == packed_bytes(blocks, 512)
    lengths = list(map(len, code.words(NUMBERS)))
    lasts = [int.from_bytes(table[8 * block : 8 * block + 8], "little") for block in range(blocks)]
    ends = [NUMBERS.index(last) + 1 for last in lasts]
    for start, end in zip([0, *ends], ends, strict=False):
        assert sum(lengths[start:end]) <= 8 * 512
        assert end == len(NUMBERS) or sum(lengths[start : end + 1]) > 8 * 512
    assert ends[-1] == len(NUMBERS)
    # A block may be full to the last bit.
    even = [number << 57 for number in range(1, 65)]
    assert packed(even, GapCode.of(even), 58 * 4 // 8)[0] == 16


@pytest.mark.parametrize("size", [-1, 0, 15, 65_537])
def test_a_block_has_room_for_a_word_and_is_no_table(size: int) -> None:
    with pytest.raises(ValueError, match=f"block_bytes must be from 16 to 65,536, got {size}"):
        packed([1], GapCode.of([1]), size)


@pytest.mark.parametrize("byte", [0x00, 0x5A, 0xFF])
def test_a_damaged_block_is_no_endless_one(byte: int) -> None:
    code = GapCode.of(NUMBERS)
    _, whole = packed(NUMBERS, code, 512)
    damaged = bytearray(whole)
    damaged[-512:] = bytes([byte]) * 512
    with pytest.raises(ValueError, match="damaged"):
        list(PackedTable(memoryview(damaged), 512, code).numbers())
