"""What is learned about the URLs of a host, and what is skipped by it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest

from scrapy_simhash.observers.url_rules import rules as all_rules
from scrapy_simhash.observers.url_rules.host import FETCHED, MISSING, HostRules, Page
from scrapy_simhash.observers.url_rules.kept import KeptRules
from scrapy_simhash.observers.url_rules.rules import MOST_BYTES, UrlRules, choice
from scrapy_simhash.observers.url_rules.trials import MOST_LOOKS, PAGES_A_LOOK

SITE = "https://example.com"


def plain(any_variant: bool) -> int | None:
    return 0


def listing(links: int, any_variant: bool) -> int | None:
    return links


def variant(any_variant: bool) -> int | None:
    return 0 if any_variant else None


def learn(host: HostRules, pages: Iterable[tuple[str, int]]) -> list[str]:
    return [rule for path, content in pages for rule in host.learn(Page(SITE + path, content, plain), 1)]


def is_skipped(host: HostRules, path: str) -> bool:
    """Tell whether most requests like *path*, with other values at its end, are skipped."""
    return sum(bool(host.would_skip(f"{SITE}{path}x{number}")) for number in range(20)) >= 10


def visits(form: str, pages: int = 40, rounds: int = 6) -> list[tuple[str, int]]:
    """Return URLs of *pages*, each in several rounds with other values."""
    return [
        (form.format(page=page, visit=visit * pages + page, round=visit), page + 1)
        for visit in range(rounds)
        for page in range(pages)
    ]


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("/p/{page}?sid={visit:016x}", "parameter sid"),
        ("/p?id={page}&sid={round}", "parameter sid"),
        ("/p?sid={visit:016x}&ts={visit}&id={page}", "parameter sid,ts"),
        ("/p/{page};jsessionid={visit:016x}", "session in path"),
        ("/p/1{page:03}/words-{visit}", "words beside id after"),
    ],
)
def test_what_has_no_effect_is_learned(form: str, rule: str) -> None:
    host = HostRules()
    learn(host, visits(form))
    assert host.in_force == [rule]
    assert any(host.would_skip(SITE + form.format(page=3, visit=99_999, round=77)) for _ in range(20))


@pytest.mark.parametrize(
    ("plain_form", "other", "rule"),
    [
        ("/p/{page}", "/p/{page}/", "slash at end"),
        ("/p/{page}/", "/p/{page}/index.html", "index page index.html"),
        ("/p/{page}", "/print/p/{page}", "view /print/"),
        ("/p/{page}?a=1&b=2", "/p/{page}?b=2&a=1", "order of parameters"),
        ("/p/x{page}", "/P/x{page}", "case of path"),
        ("/p?id={page}", "/p?id={page}&sort=new", "value sort=new"),
    ],
)
def test_other_forms_of_a_url_are_learned(plain_form: str, other: str, rule: str) -> None:
    host = HostRules()
    for page in range(60):
        learn(host, [(plain_form.format(page=page), page + 1), (other.format(page=page), page + 1)])
    assert rule in host.in_force


@pytest.mark.parametrize(
    "form",
    [
        "/p?id={page}",
        "/p?id={page}&step={round}",
        "/p/{page}",
        "/p/{page}/words-{round}",
    ],
)
def test_what_has_an_effect_is_no_rule(form: str) -> None:
    host = HostRules()
    pages = [(path, number + 1) for number, (path, _) in enumerate(visits(form, rounds=4))]
    learn(host, pages)
    assert host.in_force == []


def test_a_wall_in_place_of_many_pages_is_no_evidence() -> None:
    host = HostRules()
    learn(host, [(f"/p/{page}?id={visit}", 7) for visit in range(8) for page in range(40)])
    assert host.in_force == []


def test_pages_alike_for_other_reasons_are_no_evidence() -> None:
    host = HostRules()
    for path, content in visits("/p/{page}?size={round}"):
        host.learn(Page(SITE + path, content, variant), 1)
    assert host.in_force == []


def test_looks_at_pages_are_bounded() -> None:
    host, looks = HostRules(), 0

    def look(any_variant: bool) -> int | None:
        nonlocal looks
        looks += 1
        return None

    for number in range(4_000):
        host.learn(Page(f"{SITE}/p/{number}", number + 1, look), 1)
        host.learn(Page(f"{SITE}/p/{number}/", number + 1, look), 1)
    assert looks == MOST_LOOKS + 8_000 // PAGES_A_LOOK


def test_listings_with_other_links_are_different_pages() -> None:
    host = HostRules()
    for number, (path, content) in enumerate(visits("/list/{page}?after={visit}")):
        host.learn(Page(SITE + path, content, partial(listing, number + 1)), 1)
    assert host.in_force == []


def test_only_a_page_that_was_fetched_is_skipped() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}"))
    assert is_skipped(host, "/p/39?sid=new")
    assert not is_skipped(host, "/p/40?sid=new")
    host.forget(f"{SITE}/p/39?sid={6 * 40 - 1}")
    assert not host.would_skip(f"{SITE}/p/39?sid=new")


def test_a_page_that_was_fetched_for_another_use_is_not_skipped() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}"))
    assert is_skipped(host, "/p/7?sid=new")
    assert not any(host.would_skip(f"{SITE}/p/7?sid=x{number}", use=2) for number in range(20))
    host.learn(Page(f"{SITE}/p/7?sid=y", 8, plain, use=2), 1)
    assert any(host.would_skip(f"{SITE}/p/7?sid=x{number}", use=2) for number in range(20))


def test_the_same_url_is_not_skipped() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}"))
    learn(host, [("/p/50?sid=1", 51)])
    assert not host.would_skip(f"{SITE}/p/50?sid=1")
    assert is_skipped(host, "/p/50?sid=2")


def test_a_rule_that_stops_holding_is_given_up_with_its_second_wrong_page() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?id={visit}", rounds=8))
    assert host.in_force == ["parameter id"]
    wrong, given_up = 0, []
    for number in range(1_000):
        if not host.would_skip(f"{SITE}/p/{number % 40}?id=x{number}"):
            wrong += 1
            given_up += learn(host, [(f"/p/{number % 40}?id=x{number}", 5_000 + number)])
            if given_up:
                break
    assert given_up == ["parameter id"]
    assert wrong == 2
    assert host.in_force == []


def test_a_rule_that_does_not_hold_in_a_later_group_is_learned_anew_without_it() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?id={visit}", rounds=8))
    # Here each value is a page of its own.
    later = [(f"/q/{page}?id={value}", 1_000 + 10 * page + value) for value in range(4) for page in range(40)]
    skipped, sent = [], []
    for path, content in later:
        if not host.would_skip(SITE + path):
            sent.append((path, content))
            if learn(host, [(path, content)]):
                break
        else:
            skipped.append((path, content))
    assert len(sent) - 40 <= 40
    assert host.in_force == []
    learn(host, skipped)
    learn(host, visits("/p/{page}?id=x{visit}", rounds=8))
    assert host.in_force == ["parameter id"]
    assert is_skipped(host, "/p/7?id=new")
    assert not is_skipped(host, "/q/7?id=new")


def test_what_is_sent_to_check_rules_is_bounded() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}", rounds=8))
    sent, skipped = 0, host.skipped
    for number in range(10_000):
        path = f"/p/{number % 40}?sid=x{number}"
        if not host.would_skip(SITE + path):
            sent += 1
            learn(host, [(path, number % 40 + 1)])
    # A page with fresh links to itself ends: a few requests a page, whatever the number of links.
    assert sent <= 8 * 40
    assert host.skipped - skipped == 10_000 - sent


def test_what_a_site_hides_behind_a_rule_is_found_while_it_is_kept() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}", rounds=8))
    skipped = 0
    for number in range(20_000):
        path = f"/p/{number % 40}?sid=x{number}"
        if host.would_skip(SITE + path):
            skipped += 1
        # From now on each is a page of its own.
        elif learn(host, [(path, 5_000 + number)]):
            break
    assert host.in_force == []
    # As many are kept to be sent after all.
    assert skipped <= 1_000


def test_a_page_that_comes_again_and_again_under_fresh_urls_waits_for_others() -> None:
    host = HostRules()
    assert not host.would_skip(f"{SITE}/home?sid=0")
    assert not host.should_wait(f"{SITE}/home?sid=new")
    learn(host, [(f"/home?sid={visit}&step={visit % 2}", 1) for visit in range(4)])
    assert host.in_force == []
    # Whatever of its parameters is new.
    assert host.should_wait(f"{SITE}/home?sid=1&step=7")
    assert not host.should_wait(f"{SITE}/other?sid=new&step=0")


def test_missing_pages_are_believed_after_some_visits() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?sid={visit}"))
    for visit in range(2):
        learn(host, [(f"/gone?sid={visit}", MISSING)])
    assert not is_skipped(host, "/gone?sid=9")
    learn(host, [("/gone?sid=2", MISSING), ("/short?sid=1", FETCHED)])
    # Where no page was evidence, some more are asked for.
    assert not is_skipped(host, "/gone?sid=9")
    learn(host, [(f"/gone?sid={visit}", MISSING) for visit in range(3, 9)])
    learn(host, [(f"/short?sid={visit}", FETCHED) for visit in range(6)])
    assert is_skipped(host, "/gone?sid=9")
    assert is_skipped(host, "/short?sid=9")
    learn(host, [("/p/short?sid=1", FETCHED)])
    assert is_skipped(host, "/p/short?sid=9")


def test_pages_that_are_there_after_all_are_held_against_a_rule() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?id={visit}"))
    learn(host, [(f"/short?id={visit}", FETCHED) for visit in range(6)])
    assert learn(host, [("/short?id=7", 501)]) == []
    assert host.is_doubted
    assert learn(host, [("/short?id=8", 502)]) == ["parameter id"]


def test_rules_can_be_pinned_and_forbidden() -> None:
    pinned = HostRules(pinned=frozenset(["parameter sid"]))
    learn(pinned, [("/p?sid=1", 1)])
    assert pinned.would_skip(f"{SITE}/p?sid=2")
    forbidden = HostRules(forbidden=frozenset(["parameter sid"]))
    learn(forbidden, visits("/p/{page}?sid={visit}"))
    assert forbidden.in_force == []
    assert choice("www.example.com: parameter sid").host == "example.com"


def test_hosts_do_not_learn_from_each_other_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_rules, "MOST_HOSTS", 500)
    rules = UrlRules()
    for number in range(600):
        for page in range(2):
            rules.learn([Page(f"https://h{number}.example/p/{page}?sid={number}", page + 1, plain)])
    assert len(rules.hosts) == 500
    assert rules.weight <= MOST_BYTES
    assert not rules.of("https://h599.example/").in_force


def test_a_rule_that_another_crawler_has_proved_skips_only_what_was_fetched_here() -> None:
    proved, host = HostRules(), HostRules()
    learn(proved, visits("/p/{page}?sid={visit}"))
    KeptRules(host).take(KeptRules(proved).to_bytes())
    assert host.in_force == ["parameter sid"]
    assert not is_skipped(host, "/p/3?sid=new")
    learn(host, [("/p/3?sid=1", 4)])
    assert any(host.would_skip(f"{SITE}/p/3?sid=x{number}") for number in range(20))
    assert not is_skipped(host, "/p/4?sid=new")


def test_pages_of_equal_text_are_equal_whatever_the_verdicts_on_them() -> None:
    rules = UrlRules()
    for visit in range(4 * 40):
        page = visit % 40
        url, is_early = f"{SITE}/p/{page}?sid={visit}", visit < 40
        # As long as the site is not known, half of the pages are taken for copies of one.
        content = 1 if is_early and page % 2 else 100 + page
        former = rules.texts.former(hash((SITE, page)), content)
        rules.learn([Page(url, content, plain, former=former)])
    host = rules.of(SITE)
    assert host.in_force == ["parameter sid"]
    assert host.evidence["parameter sid"].different == 0


def test_pairs_of_urls_that_speak_against_a_rule_are_named() -> None:
    host = HostRules()
    learn(host, visits("/p/{page}?id={visit}"))
    for turn in range(5):
        learn(host, [(f"/q/{turn}?id=1", 500 + turn), (f"/q/{turn}?id=2", 600 + turn)])
    assert host.against["parameter id"] == tuple(
        (f"{SITE}/q/{turn}?id=1", f"{SITE}/q/{turn}?id=2") for turn in range(3)
    )
