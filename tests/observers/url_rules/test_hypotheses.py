"""Which differences of URLs may have no effect: what each hypothesis takes out, and what it leaves alone."""

from __future__ import annotations

import pytest

from scrapy_simhash.observers.url_rules.cut_url import cut
from scrapy_simhash.observers.url_rules.hypotheses import HYPOTHESES, hypothesis_of, prior

CASES = [
    ("http://a.example/p?id=1&sid=x", "parameter sid", "http://a.example/p?id=1"),
    ("http://a.example/p?id=1&sid=x", "value sid=x", "http://a.example/p?id=1"),
    ("http://a.example/p?page=1", "value page=1", "http://a.example/p"),
    ("http://a.example/p?b=2&a=1", "order of parameters", "http://a.example/p?a=1&b=2"),
    ("http://a.example/p;jsessionid=12345678", "session in path", "http://a.example/p"),
    ("http://a.example/(S(abcdefgh1))/p", "session in path", "http://a.example/p"),
    (
        "http://a.example/s/abcdefghij0123456789xyz/p",
        "session in path opaque segment",
        "http://a.example/s//p",
    ),
    ("http://a.example/17/the-ferry", "words beside id after", "http://a.example/17"),
    ("http://a.example/n/the-ferry-1234.html", "words beside id before", "http://a.example/n/-1234.html"),
    ("http://a.example/print/p", "view /print/", "http://a.example/p"),
    ("http://a.example/p/amp", "view /amp", "http://a.example/p"),
    ("http://a.example/p/index.html", "index page index.html", "http://a.example/p/"),
    ("http://a.example/p/", "slash at end", "http://a.example/p"),
    ("http://a.example/P", "case of path", "http://a.example/p"),
    ("http://a.example/p", "scheme", "https://a.example/p"),
    ("http://www.a.example/p", "www", "http://a.example/p"),
]


@pytest.mark.parametrize(("url", "rule", "shorter"), CASES)
def test_a_rule_takes_one_thing_out(url: str, rule: str, shorter: str) -> None:
    parts = cut(url)
    assert parts is not None
    found = {each.rule: str(each.url) for hypothesis in HYPOTHESES for each in hypothesis.of(parts)}
    assert found[rule] == shorter
    hypothesis, about = hypothesis_of(rule)
    assert str(hypothesis.without(parts, about)) == shorter


@pytest.mark.parametrize(("url", "rule", "shorter"), CASES)
def test_a_rule_leaves_other_urls_alone(url: str, rule: str, shorter: str) -> None:
    parts = cut("https://b.example/x?y=1")
    assert parts is not None
    hypothesis, about = hypothesis_of(rule)
    assert hypothesis.without(parts, about) == parts


@pytest.mark.parametrize("name", ["page", "p", "offset", "start", "Page-No"])
def test_what_counts_pages_is_never_a_rule(name: str) -> None:
    parts = cut(f"https://a.example/list?{name}=7")
    assert parts is not None
    assert [each.rule for hypothesis in HYPOTHESES for each in hypothesis.of(parts)] == []


def test_a_parameter_with_a_comma_in_its_name_is_not_taken_for_two_others() -> None:
    parts = cut("https://a.example/p?id,part=1")
    assert parts is not None
    found = {each.rule for hypothesis in HYPOTHESES for each in hypothesis.of(parts)}
    assert "parameter id,part" not in found


@pytest.mark.parametrize(
    "url", ["mailto:ann@a.example", "http://[broken", "https://a.example/" + "x" * 3_000, ""]
)
def test_what_is_no_url_of_the_web_is_not_taken_apart(url: str) -> None:
    assert cut(url) is None


def test_text_that_is_no_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="not a URL rule: 'parameters sid'"):
        hypothesis_of("parameters sid")


def test_what_is_known_from_other_sites_is_never_enough_to_act() -> None:
    assert 0 < prior("parameter utm_source,utm_medium") < 29
    assert prior("parameter utm_source,id") == 0
