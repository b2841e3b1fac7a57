"""The program, run for real on a small index."""

import json

import pytest

from benchmarks import index


def test_every_design_finds_what_was_planted(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main(["--sizes", "300", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(one["design"], one["size"], one["recall"]) for one in results] == [
        ("6 blocks", 300, 1),
        ("4 dicts", 300, 1),
        ("scan", 300, 1),
    ]


def test_a_wide_distance_is_measured_with_probing(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main(["--sizes", "300", "--distance", "10", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(one["design"], one["recall"]) for one in results] == [("probing 4", 1), ("scan", 1)]
