"""Precision and recall of an evaluation data set of five documents."""

from __future__ import annotations

import json

import pytest

from benchmarks import quality
from benchmarks.lib.pack import Pack
from benchmarks.lib.scores import Score


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
