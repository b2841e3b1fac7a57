"""The program, run for real on few fingerprints."""

import json

import pytest

from benchmarks import pairs


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert pairs.main(["--sizes", "1000", *arguments]) == 0
    return capsys.readouterr().out


def test_every_way_finds_what_was_planted(capsys: pytest.CaptureFixture[str]) -> None:
    results = {one["run"]: one for one in json.loads(run(capsys, "--json"))["results"]}
    assert list(results) == list(pairs.OURS)
    for name in ("auto", "pure", "4 dicts"):
        assert (results[name]["found"], results[name]["recall"]) == (10, 1)
    assert results["connected"]["found"] == 10
    assert results["representatives"]["found"] == 1000
    assert all(one["seconds"] > 0 and one["bytes"] >= 0 for one in results.values())


def test_plans_are_measured_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "--plans", "4x16", "6x21").splitlines()
    assert [line.split()[:2] + line.split()[3:5] for line in lines[-2:]] == [
        ["4x16", "1,000", "10", "1.000"],
        ["6x21", "1,000", "10", "1.000"],
    ]


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pairs.PEERS, "absent", lambda values: __import__("no_such_package"))
    assert pairs.measure("absent", 100) == {
        "run": "absent",
        "size": 100,
        "missing": "No module named 'no_such_package'",
    }


def test_too_few_fingerprints_have_nothing_planted(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pairs.main(["--sizes", "99"])
    assert "a size must be at least 100, got 99" in capsys.readouterr().err
