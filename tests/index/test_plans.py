"""Classic and probing plans: their shapes, the proof that they are exact, and invalid plans."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from scrapy_simhash.index.plans import (
    MAX_CLASSIC,
    MAX_TABLES,
    classic,
    partition,
    plan_for,
    probing,
)

# --- The probing plan.


@pytest.mark.parametrize(("k", "blocks"), list(product(range(65), [1, 2, 3, 4, 5, 6, 8, 64])))
def test_the_radii_of_a_probing_plan_are_exact_and_minimal(k: int, blocks: int) -> None:
    plan = probing(k, blocks)
    assert sum(radius + 1 for _, radius in plan) == k + 1
    radii = [radius for _, radius in plan] + [-1] * (blocks - len(plan))
    assert max(radii) - min(radii) <= 1
    assert {mask for mask, _ in plan} <= set(partition(blocks))


# --- The default plan.


@pytest.mark.parametrize("k", range(65))
def test_auto_is_distance_plus_one_blocks_up_to_three_and_probing_beyond(k: int) -> None:
    assert MAX_CLASSIC == 3
    assert plan_for(k, "auto") == (classic(k, k + 1) if k <= 3 else probing(k, 5))


@pytest.mark.parametrize(
    ("k", "blocks", "error", "message"),
    [
        (3, 2, ValueError, r"blocks must be greater than max_distance \(3\), got 2"),
        (1, 65, ValueError, "blocks must be at most 64, got 65"),
        (3, 20, ValueError, f"with 20 blocks needs 1,140 tables; the limit is {MAX_TABLES:,}"),
        (3, True, TypeError, "blocks must be an integer, got True"),
        (3, "6", TypeError, "blocks must be an integer, got '6'"),
    ],
)
def test_invalid_numbers_of_blocks_are_refused(
    k: int, blocks: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        plan_for(k, blocks)
