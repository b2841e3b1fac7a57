"""Dates of sitemaps: the latest second that each can mean, and the URLs to which they belong."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import XmlResponse

from scrapy_simhash.observers.recrawl.answers import Answer
from scrapy_simhash.observers.recrawl.schedule import NotDue, Schedule, moment, sitemap_dates

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
        *(
            "",
            "0",
            "1",
            "202611",
            "20261",
            "2026-13",
            "20261301",
            "2026-02-30",
            "0000",
            "1970-01-01T00:00:00Z",
        ),
        *("0001-01-01", "yesterday", "١٢٣٤", "inf", "nan", 2026, 20261127, None, True),
    ],
)
def test_what_is_no_time_of_a_web_page_is_no_time(lastmod: object) -> None:
    assert moment(lastmod) is None


@given(st.dates(datetime(1990, 1, 1).date()))
def test_each_notation_of_a_day_is_the_same_second(day: object) -> None:
    text = str(day)
    assert moment(text) == moment(text.replace("-", "")) == second(text) + DAY.total_seconds() - 1
    assert moment(text[:4]) >= moment(text[:7]) >= moment(text)  # type: ignore[operator]


@pytest.mark.parametrize("lastmod", ["2026", "20261127", "2026-11", "0", "202611"])
def test_a_page_whose_date_has_no_time_is_requested(lastmod: str) -> None:
    schedule = Schedule([("", "lastmod")], 0, 0)
    now = second("2026-11-27T12:00:00")
    seen = now - 2 * 86_400
    assert schedule.not_due("https://e.com/a", "e.com", seen, Answer(0, 0), lastmod, now) is None
    unchanged = schedule.not_due("https://e.com/a", "e.com", seen, Answer(0, 0), "2025", now)
    assert unchanged is NotDue.LASTMOD


def test_a_date_belongs_to_the_url_that_a_request_has() -> None:
    locations = ["https://e.com/å b", "https://e.com/plain", "https://e.com/a?b=ü"]
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2026</lastmod></url>" for url in locations)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
    dates = sitemap_dates(XmlResponse("https://e.com/sitemap.xml", body=body), 10**6)
    assert dates == {Request(url).url: "2026" for url in locations}
