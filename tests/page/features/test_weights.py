from __future__ import annotations

from decimal import Decimal
from typing import get_args

import pytest

from scrapy_simhash.page.features import ZONES, weight
from scrapy_simhash.page.features.extract import DAMPING, UNIT, WORD
from scrapy_simhash.page.text.document import Zone

COUNTING = sorted(ZONES)


def test_every_zone_of_a_document_counts_and_no_other() -> None:
    assert set(get_args(Zone)) == set(COUNTING)


@pytest.mark.parametrize("is_word", [False, True])
@pytest.mark.parametrize("zone", COUNTING)
def test_weights_are_positive_integers_that_never_fall_as_the_count_grows(zone: str, is_word: bool) -> None:
    weights = [weight(zone, count, is_word) for count in range(1, 2_000)]
    assert all(type(value) is int and value > 0 for value in weights)
    assert weights == sorted(weights)


@pytest.mark.parametrize("zone", COUNTING)
def test_a_second_occurrence_adds_less_than_the_first(zone: str) -> None:
    for count in (1, 2, 4, 16, 250, 5_000):
        once, twice = weight(zone, count), weight(zone, 2 * count)
        assert once < twice < 2 * once
        assert twice == pytest.approx(2**DAMPING * once, abs=2)
    # A word repeated a thousand times is half of a thousand words.
    assert weight(zone, 1_000) == pytest.approx(501 * weight(zone, 1), rel=0.001)


@pytest.mark.parametrize("zone", COUNTING)
def test_a_zone_is_a_factor_and_so_is_being_a_word(zone: str) -> None:
    for count in (1, 2, 10, 100):
        shingle = weight(zone, count)
        assert shingle == pytest.approx(ZONES[zone] * weight("body", count), abs=ZONES[zone] + 1)
        assert weight(zone, count, is_word=True) == pytest.approx(WORD * shingle, abs=1)


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(range(1, 1_001), id="up to a thousand"),
        pytest.param(range(1_001, 10_001), id="more", marks=pytest.mark.slow("exact powers take long")),
    ],
)
@pytest.mark.parametrize("is_word", [False, True])
@pytest.mark.parametrize("zone", COUNTING)
def test_no_weight_is_so_near_to_a_rounding_boundary_that_a_platform_could_tell_it_otherwise(
    zone: str, is_word: bool, counts: range
) -> None:
    # Powers of floats may differ in the last bit from one C library to the next, by 1e-10 at these sizes.
    factor = UNIT * Decimal(str(ZONES[zone])) * (Decimal(str(WORD)) if is_word else 1)
    power = Decimal(str(DAMPING))
    for count in counts:
        exact = factor * Decimal(count) ** power
        assert abs(exact % 1 - Decimal("0.5")) > Decimal("1e-9"), count
        assert weight(zone, count, is_word) == round(exact)


def test_the_unit_is_what_a_single_occurrence_in_the_body_weighs() -> None:
    assert weight("body", 1) == UNIT


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(KeyError):
        weight("title", 1)
