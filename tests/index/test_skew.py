from __future__ import annotations

import random
from collections import Counter

import pytest

from scrapy_simhash.index import Plan, ProbingPlan, SimhashIndex, skew
from scrapy_simhash.index.plans.cost import cost
from scrapy_simhash.index.pure.cells import flips
from scrapy_simhash.index.skew import SAMPLE, effective_bits, probed_share, sample_of

FOUR = Plan.classic(max_distance=3, blocks=4)


def uneven(count: int, bits: int) -> list[int]:
    """Random fingerprints of which the leading block of 16 bits has only *bits* that differ."""
    draw = random.Random(bits)
    return [draw.getrandbits(64) & ~(0xFFFF << 48 + bits) & 2**64 - 1 for _ in range(count)]


def test_keys_of_random_fingerprints_are_worth_their_bits() -> None:
    assert effective_bits(FOUR, uneven(20_000, 16)) == pytest.approx((16,) * 4, abs=0.05)


@pytest.mark.parametrize("bits", [0, 4, 10])
def test_a_key_is_worth_the_bits_in_which_fingerprints_differ(bits: int) -> None:
    assert effective_bits(FOUR, uneven(20_000, bits))[0] == pytest.approx(bits, abs=0.05)


def test_bits_that_are_mostly_set_are_worth_less() -> None:
    draw = random.Random(1)
    # Each is set three times in four, so that two agree in it five times in eight: 0.68 bits.
    values = [draw.getrandbits(64) | draw.getrandbits(64) for _ in range(20_000)]
    assert effective_bits(FOUR, values) == pytest.approx((16 * 0.678,) * 4, rel=0.02)


@pytest.mark.parametrize("values", [[], [7], [1, 2**16, 2**32, 2**48]])
def test_what_the_sample_does_not_show_is_what_the_key_has(values: list[int]) -> None:
    plan = Plan.classic(max_distance=0, blocks=1)
    assert effective_bits(plan, values) == (64.0,)


def test_candidates_foreseen_with_effective_bits_are_those_of_a_search() -> None:
    values = uneven(4000, 6)
    stored, asked = values[:3000], values[3000:]
    foreseen = cost(FOUR, len(stored), bits=effective_bits(FOUR, stored)).candidates
    cells = [(block, Counter(map(block.of, stored))) for block in FOUR.blocks]
    agreeing = sum(cell[block.of(value)] for value in asked for block, cell in cells)
    assert agreeing / len(asked) == pytest.approx(foreseen, rel=0.05)


def test_near_duplicates_are_left_out_of_a_sample_as_an_index_would() -> None:
    draw = random.Random(2)
    originals = [draw.getrandbits(64) for _ in range(300)]
    values = originals + [value ^ 1 << draw.randrange(64) for value in originals]
    assert sample_of(values, max_distance=3).tolist() == originals
    assert sample_of(values * 2, max_distance=0).tolist() == values


def test_of_many_fingerprints_some_are_drawn_always_the_same() -> None:
    values = uneven(SAMPLE + 5000, 16)
    drawn = sample_of(values, max_distance=3)
    assert len(drawn) == SAMPLE
    assert set(drawn) < set(values)
    assert drawn == sample_of(values, max_distance=3)
    assert drawn.tolist() != values[:SAMPLE]


@pytest.mark.parametrize("max_distance", [0, 6, 20])
def test_a_sample_is_what_an_index_of_any_distance_would_store(max_distance: int) -> None:
    values = [draw & 0xFFFF for draw in uneven(300, 16)]
    index = SimhashIndex(max_distance, max_distance + 1)
    index.find_or_add_many(values)
    assert sorted(sample_of(values, max_distance)) == sorted(value for value, _ in index)


@pytest.mark.parametrize(("k", "m"), [(10, 4), (10, 5), (6, 4), (4, 4), (12, 3)])
def test_the_share_that_a_probing_plan_compares_is_counted(k: int, m: int) -> None:
    draw = random.Random(m)
    plan = ProbingPlan.even(k, m)
    # Two bits are always as they are, and one depends on another.
    values = [draw.getrandbits(64) & ~0b11 for _ in range(300)]
    values = [value & ~(1 << 40) | (value >> 41 & 1) << 40 for value in values]
    candidates = sum(
        (block.of(a) ^ block.of(b)).bit_count() <= radius
        for a in values
        for b in values
        if a != b
        for block, radius in zip(plan.blocks, plan.radii, strict=True)
        if radius >= 0
    )
    none = sum(
        plan_share
        for block, radius in zip(plan.blocks, plan.radii, strict=True)
        if radius >= 0
        and not any(
            (block.of(a) ^ block.of(b)).bit_count() <= radius for a in values for b in values if a != b
        )
        for plan_share in [len(flips(block.width, radius)) / 2**block.width]
    )
    assert probed_share(plan, values) == pytest.approx(candidates / (300 * 299) + none)


def test_a_wide_radius_asks_for_fewer_values_and_finds_about_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    plan = ProbingPlan.even(10, 4)
    values = [draw.getrandbits(64) for _ in range(5000)]
    all_of_them = probed_share(plan, values)
    monkeypatch.setattr(skew, "MOST_LOOKED_UP", 100_000)
    assert probed_share(plan, values) == pytest.approx(all_of_them, rel=0.2)
