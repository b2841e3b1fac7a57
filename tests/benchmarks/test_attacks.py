"""The program, run for real on small attacks."""

from __future__ import annotations

import json

import pytest

from benchmarks import attacks
from benchmarks.lib.readers import readers

ONLY = ["--only", "comments", "Link headers", "www", "--scale", "0.01", "--repeats", "1"]


def test_programs_get_the_times_of_each_way_for_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert attacks.main([*ONLY, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["attacks"]["comments"]
    assert {name for name in result if name not in ("bytes", "parse")} == set(readers())
    for ways in (result[name] for name in readers()):
        assert {"read", "hints", "protections", "floods", "middleware"} <= set(ways)
        assert {len(times) for times in ways.values()} == {3}
