from __future__ import annotations

import pytest

from scrapy_simhash.times import parsed, written

SECOND = 1_790_000_000
ALIKE = [
    SECOND,
    SECOND + 0.9,
    str(SECOND),
    f" {SECOND}.5 ",
    "1.79e9",
    "2026-09-21T14:13:20Z",
    "2026-09-21T14:13:20z",
    "2026-09-21T14:13:20",
    "2026-09-21 14:13:20.999999",
    "2026-09-21T16:43:20+02:30",
    "2026-09-21T14:13:20,1234567Z",
]
NO_TIMES = [
    "",
    "yesterday",
    "nan",
    "inf",
    "-1e12",
    "2026-13-01",
    "0000-01-01",
    None,
    True,
    [SECOND],
    float("nan"),
    10**12,
]


@pytest.mark.parametrize("value", ALIKE)
def test_a_time_is_a_number_of_seconds_or_a_date_in_utc_unless_it_names_a_zone(value: object) -> None:
    assert parsed(value) == SECOND


@pytest.mark.parametrize("value", NO_TIMES)
def test_anything_else_is_not_a_time(value: object) -> None:
    with pytest.raises(ValueError, match=r"^is n"):
        parsed(value)


@pytest.mark.parametrize(
    ("seconds", "date"),
    [
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
        (0, "1970-01-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ],
)
def test_times_with_a_year_of_four_digits_are_written_as_dates(seconds: int, date: str) -> None:
    assert written(seconds) == date
    assert parsed(date) == seconds
