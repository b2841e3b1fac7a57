"""The quality on labelled real pages never falls below what ``quality_floor.json`` says.

The file holds floors a little below what was measured when they were set, for the classic rule at the default
distance and for the second look, and the digest of the labels they were measured on. To raise a floor is progress;
to lower one is an explicit act, with a reason in the changelog.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pack import Pack, absence
from benchmarks.quality import DEFAULT_DISTANCE, SECOND_LOOK, measure_pack

FLOOR: dict[str, Any] = json.loads((Path(__file__).parent / "quality_floor.json").read_text("utf-8"))
RULES = (str(DEFAULT_DISTANCE), SECOND_LOOK)


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    pack = Pack.locate()
    if pack is None:
        pytest.skip(absence())
    if pack.digest != FLOOR["labels_sha256"]:
        pytest.skip(f"the floors were set with other labels than those in {pack.folder}")
    within: dict[str, Any] = measure_pack(pack, [DEFAULT_DISTANCE], jobs=os.cpu_count() or 1)["within"]
    return within


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("over", ["all", "mean_over_sources"])
@pytest.mark.parametrize("of", ["precision", "recall"])
def test_precision_and_recall(figures: dict[str, Any], rule: str, over: str, of: str) -> None:
    assert figures[rule][over][of] >= FLOOR[rule][over][of]


@pytest.mark.parametrize("rule", RULES)
def test_recall_of_pages_whose_main_text_is_the_same(figures: dict[str, Any], rule: str) -> None:
    assert figures[rule]["by_similarity"]["=1"]["recall"] >= FLOOR[rule]["same_text"]["recall"]


@pytest.mark.parametrize("rule", RULES)
def test_pages_that_nobody_labelled_are_not_drawn_together(figures: dict[str, Any], rule: str) -> None:
    assert figures[rule]["unlisted"]["count"] <= FLOOR[rule]["unlisted_at_most"]


def test_siblings_of_one_template_are_told_apart(figures: dict[str, Any]) -> None:
    siblings = figures[SECOND_LOOK]["by_kind"]["different: other-page/sibling-text"]
    assert siblings["different_within"] <= FLOOR[SECOND_LOOK]["sibling_text_errors_at_most"]
