"""The program, run for real on small indexes."""

import json

import pytest

from benchmarks import plans


def test_every_plan_is_measured_beside_its_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    assert plans.main(["--sizes", "300", "1k", "--plans", "4x16", "20x32", "--calls", "18", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(one["size"], one["plan"]) for one in results] == [
        *((300, "4x16"), (300, "20x32")),
        *((1000, "4x16"), (1000, "20x32")),
    ]
    assert all(
        figure > 0 for one in results for name, figure in one.items() if "bytes" in name or "foreseen" in name
    )


def test_the_table_has_a_line_for_every_plan_of_the_distance(capsys: pytest.CaptureFixture[str]) -> None:
    assert plans.main(["--sizes", "300", "--distance", "2", "--calls", "18"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-4:]] == ["3x21", "4x25", "6x32", "7x36"]


def test_plans_that_probe_are_measured_too(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--sizes",
        "30k",
        "--distance",
        "10",
        "--plans",
        "26x9",
        "probing 4",
        "--calls",
        "18",
        "--json",
    ]
    assert plans.main(arguments) == 0
    probing = json.loads(capsys.readouterr().out)["results"][1]
    assert (probing["plan"], probing["size"]) == ("probing 4", 30_000)
    assert probing["bytes"] == pytest.approx(probing["foreseen_bytes"], rel=0.25)


def test_a_plan_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        plans.main(["--plans", "5x16"])
    assert "--plans must be of 4x16, 5x18" in capsys.readouterr().err
