"""The quality on labelled real pages never falls below what ``quality_floor.json`` says.

The file holds floors a little below what was measured when they were set, and the digest of the labels they
were measured on. To raise a floor is progress; to lower one is an explicit act, with a reason in the changelog.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pack import Pack, absence
from benchmarks.quality import DEFAULT_DISTANCE, measure_pack

FLOOR: dict[str, Any] = json.loads((Path(__file__).parent / "quality_floor.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    pack = Pack.locate()
    if pack is None:
        pytest.skip(absence())
    if pack.digest != FLOOR["labels_sha256"]:
        pytest.skip(f"the floors were set with other labels than those in {pack.folder}")
    within = measure_pack(pack, [DEFAULT_DISTANCE], jobs=os.cpu_count() or 1)["within"]
    at_default: dict[str, Any] = within[str(DEFAULT_DISTANCE)]
    return at_default


@pytest.mark.parametrize("over", ["all", "mean_over_sources"])
@pytest.mark.parametrize("of", ["precision", "recall"])
def test_precision_and_recall_at_the_default_distance(figures: dict[str, Any], over: str, of: str) -> None:
    assert figures[over][of] >= FLOOR[over][of]


def test_recall_of_pages_whose_main_text_is_the_same(figures: dict[str, Any]) -> None:
    assert figures["by_similarity"]["=1"]["recall"] >= FLOOR["same_text"]["recall"]


def test_pages_that_nobody_labelled_are_not_drawn_together(figures: dict[str, Any]) -> None:
    assert figures["unlisted"]["count"] <= FLOOR["unlisted_at_most"]
