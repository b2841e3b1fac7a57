"""The program, run for real on few pages."""

from typing import Any

import pytest

from benchmarks import ladders


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return {
        "edits": ladders.measure_edits(3),
        "templates": ladders.measure_templates(20),
        "variants": ladders.measure_variants(),
    }


def test_what_is_found_falls_with_the_size_of_the_edit(result: dict[str, Any]) -> None:
    ladder = [one for one in ladders.broken({**result, "templates": [], "variants": []}) if ":" in one]
    assert not ladder


def test_the_four_small_differences_are_found(result: dict[str, Any]) -> None:
    assert {one["kind"] for one in result["edits"]["kinds"]} == {
        "advertisement",
        "counter",
        "timestamp",
        "new title",
    }
    assert all(one["found"] == 1 for one in result["edits"]["kinds"])


def test_no_variant_is_merged(result: dict[str, Any]) -> None:
    assert {one["kind"]: one["merged"] for one in result["variants"]} == dict.fromkeys(ladders.VARIANTS, 0)
    assert all(one["pairs"] for one in result["variants"])


def test_a_broken_demand_is_said(result: dict[str, Any]) -> None:
    merged = {"kind": "translation", "pairs": 2, "merged": 1, "merged_at_3_bits": 0}
    wrong = {"edits": {"rungs": [], "kinds": []}, "templates": [], "variants": [merged]}
    assert ladders.broken(wrong) == ["translation: 1 pairs merged"]
