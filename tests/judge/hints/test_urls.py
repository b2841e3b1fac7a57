"""Keys of URLs, and detection of pages of one listing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.generate import url
from scrapy_simhash.judge.hints import url_key
from scrapy_simhash.judge.hints.urls import MAX_ADDRESS, are_pages_of_one_listing

#: Equivalent forms of one URL.
SAME = [
    "http://example.com/boats",
    "https://example.com/boats",
    "https://www.example.com/boats",
    "http://WWW.Example.COM/boats",
    "http://example.com.:80/boats",
    "https://example.com:443/boats",
    "http://example.com/boats/",
    "http://example.com/boats//",
    "http://example.com/boats#top",
    "http://example.com/boats?",
    "http://example.com/boats/index.html",
    "http://example.com/boats/index.php",
    "http://example.com/boats/Default.aspx",
    "http://example.com/boats?utm_source=mail&utm_medium=email",
    "http://example.com/boats?fbclid=IwAR3tq9",
    "http://example.com/boats;jsessionid=A1B2",
    "http://example.com/boats/index.jsp;JSESSIONID=A1B2?PHPSESSID=7",
    " http://example.com/boats\n",
]
#: URLs of possibly different pages.
OTHER = [
    "http://example.com/Boats",
    "http://example.com/boats.html",
    "http://example.com/boats/index",
    "http://example.com/index.html/boats",
    "http://example.com/boats/index.php/night-pilot",
    "http://example.com/boats?page=2",
    "http://example.com/boats?sid=7f3a91c2",  # a session, or a shop
    "http://example.com/boats?ref=homepage",
    "http://example.com:8080/boats",
    "http://www2.example.com/boats",
    "http://ann@example.com/boats",
    "http://example.org/boats",
    "ftp://example.com/boats",
]


@pytest.mark.parametrize("same", SAME)
def test_equivalent_urls_have_one_key(same: str) -> None:
    assert url_key(same) == "http://example.com/boats"


def test_urls_of_possibly_different_pages_have_different_keys() -> None:
    keys = [url_key(each) for each in (SAME[0], *OTHER)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://example.com/?b=2&a=1", "http://example.com?a=1&b=2"),
        ("https://example.com/index.html", "http://example.com"),
        ("http://www.com/", "http://www.com"),  # a separate domain
        ("http://www.www.example.com/", "http://example.com"),
        ("http://[2001:DB8::1]:8080/a", "http://[2001:db8::1]:8080/a"),
    ],
)
def test_a_key_is_a_url(url: str, key: str) -> None:
    assert url_key(url) == key


@pytest.mark.parametrize("start", ["http://example.com/?", f"http://{'www.' * 90}example.com/?"])
def test_a_url_that_is_too_long_is_its_own_key(start: str) -> None:
    longest = start + "utm_source=" + "x" * (MAX_ADDRESS - len(start) - 11)
    assert url_key(longest) == "http://example.com"
    assert url_key(longest + "x") == longest + "x"


SITE = "http://example.com"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/boats?page=2", "/boats", True),
        ("/boats?page=2", "/boats/?page=3", True),
        ("/boats/page/2", "/boats", True),
        ("/boats", "/boats", False),
        ("/boats?page=2", "/boats/?page=2#top", False),
        ("/boats?page=2", "/bread?page=2", False),
        ("/boats?page=2", "/bread", False),
        ("/boats/page/2", "/bread/page/3", False),
        # an id, a name, a chapter
        ("/boats?page=12345678", "/boats?page=12345679", False),
    ],
)
def test_pages_of_a_listing_differ_only_in_their_number(one: str, other: str, expected: bool) -> None:
    assert are_pages_of_one_listing(SITE + one, SITE + other) is expected
    assert are_pages_of_one_listing(SITE + other, SITE + one) is expected


@pytest.mark.parametrize(
    ("url", "original", "step", "expected"),
    [
        # the page links to the other one as next or previous
        ("/manual/ch02", "/manual/ch01", "/manual/ch01", True),
        ("/manual/ch02", "/manual/ch01/index.html", "/manual/ch01/", True),
        # another version of the manual, another listing
        ("/2.0/ch02", "/1.0/ch02", "/2.0/ch03", False),
        # itself
        ("/boats", "/boats/?utm_source=mail", "/boats", False),
        ("/boats", "/boats?sort=name", "/boats", False),
        # the same page in another session
        ("/list?page=1&sid=y", "/list?page=1&sid=x", "/list?page=2&sid=y", False),
    ],
)
def test_next_or_previous_links_to_the_original_make_a_listing(
    url: str, original: str, step: str, expected: bool
) -> None:
    assert are_pages_of_one_listing(SITE + url, SITE + original, [SITE + step]) is expected
    assert not are_pages_of_one_listing(SITE + url, SITE + original, [])


URLS = st.text() | st.integers(0, 2**64).map(lambda seed: url(random.Random(seed), "boats"))


@given(URLS, URLS, st.lists(URLS, max_size=2))
def test_any_texts_have_a_result_which_is_symmetric_without_next_links(
    one: str, other: str, steps: list[str]
) -> None:
    assert are_pages_of_one_listing(one, other, steps) in (True, False)
    assert are_pages_of_one_listing(one, other) == are_pages_of_one_listing(other, one)
    assert not are_pages_of_one_listing(one, one, steps)
