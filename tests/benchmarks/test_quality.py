"""Precision, recall and clusters of a tiny labelled set, computed by hand, and of a pack of five documents."""

from __future__ import annotations

import json

import pytest

from benchmarks import clusters, quality
from benchmarks.lib.pack import Pack, Pair
from benchmarks.lib.scores import Score, compare, score, scores_by
from scrapy_simhash import Config, hamming_distance

#: Distances that can be read off: a-b 1 bit, a-c 4 bits, b-c 5 bits, a-d 64 bits; e has no fingerprint.
VALUES = {"a": 0b0, "b": 0b1, "c": 0b11110, "d": 2**64 - 1, "e": None}


def pair(a: str, b: str, label: str, source: str = "one") -> Pair:
    return Pair(a, b, label, "", 1.0, source)


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


def within(k: int) -> list[bool]:
    return [bits is not None and bits <= k for bits in BITS]


@pytest.mark.parametrize(
    ("k", "expected", "precision", "recall"),
    [
        (0, Score(4, 0, 3, 0), None, 0),
        (1, Score(4, 1, 3, 0), 1, 1 / 4),
        (4, Score(4, 2, 3, 0), 1, 2 / 4),
        (5, Score(4, 2, 3, 1), 2 / 3, 2 / 4),
        (64, Score(4, 3, 3, 2), 3 / 5, 3 / 4),
    ],
)
def test_precision_and_recall(k: int, expected: Score, precision: float | None, recall: float) -> None:
    assert compare(PAIRS, VALUES, hamming_distance) == BITS
    scored = score(PAIRS, within(k))
    assert scored == expected
    assert (scored.precision, scored.recall) == (precision, recall)


def test_undecided_pairs_make_no_group_and_each_group_is_scored_alone() -> None:
    groups = scores_by(lambda pair: pair.source, PAIRS, within(5))
    assert groups == {"one": Score(4, 2, 0, 0), "two": Score(0, 0, 3, 1)}


def test_the_figures_of_the_tiny_pack(pack: Pack, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main(["--jobs", "1", "--json", "--k", "3", "0"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["the example site"]["within"]["similarity"]["by_grade"][">=.99"]["recall"] > 0.85
    measured = result[pack.name]
    assert list(measured["within"]) == ["0", "3", "similarity"]
    at_3 = measured["within"]["3"]
    # d1-d2 is found; d3-d4 is not, since d4 is too short; d1-d3 is no error; d2-d3 is grey.
    assert at_3["all"] == {**Score(2, 1, 1, 0)._asdict(), "precision": 1, "recall": 0.5}
    assert at_3["mean_over_sources"] == {"precision": 1, "recall": 0.5}
    assert {name: one["recall"] for name, one in at_3["by_source"].items()} == {"ferries": 1, "bakers": 0}
    assert {name: one["near"] for name, one in at_3["by_similarity"].items()} == {
        "=1": 1,
        ".90-.95": 1,
        "below .90": 0,
    }
    assert at_3["unlisted"] == {"count": 1, "of_two_sites": 0}
    assert measured["no_fingerprint"]["bakers"] == {"pages": 3, "without": 1}
    perfect = {"pages": 1, "precision": 1, "recall": 1, "f1": 1, "near": 1}
    assert measured["extraction"] == {"all": perfect, "article": perfect, "ferries": perfect}


def test_clusters_of_the_tiny_pack(pack: Pack) -> None:
    figures = clusters.measure_pack(pack, Config(), orders=2, show_first=3)
    # d1 and d2 have one text; d4, of d3 and d4, is too short; d3 and d5 have one text and no label.
    assert (figures["pages"], figures["without a fingerprint"]) == (5, 1)
    found = figures["in one cluster"]
    assert (found["all"]["precision"], found["all"]["recall"]) == (1, 0.5)
    assert (found["ferries"]["recall"], found["bakers"]["recall"]) == (1, 0)
    assert len(figures["near pairs in two clusters"]) == 1
