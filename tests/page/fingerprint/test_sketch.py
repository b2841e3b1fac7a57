from __future__ import annotations

import random
from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.fingerprint import (
    EQUAL_KEY,
    NO_KEY,
    OTHER_KEY,
    WITHIN,
    compare_keys,
    similarity,
    sketch,
)


def jaccard(a: Set[int], b: Set[int]) -> float:
    return len(a & b) / len(a | b)


def pair_with_common_part(common: int, own: int, seed: int) -> tuple[set[int], set[int]]:
    draw = random.Random(seed)
    numbers = [draw.getrandbits(64) for _ in range(common + 2 * own)]
    return set(numbers[: common + own]), set(numbers[:common] + numbers[common + own :])


def naive_bins(shingles: Set[int]) -> str:
    """Write the bins as base-4 digits: 0 for an empty bin, else one of three marks of the shingle with the
    lowest rank.
    """
    bins: list[list[int]] = [[] for _ in range(448)]
    for shingle in shingles:
        top, rank = divmod(shingle, 2**32)
        bins[top * 448 // 2**32].append(rank)
    marks = [1 + 3 * (min(ranks) * 0x9E3779B1 % 2**32) // 2**32 if ranks else 0 for ranks in bins]
    return "".join(map(str, marks))


@given(
    st.sets(st.integers(0, 2**64 - 1), max_size=60) | st.sets(st.sampled_from([0, 1, 2**32 - 1, 2**64 - 1]))
)
def test_a_bin_has_the_mark_of_its_lowest_shingle(shingles: set[int]) -> None:
    assert sketch(shingles, [])[:112] == int(naive_bins(shingles), 4).to_bytes(112, "big")


@pytest.mark.parametrize(
    ("common", "own", "bias", "most"),
    [
        *(
            (common, own, 0.015, 0.13)
            for common, own in ((950, 25), (900, 50), (800, 100), (500, 250), (0, 500))
        ),
        # Short pages; their estimates have no bias, either.
        *((common, own, 0.05, 1.0) for common, own in ((12, 1), (30, 3), (100, 10))),
    ],
)
def test_the_estimate_is_near_the_true_share_of_common_shingles(
    common: int, own: int, bias: float, most: float
) -> None:
    errors = []
    for seed in range(60):
        a, b = pair_with_common_part(common, own, seed)
        errors.append(similarity(sketch(a, []), sketch(b, [])) - jaccard(a, b))
    assert abs(sum(errors) / len(errors)) < bias, "almost no bias"
    assert max(map(abs, errors)) < most, "five standard errors"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("numpy maximum", "numpy maximum", EQUAL_KEY),
        ("from porto to ghent", "from ghent to porto", OTHER_KEY),
        ("7 10 2025", "10 7 2025", OTHER_KEY),
        ("numpy maximum", "numpy minimum", OTHER_KEY),
        ("the array interface", "the array interface protocol", WITHIN),
        ("array", "matrix", OTHER_KEY),
        ("", "matrix", NO_KEY),  # no words to contradict
        ("", "", NO_KEY),
        # one of many words
        ("project manager m f d in évora", "project manager m f d in zwolle", OTHER_KEY),
        ("a b c d e f g h i j k l m n", "a b c d e f g h i j k l m o", OTHER_KEY),
        ("a b c d e f g h i j k l m n", "a b c d e f g h i j k l m n o p", WITHIN),
        ("a b c d", "a b c d e f g h i j k l", WITHIN),
        ("a b c d z", "a b c d e f g h i j k l", OTHER_KEY),
    ],
)
def test_title_keys_contradict_if_each_has_a_word_that_the_other_lacks(a: str, b: str, expected: int) -> None:
    sketch_a, sketch_b = sketch([1], a.split()), sketch([1], b.split())
    assert compare_keys(sketch_a, sketch_b) == expected
    assert compare_keys(sketch_b, sketch_a) == expected


@given(
    st.sets(st.integers(0, 60), min_size=1, max_size=50), st.sets(st.integers(0, 60), min_size=1, max_size=50)
)
def test_long_title_keys_compare_like_sets_of_words(one: set[int], other: set[int]) -> None:
    found = compare_keys(
        *(sketch([1], [f"word{number}" for number in sorted(words)]) for words in (one, other))
    )
    if one == other:
        assert found == EQUAL_KEY
    elif one < other or other < one:
        assert found == WITHIN
    elif max(len(one), len(other)) <= 6 or len(one) == len(other):
        assert found == OTHER_KEY
    else:
        # Only some words of a long title are kept.
        assert found in (WITHIN, OTHER_KEY)
