from __future__ import annotations

import pytest

from scrapy_simhash.times import parsed, written

SECOND = 1_790_000_000


@pytest.mark.parametrize("value", [SECOND, str(SECOND), "2026-09-21T14:13:20Z", "2026-09-21T14:13:20"])
def test_a_time_is_a_number_of_seconds_or_a_date_in_utc_unless_it_names_a_zone(value: object) -> None:
    assert parsed(value) == SECOND


@pytest.mark.parametrize("value", ["", "nan", None, float("nan")])
def test_anything_else_is_not_a_time(value: object) -> None:
    with pytest.raises(ValueError, match=r"^is n"):
        parsed(value)


def test_times_with_a_year_of_four_digits_are_written_as_dates() -> None:
    assert written(-62_135_596_800) == "0001-01-01T00:00:00Z"
    assert parsed("0001-01-01T00:00:00Z") == -62_135_596_800
