"""The groups of URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.observers.url_rules.cut_url import LONGEST_GROUP, cut, grows


def groups_of(url: str) -> tuple[str, ...]:
    parts = cut(url)
    return () if parts is None else parts.groups


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", []),
        ("https://example.com/", []),
        ("https://example.com/about", []),
        ("https://example.com/about#team", []),
        ("https://example.com/news/the-ferry", ["/news/*"]),
        ("https://example.com/news/", ["/news/*"]),
        ("https://example.com/2024", ["/{number}"]),
        ("https://example.com/calendar/2024/05", ["/calendar/{number}/{number}", "/calendar/{number}/*"]),
        ("https://example.com/day/2024-05-01", ["/day/{number}-{number}-{number}", "/day/*"]),
        ("https://example.com/page12.html", ["/page{number}.html"]),
        ("https://example.com/s/3f2a9c1be07d", ["/s/{id}", "/s/*"]),
        ("https://example.com/s/3f2a9c1b-e07d-4a11-9c1b-e07d4a11aaaa", ["/s/{id}", "/s/*"]),
        ("https://example.com/s/IwAR3tq9ZbX0kEwYt", ["/s/{id}", "/s/*"]),
        # A long word is a word.
        ("https://example.com/s/internationalisation", ["/s/*"]),
        ("https://example.com/?p=12", ["/?p={number}", "/?p", "/?*"]),
        # One address, unless its parameter has another value.
        ("https://example.com/shop?colour=red", ["/shop?colour", "/shop?*"]),
        ("https://example.com/shop?b=red&a=2", ["/shop?a={number}&b=red", "/shop?a&b", "/shop?*"]),
        ("https://example.com/shop?a=2&a=3", ["/shop?a={number}&a={number}", "/shop?a[]", "/shop?*"]),
        ("https://example.com/a/b/a/b/a/b", ["/a/** in circles", "/a/b/a/b/a/*"]),
        # Numbers may well repeat.
        ("https://example.com/5/5/5", ["/{number}/{number}/{number}", "/{number}/{number}/*"]),
        ("http://[broken", []),
        ("", []),
        ("https://example.com/s?q=" + "x" * LONGEST_GROUP, ["/s?q", "/s?*"]),
    ],
)
def test_a_url_has_groups_the_narrowest_first(url: str, expected: list[str]) -> None:
    assert list(groups_of(url)) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/shop?a=1&b=2", "https://example.com:8443/shop?b=7&a=3#top"),
        ("https://example.com/calendar/2024/05", "https://example.com/calendar/1999/12"),
    ],
)
def test_urls_of_one_make_have_the_same_groups_of(one: str, other: str) -> None:
    assert groups_of(one) == groups_of(other)


def test_a_word_as_a_value_keeps_the_narrowest_groups_apart() -> None:
    calendar = groups_of("https://example.com/index.php?page=calendar&id=5")
    story = groups_of("https://example.com/index.php?page=story&id=5")
    assert calendar[0] != story[0]
    assert calendar[1:] == story[1:]


def test_no_group_is_that_of_a_whole_host() -> None:
    for path in ("/", "/story", "/a-story-of-its-own", "/index.html"):
        assert groups_of(f"https://example.com{path}") == ()


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("/calendar/{number}", True),
        ("/s/{id}", True),
        ("/shop?*", True),
        ("/shop?colour&size", True),
        ("/a/** in circles", True),
        ("/shop?colour[]", True),
        ("/shop?colour", False),
        ("/news/*", False),
    ],
)
def test_a_group_of_which_machines_make_urls_grows(group: str, expected: bool) -> None:
    assert grows(group) is expected


@given(st.text(max_size=400))
def test_any_text_has_groups_or_none_and_none_of_them_is_long(text: str) -> None:
    for url in (text, f"https://example.com/{text}", f"https://example.com/?{text}"):
        found = groups_of(url)
        assert len(set(found)) == len(found)
        assert all(len(group) <= LONGEST_GROUP for group in found)


@given(st.text(max_size=40), st.lists(st.text(max_size=8), max_size=3))
def test_the_group_in_which_rules_are_tested_is_one_of_all(path: str, names: list[str]) -> None:
    url = cut(f"https://example.com/shop/{path}?{'&'.join(f'{name}=1' for name in names)}")
    if url is not None and url.path.startswith("/shop/"):
        assert url.group in url.groups or len(url.group) > LONGEST_GROUP
