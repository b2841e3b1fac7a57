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


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(KeyError):
        weight("title", 1)
