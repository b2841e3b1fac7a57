"""The quality on labelled real pages never falls below ``quality_floor.json``.

The floors are a little below the values measured when they were set, for the classic rule at the default
distance and for the similarity rule, by the digest of the labels. Raising a floor is progress; lowering a
floor is an explicit act, with a reason in the changelog.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lib.documents import SIMILARITY
from benchmarks.lib.pack import VARIABLE, Pack, absence
from benchmarks.quality import DEFAULT_DISTANCE, measure_pack

pytestmark = pytest.mark.slow("it reads every page of the evaluation packs")

FLOORS: dict[str, Any] = json.loads((Path(__file__).parent / "quality_floor.json").read_text("utf-8"))[
    "packs"
]
RULES = (str(DEFAULT_DISTANCE), SIMILARITY)


@cache
def measured(digest: str) -> dict[str, Any]:
    """Return the precision and recall of each rule on the data set with these labels."""
    packs = Pack.locate_all()
    if not packs:
        pytest.skip(absence())
    for pack in packs:
        if pack.digest == digest:
            within: dict[str, Any] = measure_pack(pack, [DEFAULT_DISTANCE], jobs=os.cpu_count() or 1)[
                "within"
            ]
            return within
    pytest.skip(f"needs the evaluation pack {FLOORS[digest]['name']}: add its folder to {VARIABLE}")


@pytest.fixture(scope="module", params=FLOORS, ids=[floor["name"] for floor in FLOORS.values()])
def digest(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("over", ["all", "mean_over_sources"])
@pytest.mark.parametrize("of", ["precision", "recall"])
def test_precision_and_recall(digest: str, rule: str, over: str, of: str) -> None:
    assert measured(digest)[rule][over][of] >= FLOORS[digest][rule][over][of]


@pytest.mark.parametrize("rule", RULES)
def test_recall_of_pages_with_the_same_main_text(digest: str, rule: str) -> None:
    recall = measured(digest)[rule]["by_similarity"]["=1"]["recall"]
    assert recall >= FLOORS[digest][rule]["same_text"]["recall"]


@pytest.mark.parametrize("rule", RULES)
def test_unlabelled_pages_are_not_joined(digest: str, rule: str) -> None:
    assert measured(digest)[rule]["unlisted"]["count"] <= FLOORS[digest][rule]["unlisted_at_most"]


def test_siblings_of_one_template_are_distinguished(digest: str) -> None:
    siblings = measured(digest)[SIMILARITY]["by_kind"]["different: other-page/sibling-text"]
    assert siblings["different_within"] <= FLOORS[digest][SIMILARITY]["sibling_text_errors_at_most"]
