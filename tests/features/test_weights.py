from __future__ import annotations

from typing import get_args

import pytest

from scrapy_simhash.features import ZONES, weight
from scrapy_simhash.features.weights import UNIT
from scrapy_simhash.text.document import Zone

COUNTING = sorted(zone for zone, factor in ZONES.items() if factor)


def test_every_zone_of_a_document_counts() -> None:
    assert set(get_args(Zone)) <= set(COUNTING)


@pytest.mark.parametrize("zone", COUNTING)
def test_weights_are_positive_integers_that_never_fall_as_the_count_grows(zone: str) -> None:
    weights = [weight(zone, count) for count in range(1, 2_000)]
    assert all(type(value) is int and value > 0 for value in weights)
    assert weights == sorted(weights)


@pytest.mark.parametrize("zone", COUNTING)
def test_the_first_occurrences_count_more_than_further_ones(zone: str) -> None:
    gains = [weight(zone, 2 * count) - weight(zone, count) for count in (1, 4, 16)]
    assert weight(zone, 2) > weight(zone, 1)
    # A word repeated ten times is not ten words: doubling the count adds about the same each time.
    assert max(gains) - min(gains) <= 2
    assert weight(zone, 1_000) < 10 * weight(zone, 1)


@pytest.mark.parametrize("zone", COUNTING)
def test_a_zone_is_a_factor(zone: str) -> None:
    for count in (1, 2, 10, 100):
        assert weight(zone, count) == pytest.approx(ZONES[zone] * weight("body", count), abs=ZONES[zone] + 1)


def test_the_unit_is_what_a_single_occurrence_in_the_body_weighs() -> None:
    assert weight("body", 1) == UNIT


def test_a_zone_that_does_not_count_weighs_nothing() -> None:
    assert {weight(zone, 5) for zone, factor in ZONES.items() if not factor} <= {0}


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(KeyError):
        weight("footer", 1)
