"""Classic and probing plans: their shapes, and the proof that they are exact."""

from __future__ import annotations

from itertools import product

import pytest

from scrapy_simhash.index.plans import MAX_CLASSIC, classic, partition, plan_for, probing


@pytest.mark.parametrize(("k", "blocks"), list(product(range(65), [1, 2, 3, 4, 5, 6, 8, 64])))
def test_the_radii_of_a_probing_plan_are_exact_and_minimal(k: int, blocks: int) -> None:
    plan = probing(k, blocks)
    assert sum(radius + 1 for _, radius in plan) == k + 1
    radii = [radius for _, radius in plan] + [-1] * (blocks - len(plan))
    assert max(radii) - min(radii) <= 1
    assert {mask for mask, _ in plan} <= set(partition(blocks))


@pytest.mark.parametrize("k", range(65))
def test_auto_is_distance_plus_one_blocks_up_to_three_and_probing_beyond(k: int) -> None:
    assert MAX_CLASSIC == 3
    assert plan_for(k, "auto") == (classic(k, k + 1) if k <= 3 else probing(k, 5))
