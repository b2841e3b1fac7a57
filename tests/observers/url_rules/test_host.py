"""From pairs of pages to rules: activation and deactivation, and skipped requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_simhash.observers.url_rules.contents import Content
from scrapy_simhash.observers.url_rules.host import (
    CHECKED,
    PAIRS,
    PAIRS_IF_RELATED,
    UNCHECKED,
    HostRules,
)
from scrapy_simhash.observers.url_rules.urls import CutUrl, Rule, parsed_rule
from tests.observers.url_rules.crawling import cut_url


def learn(host: HostRules, visits: Iterable[tuple[str, int]], purpose: int = 0) -> int:
    """Let *host* learn from pages until a rule is active, and return the number of pages."""
    number, first = 0, dict[int, CutUrl]()
    for rest, content in visits:
        number += 1
        url, twin = cut_url(rest), first.get(content)
        first.setdefault(content, url)
        if host.learn(url, purpose, Content(1_000 + content), twin=twin).activated:
            break
    return number


def trained(visits: int = 200, **arguments: Iterable[Rule]) -> HostRules:
    """Return a host on which ``sid`` has no effect, with thirty pages."""
    host = HostRules(**arguments)
    learn(host, ((f"/p/{visit % 30}?sid={visit}", visit % 30 + 1) for visit in range(visits)))
    return host


def names(host: HostRules) -> list[str]:
    return [str(rule) for rule in host.active]


def skipped(host: HostRules, *rests: str, purpose: int = 0) -> list[str]:
    return [rest for rest in rests if host.would_skip(cut_url(rest), purpose)]


def test_a_rule_is_active_after_59_equal_pairs_without_a_different_one() -> None:
    assert trained(30 + PAIRS - 1).active == []
    host = trained(30 + PAIRS)
    assert names(host) == ["parameter sid in /p/*"]
    assert skipped(host, "/p/7?sid=new", "/p/31?sid=new", "/other/7?sid=new") == ["/p/7?sid=new"]


def test_the_pairs_of_a_rule_have_at_least_ten_distinct_texts() -> None:
    host = HostRules()
    learn(host, ((f"/p/{visit % 9}?sid={visit}", visit % 9 + 1) for visit in range(500)))
    assert host.active == []
    learn(host, ((f"/p/{visit % 10}?sid={visit}", visit % 10 + 1) for visit in range(500, 600)))
    assert names(host) == ["parameter sid in /p/*"]


def test_59_pairs_are_enough_for_a_path_with_one_page() -> None:
    host = HostRules()
    for visit in range(PAIRS + 1):
        host.learn(cut_url(f"/login?back=/p/{visit}"), 0, Content(7, is_short=True), is_only_page=True)
    assert names(host) == ["parameter back in /*"]
    assert skipped(host, "/login?back=/q", "/search?back=/q") == ["/login?back=/q"]


def test_a_different_pair_restarts_the_count_and_doubles_the_required_number() -> None:
    host = trained(30 + PAIRS - 1)
    host.learn(cut_url("/p/3?sid=other"), 0, Content(999))
    took = learn(host, ((f"/p/{visit % 30}?sid=x{visit}", visit % 30 + 1) for visit in range(500)))
    assert 2 * PAIRS <= took <= 2 * PAIRS + 2


def test_a_parameter_with_repeated_differences_never_becomes_a_rule() -> None:
    host = HostRules()
    learn(host, ((f"/p/{visit % 30}?x={visit}", visit) for visit in range(300)))
    learn(host, ((f"/p/{visit % 30}?x={visit}", visit % 30) for visit in range(300, 2_000)))
    assert host.active == []


def turned(which: int, visit: int) -> str:
    """Return both values of parameter *which*, 0 or 1; in reverse order on odd visits."""
    values = ("ab", "yz")[which]
    return values[::-1] if visit % 2 else values


#: For each kind of difference, a function that returns the URL of a page on one visit, given the number of the page.
DIFFERENCES: dict[str, tuple[str, Callable[[int, int], str]]] = {
    "one parameter": ("parameter sid in /p/*", lambda page, visit: f"/p/{page}?a=1&sid={visit}"),
    "two that come together": (
        "parameter ref,utm_source in /p/*",
        lambda page, visit: f"/p/{page}?ref={visit}&utm_source={visit}",
    ),
    "two that come together or not at all": (
        "parameter sid,ts in /p/*",
        lambda page, visit: f"/p/{page}?sid={visit}&ts={visit}" if visit % 3 else f"/p/{page}",
    ),
    "the order of values": (
        "order of t in /list/*",
        lambda page, visit: f"/list/{page // 2}?t={','.join(turned(page % 2, visit))}",
    ),
    "the order of indexed values": (
        "order of f[] in /list/*",
        lambda page, visit: (
            f"/list/{page // 2}?f[0]={turned(page % 2, visit)[0]}&f[1]={turned(page % 2, visit)[1]}"
        ),
    ),
    "the order of segments": (
        "order of segments in /list/**",
        lambda page, visit: f"/list/{page // 2}/{'/'.join(turned(page % 2, visit))}",
    ),
}


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_differences_without_effect_are_found(kind: str) -> None:
    rule, link = DIFFERENCES[kind]
    host = HostRules()
    # No URL is repeated.
    learn(host, ((link(page, page + visit), page + 1) for visit in range(4) for page in range(60)))
    assert rule in names(host)


def test_a_parameter_with_an_effect_is_kept_next_to_one_without() -> None:
    host = HostRules()
    learn(host, ((f"/p?id={visit % 30}&sid={visit}", visit % 30 + 1) for visit in range(200)))
    assert names(host) == ["parameter sid in /*"]


def test_one_different_page_deactivates_a_rule() -> None:
    host = trained()
    rule = parsed_rule("parameter sid in /p/*")
    assert host.learn(cut_url("/p/7?sid=new"), 0, Content(999)).deactivated == (rule,)
    assert host.active == []
    assert skipped(host, "/p/8?sid=new") == []


def test_a_page_that_was_fetched_as_a_much_smaller_one_deactivates_a_rule() -> None:
    # A print view may lack the links of the page.
    host = trained()
    host.learn(cut_url("/p/99?sid=1"), 0, Content(99, size=40))
    assert not host.learn(cut_url("/p/99?sid=2"), 0, Content(99, size=30)).deactivated
    host.learn(cut_url("/p/98?sid=1"), 0, Content(98, size=30))
    assert host.learn(cut_url("/p/98"), 0, Content(98, size=40)).deactivated


def test_one_of_twenty_matching_requests_is_sent() -> None:
    host = trained()
    sent = [
        visit for visit in range(100) if not host.would_skip(cut_url(f"/p/8?sid=x{visit}"), 0, requests=1_000)
    ]
    assert sent == [19, 39, 59, 79, 99]


def test_checks_are_a_fixed_share_of_the_requests() -> None:
    host = trained()
    sent = [at for at in range(2_000) if not host.would_skip(cut_url(f"/p/8?sid=x{at}"), 0, requests=40)]
    assert sent[:3] == [CHECKED * each - 1 for each in range(1, 4)]
    # Later, a growing interval between checks, at which recently skipped requests are still kept.
    assert sent[3] - sent[2] >= UNCHECKED
    assert len(sent) <= 6


def test_fewer_pairs_are_enough_if_a_rule_is_active_for_another_shape() -> None:
    host = trained()
    for folder, pairs in zip("abcd", (*[PAIRS_IF_RELATED[0]] * 2, *[PAIRS_IF_RELATED[1]] * 2), strict=True):
        assert learn(host, ((f"/{folder}/?sid={visit}", 1) for visit in range(200))) == pairs + 1
    assert names(host) == [f"parameter sid in /{folder}/*" for folder in "pabcd"]


def test_parameters_without_effect_may_differ_at_the_same_time() -> None:
    host = HostRules()
    marks = ("sid={0}", "sid={0}&ref={0}", "sid={0}&ref={0}&src=a", "sid={0}&src=b")
    visits = [(f"/p/{visit % 30}?{marks[visit % 4].format(visit)}", visit % 30) for visit in range(300)]
    learn(host, visits)
    assert names(host) == ["parameter ref,sid,src in /p/*"]
    assert skipped(host, "/p/7?ref=new&sid=new", "/p/7", "/p/7?sid=1&page=2") == [
        "/p/7?ref=new&sid=new",
        "/p/7",
    ]


def test_a_page_is_only_skipped_for_the_same_callback() -> None:
    host = trained()
    assert skipped(host, "/p/7?sid=new", purpose=1) == []
    learn(host, [("/p/7?sid=newer", 8)], purpose=1)
    assert skipped(host, "/p/7?sid=new", purpose=1) == ["/p/7?sid=new"]


def test_a_page_is_never_skipped_because_of_itself() -> None:
    host = trained()
    host.learn(cut_url("/p/99"), 0, Content(99))
    assert skipped(host, "/p/99", "/p/99?sid=1") == ["/p/99?sid=1"]


def test_a_request_equal_to_a_running_one_is_recognised_until_its_page_arrives() -> None:
    host = trained()
    first, second = cut_url("/p/99?sid=1"), cut_url("/p/99?sid=2")
    assert not host.is_under_way(first, 0)
    assert not host.is_under_way(cut_url("/p/98?sid=1"), 0)
    assert not host.is_under_way(second, 1), "for another purpose"
    assert host.is_under_way(second, 0)
    host.learn(first, 0, Content(99))
    assert not host.is_under_way(second, 0)
    assert skipped(host, "/p/99?sid=2") == ["/p/99?sid=2"]


def test_a_lost_page_is_not_skipped() -> None:
    host = trained()
    host.forget(cut_url("/p/7?sid=7"), 0)
    assert skipped(host, "/p/7?sid=new", "/p/8?sid=new") == ["/p/8?sid=new"]


def test_pinned_rules_are_active_without_evidence_and_against_it() -> None:
    host = HostRules(pinned=[parsed_rule("parameter sid")])
    learn(host, [("/any/7?sid=1", 1)])
    rests = [f"/any/7?sid=x{visit}" for visit in range(100)]
    assert skipped(host, *rests) == rests
    assert not host.learn(cut_url("/any/7?sid=2"), 0, Content(2)).deactivated


@pytest.mark.parametrize("text", ["parameter sid", "parameter sid in /p/*"])
def test_forbidden_rules_are_never_active(text: str) -> None:
    assert trained(forbidden=[parsed_rule(text)]).active == []
    assert HostRules([parsed_rule("parameter sid in /p/*")], forbidden=[parsed_rule(text)]).active == []


def test_rules_of_an_earlier_crawl_are_active_until_a_page_differs() -> None:
    host = HostRules([parsed_rule("parameter sid in /p/*")])
    learn(host, [("/p/1?sid=1", 1)])
    assert skipped(host, "/p/1?sid=2", "/p/2?sid=2") == ["/p/1?sid=2"]
    assert host.learn(cut_url("/p/1?sid=3"), 0, Content(3)).deactivated


def test_a_reordered_list_is_equal_and_a_list_with_other_entries_is_not() -> None:
    assert Content(1, 10).equals(2, 10) is True
    assert Content(1, 10).equals(2, 11) is False
    # The former page was new, so its links have not been compared.
    assert Content(1, 10).equals(2, 0) is None
    assert Content(1, 0).equals(2, 10) is False
    assert Content(1, 1).equals(2, 1) is False


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=300))
def test_skipped_pages_were_fetched_at_another_url(visits: list[tuple[int, int, bool]]) -> None:
    # For any pages, and any learned rules.
    host = HostRules(pinned=[parsed_rule("parameter sid")])
    fetched: dict[int, set[str]] = {}
    for page, sid, is_asked in visits:
        rest = f"/p/{page}?sid={sid}"
        if is_asked and skipped(host, rest):
            assert fetched[page] - {rest}
        else:
            host.learn(cut_url(rest), 0, Content(page + 1_000))
            fetched.setdefault(page, set()).add(rest)
