"""Precision and recall of a tiny labelled set, computed by hand."""

import pytest

from benchmarks.lib.pack import Pair
from benchmarks.lib.scores import Found, Score, compare, mean, score, scores_by, unlisted, within
from scrapy_simhash import hamming_distance

#: Distances that can be read off: a-b 1 bit, a-c 4 bits, b-c 5 bits, a-d 64 bits; e has no fingerprint.
VALUES = {"a": 0b0, "b": 0b1, "c": 0b11110, "d": 2**64 - 1, "e": None}


def pair(a: str, b: str, label: str, source: str = "one") -> Pair:
    return Pair(a, b, label, "", 1.0, source, "en")


PAIRS = [
    pair("a", "b", "near"),
    pair("a", "c", "near"),
    pair("a", "d", "near"),
    pair("a", "e", "near"),  # a miss at every distance
    pair("b", "c", "different", "two"),
    pair("c", "d", "different", "two"),
    pair("d", "e", "different", "two"),  # no error at any distance
    pair("b", "d", "grey", "three"),
]
BITS = [1, 4, 64, None, 5, 60, None, 63]


def test_distances_are_none_where_a_page_has_no_fingerprint() -> None:
    assert compare(PAIRS, VALUES, hamming_distance) == BITS


@pytest.mark.parametrize(
    ("k", "near_within", "different_within", "precision", "recall"),
    [
        (0, 0, 0, None, 0),
        (1, 1, 0, 1, 1 / 4),
        (4, 2, 0, 1, 2 / 4),
        (5, 2, 1, 2 / 3, 2 / 4),
        (64, 3, 2, 3 / 5, 3 / 4),
    ],
)
def test_precision_and_recall(
    k: int, near_within: int, different_within: int, precision: float | None, recall: float
) -> None:
    scored = score(PAIRS, within(BITS, k))
    assert scored == Score(4, near_within, 3, different_within)
    assert (scored.precision, scored.recall) == (precision, recall)


def test_a_pair_without_a_hit_is_a_miss_or_no_error() -> None:
    assert score(PAIRS, [None] * len(PAIRS)) == Score(4, 0, 3, 0)


def test_f1_is_the_harmonic_mean() -> None:
    assert Score(4, 2, 3, 2).f1 == pytest.approx(0.5)
    assert (Score(4, 0, 3, 2).f1, Score().f1) == (0, 0)


def test_nothing_has_neither_precision_nor_recall() -> None:
    assert (Score().precision, Score().recall) == (None, None)


def test_grey_pairs_make_no_group_and_each_group_is_scored_by_itself() -> None:
    groups = scores_by(lambda pair: pair.source, PAIRS, within(BITS, 5))
    assert groups == {"one": Score(4, 2, 0, 0), "two": Score(0, 0, 3, 1)}


def test_the_mean_is_over_the_sources_that_have_near_pairs_whatever_their_size() -> None:
    large, small, without = Score(100, 90, 0, 0), Score(2, 1, 9, 1), Score(0, 0, 5, 5)
    assert mean([large, small, without]) == {"precision": (1 + 1 / 2) / 2, "recall": (0.9 + 0.5) / 2}


def test_unlisted_pairs_are_those_that_no_pair_names_whatever_its_label() -> None:
    known = {id: value for id, value in VALUES.items() if value is not None} | {"f": 0b1}
    assert unlisted(known, PAIRS, 5) == [Found(0, "b", "f"), Found(1, "a", "f"), Found(5, "c", "f")]
    assert unlisted(known, PAIRS, 0) == [Found(0, "b", "f")]
