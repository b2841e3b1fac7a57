from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.judge.hints.urls import are_pages_of_one_listing
from tests.judge.hints.urls import URLS

SITE = "http://example.com"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/boats?page=2", "/boats"),
        ("/boats?page=2", "/boats/?page=3"),
        ("/boats?p=2&tag=a", "/boats?tag=a"),
        ("/boats?start=20", "/boats?start=40"),
        ("/boats?offset=20", "/boats"),
        ("/boats?page_number=2", "/boats?page_number=3"),
        ("/boats?pageIndex=2", "/boats?pageIndex=3"),
        ("/boats?seite=2", "/boats"),
        ("/boats/page/2", "/boats"),
        ("/boats/page/2/", "/boats/page/3/"),
        ("/boats/page-2", "/boats/"),
        ("/boats/p2", "/boats"),
        ("/boats/page2.html", "/boats/index.html"),
        ("/boats-page-2.html", "/boats-page-3.html"),
        ("/boats-p2.html", "/boats.html"),
        ("/page/2", "/"),
        ("/pagina/2/", "/"),
    ],
)
def test_pages_of_a_listing_differ_in_their_number(one: str, other: str) -> None:
    assert are_pages_of_one_listing(SITE + one, SITE + other)
    assert are_pages_of_one_listing(SITE + other, SITE + one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/boats", "/boats"),
        ("/boats?page=2", "/boats/?page=2#top"),
        ("/boats?page=2", "/bread?page=2"),
        ("/boats?page=2", "/bread"),
        ("/boats/page/2", "/bread/page/3"),
        # a calendar has no last page
        ("/calendar?month=2024-05", "/calendar?month=2024-06"),
        ("/calendar?year=2024&month=5", "/calendar?year=2024&month=6"),
        ("/2024/05", "/2024/06"),
        # an id, a name, a chapter
        ("/boats?page=12345678", "/boats?page=12345679"),
        ("/boats?page=ferry", "/boats?page=pilot"),
        ("/boats?id=2", "/boats?id=3"),
        ("/boats/2", "/boats/3"),
        ("/p/2", "/p/3"),
        ("/homepage2.html", "/homepage3.html"),
    ],
)
def test_other_addresses_are_no_pages_of_one_listing(one: str, other: str) -> None:
    assert not are_pages_of_one_listing(SITE + one, SITE + other)


@pytest.mark.parametrize(
    ("url", "original", "step", "expected"),
    [
        # the page says itself that the other one is the next
        ("/manual/ch02", "/manual/ch01", "/manual/ch01", True),
        ("/manual/ch02", "/manual/ch01/index.html", "/manual/ch01/", True),
        # a cursor: the steps differ in a parameter, and so does the original
        ("/boats?after=x7", "/boats?after=b2", "/boats?after=q9", True),
        ("/boats?after=x7", "/boats", "/boats?after=q9", True),
        # another version of the manual, another listing
        ("/2.0/ch02", "/1.0/ch02", "/2.0/ch03", False),
        ("/boats?after=x7", "/bread?after=b2", "/boats?after=q9", False),
        # months
        ("/calendar?month=2024-05", "/calendar?month=2024-06", "/calendar?month=2024-06", False),
        ("/calendar?month=2024-05", "/calendar?month=2024-09", "/calendar?month=2024-06", False),
        ("/events/2024/05/", "/events/2024/06/", "/events/2024/06/", False),
        (
            "/calendar?day=5&month=6&year=2024",
            "/calendar?day=6&month=6&year=2024",
            "/calendar?day=6&month=6&year=2024",
            False,
        ),
        # a copy of a month that is no month: the step is one in time
        ("/calendar?month=2024-05", "/calendar?print=1", "/calendar?month=2024-06", False),
        # itself
        ("/boats", "/boats/?utm_source=mail", "/boats", False),
        ("/boats", "/boats?sort=name", "/boats", False),
    ],
)
def test_steps_make_a_listing_when_they_lead_to_the_original(
    url: str, original: str, step: str, expected: bool
) -> None:
    assert are_pages_of_one_listing(SITE + url, SITE + original, [SITE + step]) is expected
    assert not are_pages_of_one_listing(SITE + url, SITE + original, [])


@given(
    st.one_of(st.text(), URLS), st.one_of(st.text(), URLS), st.lists(st.one_of(st.text(), URLS), max_size=2)
)
def test_any_texts_have_an_answer_and_without_steps_the_same_both_ways(
    one: str, other: str, steps: list[str]
) -> None:
    assert are_pages_of_one_listing(one, other, steps) in (True, False)
    assert are_pages_of_one_listing(one, other) == are_pages_of_one_listing(other, one)
    assert not are_pages_of_one_listing(one, one, steps)


@pytest.mark.parametrize(
    ("own", "original", "step", "expected"),
    [
        ("/list?cursor=b", "/list?cursor=a", "/list?cursor=c", True),
        ("/list?cursor=b", "/list", "/list?cursor=c", True),
        ("/list?page=2&sid=y", "/list?page=1&sid=x", "/list?page=3&sid=y", True),
        ("/list?page=2&sid=y", "/list?page=1&sid=x", "/list?page=3&sid=z", True),
        # the same page in another session
        ("/list?page=1&sid=y", "/list?page=1&sid=x", "/list?page=2&sid=y", False),
        ("/list?page=1&sid=y", "/list?page=1&sid=x", "/list?page=2&sid=z", False),
        ("/list?sid=y", "/list?sid=x", "/list?sid=y&page=2", False),
    ],
)
def test_a_session_makes_no_other_page_of_it(own: str, original: str, step: str, expected: bool) -> None:
    assert are_pages_of_one_listing(SITE + own, SITE + original, [SITE + step]) is expected
