from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.fixtures.pages import Pair
from tests.golden import explanations, recipe

ADVICE = """
These fingerprints have changed. Stores hold fingerprints, and old ones must never be compared with new ones:
before a release with such a change, SCHEME in fingerprinter.py gets a new name ("web-4" becomes "web-5"), and a named
scheme a higher version.
Then write the new ones with: python -m tests.golden --write
"""


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return recipe.made()


def test_fingerprints_are_bit_for_bit_those_committed(made: dict[str, str]) -> None:
    changes = recipe.changes(made, recipe.committed())
    assert not changes, "\n".join([ADVICE, *changes])


def test_another_process_with_another_hash_seed_returns_the_same(made: dict[str, str]) -> None:
    program = "import json; from tests.golden import recipe; print(json.dumps(recipe.made()))"
    outputs = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
        )
        outputs.add(done.stdout)
    assert {json.dumps(made) + "\n"} == outputs


# --- Explanations.

TOLD = """
The output of compare has changed. If this is intended, review the difference and write the new output with:
python -m tests.golden --write
"""


def test_compare_returns_the_committed_results_for_a_dozen_pairs() -> None:
    changes = explanations.changes()
    assert not changes, "\n".join([TOLD, *changes])


def test_compare_has_the_verdicts_of_the_recorded_pairs() -> None:
    statuses = {(pair.first, pair.second): pair.status for pair in Pair.all() if not pair.fails}
    for name, pair in explanations.PAIRS.items():
        facts = json.loads(explanations.committed()[f"{name}.json"])
        if pair in statuses:
            assert facts["is_near_duplicate"] is (statuses[pair] == "near_duplicate"), name
