"""Parts of URLs, their shapes, and the differences that rules describe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash import Config
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.observers.url_rules.contents import date_in, may_be_dated
from scrapy_simhash.observers.url_rules.listener import UrlRuleListener
from scrapy_simhash.observers.url_rules.urls import (
    MAX_LENGTH,
    Note,
    Rule,
    choice,
    cut,
    order_rules,
    parsed_rule,
    rule_shape,
    trap_shape,
)
from tests.observers.url_rules.crawling import ROOT, cut_url
from tests.stand_in import stand_in


def test_urls_of_other_schemes_and_very_long_ones_are_ignored() -> None:
    assert cut("ftp://example.com/a") is None
    assert cut(f"{ROOT}/{'a' * MAX_LENGTH}") is None


@pytest.mark.parametrize(
    ("rest", "shape"),
    [
        ("/calendar/2024/05", "/calendar/{number}/{number}"),
        ("/calendar/2024/05?view=list", "/calendar/{number}/{number}?*"),
        ("/p/0f3e9c1a7b2d4e5f", "/p/{id}"),
        ("/news/the-ferry", "/news/*"),
        ("/2024/05/12/the-ferry", "/{number}/{number}/{number}/*"),
        ("/shop?colour=red", "/shop?*"),
        ("/a/b/a/b/a/b/c", "/a/** in circles"),
        # One page, or all pages at the root of a site.
        ("/about", None),
        ("/", None),
    ],
)
def test_possible_trap_shapes(rest: str, shape: str | None) -> None:
    assert trap_shape(cut_url(rest)) == shape


@pytest.mark.parametrize(
    ("text", "rest", "without"),
    [
        ("parameter sid", "/a?b=1&sid=7", "/a?b=1"),
        ("parameter ref,utm_source", "/a?ref=x&utm_source=y&b=1", "/a?b=1"),
        ("parameter page=1", "/a?page=1&b=1", "/a?b=1"),
        ("parameter page=1", "/a?page=2&b=1", "/a?page=2&b=1"),
        ("parameter ;jsessionid", "/a/b;jsessionid=7?b=1", "/a/b?b=1"),
        ("order of tags in /*", "/a?tags=z,b", "/a?tags=b,z"),
        ("order of tags in /*", "/a?tags=z%2Cb", "/a?tags=b,z"),
        ("order of segments in /shop/**", "/shop/wool/blue", "/shop/blue/wool"),
        ("order of segments in /shop/**", "/shop/wool+blue/a", "/shop/a/blue,wool"),
        ("order of segments in /shop/{number}/**", "/shop/9/wool/3", "/shop/9/3/wool"),
    ],
)
def test_a_rule_reduces_a_url(text: str, rest: str, without: str) -> None:
    assert parsed_rule(text).without(cut_url(rest)) == cut_url(without)


def test_values_with_an_index_in_their_names_are_one_parameter() -> None:
    rule = parsed_rule("order of f[] in /list")
    first, second = cut_url("/list?f[0]=b&f[1]=a"), cut_url("/list?f%5B0%5D=a&f%5B1%5D=b")
    assert rule.without(first) == rule.without(second) != rule.without(cut_url("/list?f[0]=b"))


@pytest.mark.parametrize(
    "text", ["", "sid", "parameter", "slash at end", "parameter a in b", "trap x", "order of"]
)
def test_other_texts_are_not_rules(text: str) -> None:
    with pytest.raises(ValueError, match="not a URL rule"):
        parsed_rule(text)


def test_an_invalid_pinned_rule_is_refused_with_an_example() -> None:
    config = Config(url_rules="skip", url_rules_pin=("sid",))
    with pytest.raises(SettingError) as caught:
        UrlRuleListener(stand_in(), config)
    assert str(caught.value) == (
        "SIMHASH_URL_RULES_PIN: 'sid' is not a URL rule such as 'parameter sid',"
        " or 'example.com: parameter sid' for one host"
    )


@pytest.mark.parametrize(
    "text",
    [
        "parameter sid",
        "parameter a,b in /x/*",
        "order of f[] in /*",
        "trap /a/{number}?*",
        "trap /a/** in circles",
    ],
)
def test_the_text_of_a_rule_survives_a_round_trip(text: str) -> None:
    assert str(parsed_rule(text)) == text


def test_a_choice_may_have_a_host_or_a_minus_that_forbids_it() -> None:
    assert choice("parameter sid") == (Rule("parameter", "sid"), "", False)
    assert choice("-www.example.com: trap /a/*") == (Rule("trap", "/a/*"), "example.com", True)
    assert choice("-parameter sid").is_forbidden


_PATHS = st.lists(st.sampled_from(["shop", "a", "b", "7", "x,y", "2024-05", ""]), max_size=6).map("/".join)
_QUERIES = st.lists(st.sampled_from(["a=1", "b=2,1", "f[0]=z", "f[1]=y", "sid=9", "a"]), max_size=5).map(
    "&".join
)


@given(_PATHS, _QUERIES)
def test_a_rule_is_idempotent(path: str, query: str) -> None:
    url = cut_url(f"/{path}?{query}")
    shape = rule_shape(url.path)
    for rule in (Rule("parameter", "sid", shape), Rule("parameter", "a,b", shape), *order_rules(url, shape)):
        once = rule.without(url)
        assert rule.without(once) == once


@pytest.mark.parametrize(
    ("rest", "numbers"),
    [
        ("/calendar/2024/05/", {2024, 5}),
        ("/calendar/05-2024", {2024, 5}),
        ("/events/may-2024", {2024}),
        ("/day/20240512", {2024, 5, 12}),
        ("/week/2024-W19", {2024, 19}),
        ("/?month=5&year=2024", {2024, 5}),
        ("/?date=12.05.2024", {2024, 5, 12}),
        ("/?time=1714521600", {2024, 5, 1}),
        # An article, an id, and a year alone.
        ("/2024/05/12/the-ferry", None),
        ("/2024/12345", None),
        ("/archive/2024", None),
        ("/?id=7", None),
    ],
)
def test_dates_in_urls(rest: str, numbers: set[int] | None) -> None:
    date = date_in(cut_url(rest))
    assert (date and set(date.numbers)) == numbers
    assert may_be_dated(ROOT + rest) or numbers is None


def test_a_note_has_the_names_of_rules() -> None:
    note = Note((parsed_rule("parameter sid"), parsed_rule("trap /day/{number}")))
    assert Note.from_bytes(note.to_bytes()) == note
    assert Note.from_bytes(None) == Note()
