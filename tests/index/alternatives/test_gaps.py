from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives.gaps import KINDS, LENGTHS, LONGEST, GapCode
from tests.index.values import ALL_ONES, fingerprints

kinds = pytest.mark.parametrize("kind", KINDS)
rising = st.sets(fingerprints, min_size=1, max_size=40).map(sorted)


@kinds
@given(rising, st.integers(0, 39))
def test_what_is_written_is_read_again_from_any_number_on(kind: str, numbers: list[int], cut: int) -> None:
    code = GapCode.of(numbers, kind)
    words = list(code.words(numbers))
    cut %= len(numbers)
    text = "".join(words[cut:]) + "0" * 7
    start = numbers[cut - 1] if cut else 0
    # From the lengths alone, as they are stored.
    again = GapCode(bytes(code.word_lengths), kind)
    assert list(again.numbers(text, start, numbers[-1])) == numbers[cut:]


@kinds
@pytest.mark.parametrize("numbers", [[0], [ALL_ONES], [0, ALL_ONES], [0, 1], [ALL_ONES - 1, ALL_ONES], [1]])
def test_the_ends_of_the_range_are_written_too(kind: str, numbers: list[int]) -> None:
    code = GapCode.of(numbers, kind)
    assert len(code.word_lengths) == LENGTHS
    assert list(code.numbers("".join(code.words(numbers)), 0, numbers[-1])) == numbers


def test_a_word_is_never_longer_than_said() -> None:
    # Lengths of gaps as uneven as Huffman's code can bear: the longest gap has the longest word.
    lengths = [64, 64, *range(63, 0, -1)]
    code = GapCode(lengths[::-1])
    assert len(*code.words([2**63])) == LONGEST


def test_a_difference_is_shorter_than_an_xor_by_more_than_a_bit() -> None:
    draw = random.Random(7)
    numbers = sorted(draw.getrandbits(64) for _ in range(10_000))
    bits = {kind: sum(map(len, GapCode.of(numbers, kind).words(numbers))) / 10_000 for kind in KINDS}
    assert bits["difference"] + 1 < bits["xor"]


@kinds
def test_a_text_that_ends_too_soon_is_damaged(kind: str) -> None:
    numbers = [1, 5, 100, 2**40]
    code = GapCode.of(numbers, kind)
    text = "".join(code.words(numbers))
    for end in (0, 1, len(text) // 2):
        with pytest.raises(ValueError, match="damaged"):
            list(code.numbers(text[:end], 0, numbers[-1]))


@kinds
def test_a_text_that_goes_beyond_the_last_number_is_damaged(kind: str) -> None:
    numbers = [1, 5, 100, 2**40]
    code = GapCode.of(numbers, kind)
    with pytest.raises(ValueError, match="greater than the last"):
        list(code.numbers("".join(code.words(numbers)), 0, last=99))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of difference, xor, got 'ratio'"):
        GapCode([1], kind="ratio")
