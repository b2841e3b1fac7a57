from __future__ import annotations

import random
from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.page.fingerprint import SKETCH_BYTES, same_subject, similarity, sketch

hashes = st.sets(st.integers(0, 2**64 - 1), min_size=1, max_size=60)


def jaccard(a: Set[int], b: Set[int]) -> float:
    return len(a & b) / len(a | b)


def pair_with_common_part(common: int, own: int, seed: int) -> tuple[set[int], set[int]]:
    draw = random.Random(seed)
    numbers = [draw.getrandbits(64) for _ in range(common + 2 * own)]
    return set(numbers[: common + own]), set(numbers[:common] + numbers[common + own :])


@given(hashes)
def test_a_sketch_is_128_bytes_whatever_the_length_of_the_page(shingles: set[int]) -> None:
    assert len(sketch(shingles, ["word"])) == SKETCH_BYTES == 128


@given(hashes, st.randoms())
def test_order_and_repetitions_do_not_matter(shingles: set[int], random: random.Random) -> None:
    shuffled = [*shingles, *shingles]
    random.shuffle(shuffled)
    assert sketch(shuffled, []) == sketch(sorted(shingles), [])


def naive_bins(shingles: Set[int]) -> str:
    """Spell the bins as base-4 digits: 0 where no shingle falls, else one of three marks of the least rank."""
    bins: list[list[int]] = [[] for _ in range(448)]
    for shingle in shingles:
        top, rank = divmod(shingle, 2**32)
        bins[top * 448 // 2**32].append(rank)
    marks = [1 + 3 * (min(ranks) * 0x9E3779B1 % 2**32) // 2**32 if ranks else 0 for ranks in bins]
    return "".join(map(str, marks))


@given(
    st.sets(st.integers(0, 2**64 - 1), max_size=60) | st.sets(st.sampled_from([0, 1, 2**32 - 1, 2**64 - 1]))
)
def test_a_bin_holds_the_mark_of_its_least_shingle(shingles: set[int]) -> None:
    assert sketch(shingles, [])[:112] == int(naive_bins(shingles), 4).to_bytes(112, "big")


def test_all_bins_of_a_long_page_hold_the_mark_of_their_least_shingle() -> None:
    draw = random.Random(448)
    shingles = {draw.getrandbits(64) for _ in range(5_000)}
    assert "0" not in naive_bins(shingles)
    assert sketch(shingles, [])[:112] == int(naive_bins(shingles), 4).to_bytes(112, "big")


@given(hashes)
def test_a_page_is_wholly_similar_to_itself(shingles: set[int]) -> None:
    assert similarity(sketch(shingles, []), sketch(shingles, [])) == 1.0


def test_a_page_of_any_length_is_no_rounding_error_away_from_itself() -> None:
    for size in (*range(1, 500), 1_000, 5_000):
        page = sketch((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(1, size + 1)), [])
        assert similarity(page, page) == 1.0, size


@given(hashes, hashes)
def test_similarity_is_symmetric_and_a_share(a: set[int], b: set[int]) -> None:
    estimate = similarity(sketch(a, []), sketch(b, []))
    assert estimate == similarity(sketch(b, []), sketch(a, []))
    assert 0 <= estimate <= 1


@pytest.mark.parametrize(("common", "own"), [(950, 25), (900, 50), (800, 100), (500, 250), (0, 500)])
def test_the_estimate_is_near_the_true_share_of_common_shingles(common: int, own: int) -> None:
    errors = []
    for seed in range(40):
        a, b = pair_with_common_part(common, own, seed)
        errors.append(similarity(sketch(a, []), sketch(b, [])) - jaccard(a, b))
    assert abs(sum(errors) / len(errors)) < 0.015, "no bias to speak of"
    assert max(map(abs, errors)) < 0.13, "five standard errors"


@pytest.mark.parametrize("size", [12, 30, 100])
def test_short_pages_are_estimated_without_bias_as_well(size: int) -> None:
    errors = []
    for seed in range(60):
        a, b = pair_with_common_part(size, max(1, size // 10), seed)
        errors.append(similarity(sketch(a, []), sketch(b, [])) - jaccard(a, b))
    assert abs(sum(errors) / len(errors)) < 0.05


def test_two_pages_without_a_shingle_have_nothing_in_common() -> None:
    empty = sketch([], ["word"])
    assert similarity(empty, empty) == 0.0
    assert similarity(empty, sketch([1, 2, 3], ["word"])) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("numpy maximum", "numpy maximum", True),
        ("numpy maximum", "numpy minimum", False),
        ("the array interface", "the array interface protocol", True),  # held by the longer one
        ("array", "matrix", False),
        ("", "matrix", True),  # nothing to contradict
        ("", "", True),
        ("a b c d e f g", "a b c d e f h", True),  # one in seven
        ("a b c d e f", "a b c d e h", False),
    ],
)
def test_subjects_agree_when_nearly_all_words_of_the_shorter_are_in_the_other(
    a: str, b: str, same: bool
) -> None:
    sketch_a, sketch_b = sketch([1], a.split()), sketch([1], b.split())
    assert same_subject(sketch_a, sketch_b) is same
    assert same_subject(sketch_b, sketch_a) is same


def test_a_long_subject_agrees_with_itself() -> None:
    words = [f"word{i}" for i in range(40)]
    assert same_subject(sketch([1], words), sketch([2], reversed(words)))
    assert not same_subject(sketch([1], words), sketch([1], [f"other{i}" for i in range(40)]))
