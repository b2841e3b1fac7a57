"""What all lines of a report say together, and that no line, however odd, stops the counting."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from scrapy_simhash.view.comparison import difference
from scrapy_simhash.view.overview import LIVE, MOST_BARS, Limits, Overview
from scrapy_simhash.view.tallies import LONGEST_URL

SITE = "https://example.com"
TINY = Limits(pages=10, clusters=4, rows=4, urls=4)


def new(path: str, **values: Any) -> dict[str, Any]:
    return {"url": f"{SITE}{path}", "status": "new", **values}


def copy(path: str, of: str, **values: Any) -> dict[str, Any]:
    return {"url": f"{SITE}{path}", "status": "near_duplicate", "duplicate_of": f"{SITE}{of}", **values}


def facts(*lines: dict[str, Any], limits: Limits = LIVE) -> dict[str, Any]:
    overview = Overview(limits)
    for line in lines:
        overview.add(line)
    found = overview.as_dict()
    # A program that reads it knows only JSON.
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return found


def at(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2026-03-{1 + days:02}T{hour:02}:{minute:02}:{second:02}Z"


# --- Time.


def test_bars_are_few_however_long_a_crawl_takes_and_no_page_is_lost() -> None:
    for step in (1, 59, 3_600):
        found = facts(*(new(f"/{number}", time=at(number * step)) for number in range(400)))["timeline"]
        assert MOST_BARS / 4 < len(found["bars"]) <= MOST_BARS
        assert sum(bar["new"] for bar in found["bars"]) == 400
        starts = [bar["start"] for bar in found["bars"]]
        assert starts == sorted(starts)
        assert all(start % found["seconds"] == 0 for start in starts)


def test_times_in_any_order_make_the_same_bars() -> None:
    lines = [new(f"/{number}", time=at(number * 7)) for number in range(300)]
    forwards, backwards = (facts(*given)["timeline"] for given in (lines, lines[::-1]))
    shapes = [
        (found["seconds"], [(bar["start"], bar["new"]) for bar in found["bars"]])
        for found in (forwards, backwards)
    ]
    assert shapes[0] == shapes[1]


def test_a_page_without_a_time_is_counted_apart() -> None:
    found = facts(new("/a"), new("/b", time="yesterday"), new("/c", time="2026-13-99T99:99:99Z"))["timeline"]
    assert (found["bars"], found["timeless"]) == ([], 3)


def test_seconds_are_a_time_within_the_years_that_have_one() -> None:
    found = facts(*(new(f"/{time}", time=time) for time in (2**62, -(2**62), 1_790_000_000, True)))[
        "timeline"
    ]
    assert ([bar["start"] for bar in found["bars"]], found["timeless"]) == ([1_790_000_000], 3)
    odd = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", *map(at, range(300)))
    bars = facts(*(new("/a", time=time) for time in odd))["timeline"]["bars"]
    assert (len(bars), sum(bar["new"] for bar in bars)) == (3, 302)


# --- Where.


def test_hosts_and_patterns_count_pages_and_those_that_repeat_with_an_example() -> None:
    found = facts(new("/boats/1"), copy("/print/1?a=1", "/boats/1"), copy("/print/2?a=2", "/boats/1"))
    (host,) = found["hosts"]["rows"]
    assert (host["host"], host["pages"], host["near_duplicates"]) == ("example.com", 3, 2)
    assert host["example"] == {"url": f"{SITE}/print/1?a=1", "other": f"{SITE}/boats/1"}
    rows = [(row["pattern"], row["near_duplicates"]) for row in found["url_patterns"]["rows"]]
    assert rows == [("/print/{number}?a", 2), ("/boats/{number}", 0)]


def test_a_skipped_page_is_in_no_table_of_hosts() -> None:
    found = facts({"url": f"{SITE}/a.pdf", "status": "skipped", "reason": "not_html"})
    assert found["hosts"]["rows"] == found["url_patterns"]["rows"] == []
    assert found["examples"]["reason"] == {"not_html": [{"url": f"{SITE}/a.pdf", "other": None}]}


PARAMETERS = [
    # One value more, the same page.
    ([new("/a?s=1"), copy("/a?s=2", "/a?s=1"), copy("/a?s=3", "/a?s=1")], [("s", 2, 0)]),
    # The page without the parameter is one to compare with.
    ([new("/a"), copy("/a?s=2", "/a"), copy("/a?s=3", "/a")], [("s", 2, 0)]),
    # Another value, another page.
    ([new("/a?p=1"), new("/a?p=2"), new("/a?p=3")], [("p", 0, 2)]),
    # Two parameters differ: nobody knows which of them matters.
    ([new("/a?p=1&s=1"), new("/a?p=2&s=2"), new("/a?p=3&s=3")], []),
    # The order does not matter, and each counts by itself.
    (
        [
            new("/a?p=1&s=1"),
            copy("/a?s=2&p=1", "/a?p=1&s=1"),
            copy("/a?p=1&s=3", "/a?p=1&s=1"),
            new("/a?p=2&s=1"),
        ],
        [("s", 2, 0)],
    ),
    # The same URL again says nothing about it.
    ([new("/a?s=1"), copy("/a?s=1", "/a?s=1"), copy("/a?s=1", "/a?s=1")], []),
    # Nor does one that has it twice.
    ([new("/a?s=1"), copy("/a?s=1&s=2", "/a?s=1"), copy("/a?s=1&s=3", "/a?s=1")], []),
]


@pytest.mark.parametrize(("lines", "expected"), PARAMETERS, ids=range(len(PARAMETERS)))
def test_a_parameter_that_changes_nothing_is_told_from_one_that_does(
    lines: list[dict[str, Any]], expected: list[tuple[str, int, int]]
) -> None:
    found = facts(*lines)["parameters"]
    assert [(row["parameter"], row["same"], row["different"]) for row in found] == expected


# --- How alike.


def test_pairs_stand_at_their_threshold_and_identical_texts_apart() -> None:
    miss = {"url": f"{SITE}/a", "distance": 9, "similarity": 0.61, "threshold": 0.61}
    found = facts(
        new("/a"),
        new("/b", near_miss=miss),
        copy("/c", "/a", threshold=1.0, similarity=1.0, exact=True),
        copy("/d", "/a", threshold=0.88, similarity=0.9, exact=False),
        copy("/e", "/a"),
    )["similarity"]
    assert (found["identical"], found["unknown"]) == (1, 1)
    bins = [(one["from"], one["near_duplicates"], one["near_misses"]) for one in found["bins"]]
    assert bins == [(0.6, 0, 1), (0.88, 1, 0)]
    assert found["bins"][0]["examples"]["near_misses"] == [{"url": f"{SITE}/b", "other": f"{SITE}/a"}]


def test_the_least_alike_page_of_a_cluster_is_always_among_its_members() -> None:
    lines = [copy(f"/{n}", "/a", threshold=0.99 if n != 7 else 0.81, exact=False) for n in range(20)]
    (cluster,) = facts(new("/a"), *lines)["largest_clusters"]
    assert (cluster["pages"], len(cluster["members"])) == (21, 4)
    assert cluster["members"][-1]["url"] == f"{SITE}/7"


# --- What it would have saved.


def test_what_only_near_duplicates_led_to_is_counted_and_what_that_led_to() -> None:
    found = facts(
        new("/a"),
        copy("/a2", "/a", referer=f"{SITE}/a", exact=True, threshold=1.0),
        new("/b", referer=f"{SITE}/a"),
        new("/c", referer=f"{SITE}/a2"),
        copy("/c2", "/c", referer=f"{SITE}/c"),
        new("/d", referer=f"{SITE}/c2"),
    )["savings"]
    assert (found["near_duplicates"], found["identical"]) == (2, 1)
    assert (found["led_to"], found["led_to_new"]) == (3, 2)
    assert found["led_to_example"] == {"url": f"{SITE}/c", "other": f"{SITE}/a2"}


def test_without_referers_nobody_knows_what_links_led_to() -> None:
    assert facts(new("/a"), copy("/b", "/a"))["savings"]["led_to"] is None


# --- Limited memory, and lines of strangers.


def test_the_largest_stay_when_there_are_too_many_and_that_is_said() -> None:
    def lines() -> Iterator[dict[str, Any]]:
        for number in range(50):
            yield copy(f"/large/{number}", "/first")
            line = copy(f"/{number}/copy?p{number}=1", f"/{number}", protected=f"rule {number}")
            yield {**line, "url": line["url"].replace("example", f"host{number}")}

    found = facts(*lines(), limits=TINY)
    assert found["largest_clusters"][0]["pages"] == 51
    assert found["hosts"]["rows"][0]["near_duplicates"] == 50
    assert found["cut"]["clusters"] > 0
    assert found["cut"]["hosts"] > 0
    assert found["cut"]["url_patterns"] > 0
    assert found["cut"]["pages"] is True
    assert facts(new("/a"))["cut"] == dict.fromkeys(found["cut"], 0)


def test_values_without_end_are_counted_up_to_a_limit() -> None:
    found = facts(*(new("/a", action=f"own {number}") for number in range(1_000)))
    assert len(found["action"]) == 200


ODD: list[dict[str, Any]] = [
    {"distance": "3", "similarity": float("nan"), "threshold": float("inf"), "cluster": [1], "exact": "yes"},
    {"distance": 10**400, "similarity": -1, "threshold": True, "cluster": None},
    {"near_miss": {"url": 7}, "referer": 7, "depth": "deep"},
    {"near_miss": {"url": "x" * 10_000, "threshold": 10**400}, "referer": "\ud800"},
    {"hints": [[], {}], "near_miss": [1]},
]


@pytest.mark.parametrize("values", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "url", ["", "http://[broken", "\x00\ud800", "?" * 100, "a" * 100_000, "//", "http://a.example?&=&"]
)
def test_no_line_stops_the_counting(url: str, values: dict[str, Any]) -> None:
    line = {"url": url, "status": "near_duplicate", "duplicate_of": url + "?b", **values}
    overview = Overview(TINY)
    for _ in range(3):
        overview.add(line)
        overview.add({**line, "duplicate_of": None, "status": "new"})
    found = overview.as_dict()
    assert found["pages"] == 6
    assert len(found["largest_clusters"][0]["first"]) <= LONGEST_URL


@pytest.mark.parametrize(
    ("url", "other", "expected"),
    [("a/b", "a/b", [("a/b", True)]), ("a?s=1", "a", [("a", True), ("?s=1", False)]), ("", "a", [])],
)
def test_what_differs_in_a_url_is_found(url: str, other: str, expected: list[tuple[str, bool]]) -> None:
    assert difference(url, other) == expected
