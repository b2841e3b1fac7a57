"""A year of weekly crawls with a simulated clock: see tests/crawls/year.py."""

from pathlib import Path

import pytest

from tests.crawls.year import WAYS, year


@pytest.mark.slow("it crawls a site 52 times")
@pytest.mark.parametrize("way", WAYS)
def test_each_change_of_a_year_is_reported_once_and_in_time(way: str, tmp_path: Path) -> None:
    found = year(way, tmp_path)
    assert found["faults"] == []
    assert found["pages in the store"] < 50
    if way == "auto":
        assert found["requests"] < 0.55 * found["of"]
    # Two changes between two visits are reported as one.
    reported = found["reported, by weeks of delay"]
    assert sum(reported.values()) > (0.9 if way == "auto" else 0.95) * found["changes that happened"]
    assert max(reported) < (4 if way == "auto" else 2)
