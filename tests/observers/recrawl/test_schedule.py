"""Dates of sitemaps: the latest second of each date, and the URLs to which it belongs."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import XmlResponse

from scrapy_simhash.observers.recrawl.schedule import Schedule, interval, moment, sitemap_dates
from scrapy_simhash.store import History

DAY = timedelta(days=1)


def second(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp())


@pytest.mark.parametrize(
    ("lastmod", "expected"),
    [
        ("2026", "2026-12-31T23:59:59"),
        ("2026-02", "2026-02-28T23:59:59"),
        ("2024-02", "2024-02-29T23:59:59"),
        ("2026-11-27", "2026-11-27T23:59:59"),
        ("20261127", "2026-11-27T23:59:59"),
        (" 20261127\n", "2026-11-27T23:59:59"),
        ("2026-11-27T10:00:00Z", "2026-11-27T10:00:00"),
        ("2026-11-27T10:00:00+02:00", "2026-11-27T08:00:00"),
        ("1795773600", "2026-11-27T10:00:00"),
        (1_795_773_600, "2026-11-27T10:00:00"),
    ],
)
def test_a_date_is_read_as_its_latest_second(lastmod: object, expected: str) -> None:
    assert moment(lastmod) == second(expected)


@pytest.mark.parametrize(
    "lastmod",
    [
        *"0 1 202611 20261 2026-13 20261301 2026-02-30 0000 1970-01-01T00:00:00Z 0001-01-01".split(),
        *("", "yesterday", "١٢٣٤", "inf", "nan", 2026, 20261127, None, True),
    ],
)
def test_impossible_times_of_a_web_page_are_ignored(lastmod: object) -> None:
    assert moment(lastmod) is None


@given(st.dates(datetime(1990, 1, 1).date()))
def test_each_notation_of_a_day_is_the_same_second(day: object) -> None:
    text = str(day)
    assert moment(text) == moment(text.replace("-", "")) == second(text) + DAY.total_seconds() - 1
    assert moment(text[:4]) >= moment(text[:7]) >= moment(text)  # type: ignore[operator]


@pytest.mark.parametrize("lastmod", ["2026", "20261127", "2026-11", "0", "202611"])
def test_a_page_with_an_invalid_sitemap_date_is_requested(lastmod: str) -> None:
    schedule = Schedule([("", "lastmod")])
    now = second("2026-11-27T12:00:00")
    visited = History(0, now - 2 * 86_400)
    assert schedule.is_due("https://e.com/a", visited, moment(lastmod), now)
    assert not schedule.is_due("https://e.com/a", visited, moment("2025"), now)
    # No page is older than a month.
    assert schedule.is_due("https://e.com/a", History(0, now - 28 * 86_400), moment("2025"), now)


@pytest.mark.parametrize(
    ("age", "is_due"), [(7 * 86_400, True), (7 * 86_400 - 3_600, True), (6 * 86_400, False), (-1, True)]
)
def test_a_page_is_due_at_nine_tenths_of_its_age(age: int, is_due: bool) -> None:
    schedule = Schedule([("/always/", "always"), ("/a", "7d")])
    assert schedule.is_due("https://e.com/a", History(0, 10**9), None, 10**9 + age) is is_due
    assert schedule.is_due("https://e.com/always/a", History(0, 10**9), None, 10**9 + age)
    assert schedule.is_due("https://e.com/b", History(0, 10**9), None, 10**9 + age)


@given(st.integers(0, 400), st.integers(1, 50), st.integers(0, 60))
def test_a_page_that_changes_more_is_visited_more_often_and_each_at_least_monthly(
    days: int, visits: int, changes: int
) -> None:
    fewer, more = (interval(History(0, days * 86_400, visits, n)) for n in (changes, changes + 1))
    assert 0 <= more <= fewer <= days * 86_400
    schedule = Schedule([("", "auto")])
    assert schedule.is_due("https://e.com/", History(0, 0, visits, changes), None, 30 * 86_400)


def test_a_sitemap_date_belongs_to_the_url_of_the_request() -> None:
    locations = ["https://e.com/å b", "https://e.com/plain", "https://e.com/a?b=ü"]
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2026</lastmod></url>" for url in locations)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
    dates = sitemap_dates(XmlResponse("https://e.com/sitemap.xml", body=body), 10**6)
    assert dates == {Request(url).url: second("2026-12-31T23:59:59") for url in locations}
