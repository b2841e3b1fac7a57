from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.judge.hints.markup import MAX_PARAMETERS, links_of


@pytest.mark.parametrize(
    ("header", "links"),
    [
        ('</a>; rel="canonical"', [("/a", [("rel", "canonical")])]),
        ("</a>;rel=canonical", [("/a", [("rel", "canonical")])]),
        ("< /a >  ;  REL = next", [("/a", [("rel", "next")])]),
        (
            '</a>; rel="next prev", </b>; rel=prev',
            [("/a", [("rel", "next prev")]), ("/b", [("rel", "prev")])],
        ),
        # commas, semicolons and brackets in addresses and in quotes
        ('</a,b;c>; title="x, <y>; z"; rel=next', [("/a,b;c", [("title", "x, <y>; z"), ("rel", "next")])]),
        (r'</a>; title="say \"hi\""; rel=next', [("/a", [("title", 'say "hi"'), ("rel", "next")])]),
        (
            "</a>; rel=alternate; hreflang=en; hreflang=de",
            [("/a", [("rel", "alternate"), ("hreflang", "en"), ("hreflang", "de")])],
        ),
        ("</a>; crossorigin; rel=next", [("/a", [("crossorigin", ""), ("rel", "next")])]),
        ("</a>", [("/a", [])]),
        # what is broken is passed over
        ("", []),
        ("/a; rel=next", []),
        ("</a; rel=next", []),
        ("nonsense, </b>; rel=next", [("/b", [("rel", "next")])]),
        ('</a>; rel="next', [("/a", [("rel", '"next')])]),
        ("</a>; rel=next </b>; rel=prev", [("/a", [("rel", "next")]), ("/b", [("rel", "prev")])]),
    ],
)
def test_links_of_a_header(header: str, links: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert [(link.target, link.parameters) for link in links_of(header)] == links


def test_of_a_parameter_that_comes_twice_the_first_counts() -> None:
    (link,) = links_of("</a>; rel=canonical; rel=next")
    assert link.get("rel") == "canonical"
    assert link.get("title") == ""


def test_of_very_many_parameters_the_first_are_read() -> None:
    first, second = links_of("</a>" + "; a=b" * (2 * MAX_PARAMETERS) + ", </b>; rel=next")
    assert (len(first.parameters), second.get("rel")) == (MAX_PARAMETERS, "next")


@given(st.text(alphabet='</>;,="\\ab \t\n€', max_size=60))
def test_any_header_can_be_read(header: str) -> None:
    assert all("<" in header and ">" not in link.target for link in links_of(header))


def test_a_long_header_of_nothing_is_read_once() -> None:
    # Quadratic reading of these would take minutes.
    for header in (
        "<a>" + "; " * 500_000,
        '<a>;a="' + "\\" * 500_000,
        "<" * 500_000,
        "<a>" + " " * 500_000 + "x=",
    ):
        assert len(list(links_of(header))) <= 1
