"""Precision, recall and clusters of an evaluation data set of five documents."""

from __future__ import annotations

import json

import pytest

from benchmarks import clusters, quality
from benchmarks.lib.pack import Pack
from benchmarks.lib.scores import Score
from scrapy_simhash import Config


def test_the_figures_of_the_tiny_pack(pack: Pack, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality.main(["--jobs", "1", "--json", "--k", "3", "0"]) == 0
    result = json.loads(capsys.readouterr().out)
    measured = result[pack.name]
    assert list(measured["within"]) == ["0", "3", "similarity"]
    at_3 = measured["within"]["3"]
    # d1-d2 is found; d3-d4 is missed, since d4 is too short; d1-d3 is correct; d2-d3 is grey.
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
    # d1 and d2 have the same text; d4, paired with d3, is too short; d3 and d5 have the same text and no
    # label.
    assert (figures["pages"], figures["without a fingerprint"]) == (5, 1)
    found = figures["in one cluster"]
    assert (found["all"]["precision"], found["all"]["recall"]) == (1, 0.5)
    assert len(figures["near pairs in two clusters"]) == 1
