from __future__ import annotations

from itertools import permutations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.index.alternatives.huffman import code_lengths, words

counts = st.lists(st.integers(0, 50), max_size=65)


@given(counts)
def test_no_word_begins_another_one(numbers: list[int]) -> None:
    given_words = words(code_lengths(numbers))
    assert set(given_words) == {symbol for symbol, count in enumerate(numbers) if count}
    for word, other in permutations(given_words.values(), 2):
        assert not other.startswith(word)


@given(counts.filter(lambda numbers: sum(map(bool, numbers)) > 1))
def test_a_text_is_less_than_a_bit_a_symbol_longer_than_its_entropy(numbers: list[int]) -> None:
    total = sum(numbers)
    length = sum(map(int.__mul__, numbers, code_lengths(numbers)))
    entropy = sum(count * log2(total / count) for count in numbers if count)
    assert entropy - 1e-6 <= length < entropy + total


@given(counts.filter(lambda numbers: sum(map(bool, numbers)) > 1))
def test_no_word_could_be_shorter_and_none_is_wasted(numbers: list[int]) -> None:
    lengths = code_lengths(numbers)
    assert sum(0.5**length for length in lengths if length) == 1
    for a, b in zip(*[iter(range(len(lengths)))] * 2, strict=False):
        if numbers[a] > numbers[b] > 0:
            assert lengths[a] <= lengths[b]


@pytest.mark.parametrize(
    ("numbers", "lengths"),
    [
        ([], []),
        ([0, 0], [0, 0]),
        ([0, 9], [0, 1]),
        ([1, 1, 1, 1], [2, 2, 2, 2]),
        ([1, 1, 2, 4, 8], [4, 4, 3, 2, 1]),
    ],
)
def test_lengths(numbers: list[int], lengths: list[int]) -> None:
    assert code_lengths(numbers) == lengths


def test_the_longest_word_of_65_symbols_has_64_bits() -> None:
    fibonacci = [1, 1]
    while len(fibonacci) < 65:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert max(code_lengths(fibonacci)) == 64
    assert words(code_lengths(fibonacci))[64] == "0"


@pytest.mark.parametrize("lengths", [[1, 1, 1], [1, 2, 2, 2], [1, 1, 64]])
def test_lengths_of_no_code_are_refused(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="no prefix code"):
        words(lengths)
