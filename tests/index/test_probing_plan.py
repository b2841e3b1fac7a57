from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

from scrapy_simhash.index.plans import Block, ProbingPlan, partition

# max_distance, blocks, radii, probes
EVEN = [
    (10, 4, (1, 2, 2, 2), 428),
    (10, 3, (2, 3, 3), 3378),  # the wide block, of 22 bits, has the small radius
    (10, 5, (1, 1, 1, 1, 2), 135),
    (8, 4, (1, 1, 1, 2), 188),
    (7, 4, (1, 1, 1, 1), 68),
    (3, 2, (1, 1), 66),
    (8, 2, (3, 4), 46_938),
    (3, 1, (3,), 43_745),
    (0, 1, (0,), 1),
    (1, 3, (0, 0, -1), 2),  # fewer units than blocks: the wide ones have tables
    (64, 64, (0,) * 63 + (1,), 65),
]


@pytest.mark.parametrize(("k", "m", "radii", "probes"), EVEN)
def test_units_are_shared_out_evenly_for_the_fewest_probes(
    k: int, m: int, radii: tuple[int, ...], probes: int
) -> None:
    plan = ProbingPlan.even(k, m)
    assert (plan.radii, plan.probes) == (radii, probes)


@pytest.mark.parametrize(("k", "m"), list(product(range(8), range(3, 7))))
def test_no_other_even_share_makes_fewer_probes(k: int, m: int) -> None:
    units, left = divmod(k + 1, m)
    for extra in product((0, 1), repeat=m):
        if sum(extra) == left:
            radii = tuple(units - 1 + more for more in extra)
            assert ProbingPlan.even(k, m).probes <= ProbingPlan(k, partition(m), radii).probes


@pytest.mark.parametrize(("k", "m"), list(product(range(13), range(3, 7))))
def test_however_differing_bits_are_split_over_blocks_one_is_within_its_radius(k: int, m: int) -> None:
    radii = ProbingPlan.even(k, m).radii
    for owners in combinations_with_replacement(range(m), k):
        assert any(owners.count(block) <= radius for block, radius in enumerate(radii))


@pytest.mark.parametrize(("k", "m"), list(product(range(1, 13), range(3, 7))))
def test_a_smaller_radius_anywhere_would_miss_a_pair(k: int, m: int) -> None:
    plan = ProbingPlan.even(k, m)
    for block, radius in enumerate(plan.radii):
        if radius >= 0:
            fewer = tuple(r - (number == block) for number, r in enumerate(plan.radii))
            with pytest.raises(ValueError, match="miss pairs"):
                ProbingPlan(k, plan.blocks, fewer)


@pytest.mark.parametrize(
    ("radii", "message"),
    [
        ((1, 1, 1), r"must be a radius, -1 or more, for each of 2 blocks, got \(1, 1, 1\)"),
        ((), r"must be a radius, -1 or more, for each of 2 blocks, got \(\)"),
        ((5, -2), r"must be a radius, -1 or more, for each of 2 blocks, got \(5, -2\)"),
        ((1, 0), r"radii \(1, 0\) miss pairs that differ in 3 bits"),
        ((-1, -1), r"radii \(-1, -1\) miss pairs that differ in 3 bits"),
        (
            (9, 9),
            "max_distance 3 with 2 blocks: 86,163,946 probes a search are too many, the limit is 50,000",
        ),
    ],
)
def test_a_plan_that_is_malformed_not_exact_or_too_slow_cannot_be_made(
    radii: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ProbingPlan(3, partition(2), radii)


@pytest.mark.parametrize("blocks", [(Block(0, 8), Block(4, 8)), (Block(60, 8),), (Block(0, 1), Block(0, 1))])
def test_blocks_that_overlap_or_leave_the_64_bits_are_refused(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(ValueError, match="blocks must not overlap and must lie within 64 bits"):
        ProbingPlan(0, blocks, (0,) * len(blocks))
