"""Whether the pages of a flood still lead anywhere."""

from __future__ import annotations

import pytest

from scrapy_simhash.floods.leads import BARREN, Leads
from scrapy_simhash.page.text import parse

PATTERN = "/day/{number}"


def nowhere(leads: Leads, number: int, *links: str) -> bool:
    root = parse("<body>" + "".join(f"<a href='{link}'>x</a>" for link in links))
    address = f"http://example.com/day/{number}"
    return leads.nowhere(PATTERN, address, address, root)


def test_pages_without_a_new_link_lead_nowhere_after_some() -> None:
    leads = Leads()
    found = [nowhere(leads, number, "/", "/about") for number in range(BARREN + 2)]
    assert found == [False] * BARREN + [True] * 2


def test_a_new_link_begins_the_count_anew() -> None:
    leads = Leads()
    for number in range(BARREN - 1):
        assert not nowhere(leads, number)
    assert not nowhere(leads, 90, "/story/1")
    assert [nowhere(leads, number, "/story/1") for number in range(BARREN)] == [False] * (BARREN - 1) + [True]


def test_behind_a_redirect_links_start_where_it_led() -> None:
    leads = Leads()
    root = parse("<body><a href='?lost'>x</a> <a href='help'>x</a>")
    found = [
        leads.nowhere(PATTERN, f"http://example.com/day/{number}", f"http://example.com/{folder}/login", root)
        for number, folder in enumerate("aaaaaab")
    ]
    assert found == [False] * BARREN + [True, False]


@pytest.mark.parametrize(
    ("link", "is_more_of_the_same"),
    [
        ("/day/{other}", True),
        ("?view={other}", True),
        ("#part-{other}", True),
        ("/login?next=/day/{number}", True),
        ("/login?next=%2Fday%2F{number}", True),
        ("https://social.example/share?u=http%3A%2F%2Fexample.com%2Fday%2F{number}", True),
        ("mailto:{number}@example.com", True),
        ("http://[broken{number}", True),
        ("/story/{other}", False),
        ("story-{other}", False),
        ("https://other.example/day/{other}", False),
    ],
)
def test_what_counts_as_more_of_the_same(link: str, is_more_of_the_same: bool) -> None:
    leads = Leads()
    found = [
        nowhere(leads, number, link.format(number=number, other=number + 1000)) for number in range(BARREN)
    ]
    assert found[-1] is is_more_of_the_same
