"""Exceptions by depth, by place and by request, and classes of one's own, crawled over parts of the annex."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.annex.server import serving
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.promises import (
    NEAREST_FIRST,
    Promise,
    copies,
    is_exact,
    made,
    promise,
    reached,
    scraped,
    seen,
    with_items,
)

WALK, POSTERS, TALES, BOARD = "/annex/walk/1", "/annex/posters", "/annex/tales", "/annex/slip"
LAMP = f"{TALES}/lamp-oil"
UNCOUNTED = {"SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.depth.DepthMiddleware": None}}
ALLOW, DENY = r"/(barber|mill)$|dredging", "/dredging/s"
OWN = "tests.crawls.policies_spiders."

PLANS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    **{
        f"depth {depth}": (WALK, {"SIMHASH_ACTION": "drop_page", "SIMHASH_MIN_DEPTH": depth}, {})
        for depth in range(4)
    },
    "depth uncounted": (WALK, {"SIMHASH_ACTION": "drop_page", "SIMHASH_MIN_DEPTH": 1, **UNCOUNTED}, {}),
    "depth asked": (
        WALK,
        {"SIMHASH_ACTION": "drop_items", "SIMHASH_MIN_DEPTH": 9},
        {"metas": {"/annex/walk/2/again": {"simhash_action": "drop_page"}}},
    ),
    "places": (
        POSTERS,
        {"SIMHASH_ACTION": "drop_page", "SIMHASH_ACTION_ALLOW": [ALLOW], "SIMHASH_ACTION_DENY": [DENY]},
        {},
    ),
    "places asked": (
        POSTERS,
        {"SIMHASH_ACTION": "drop_page", "SIMHASH_ACTION_DENY": ["."]},
        {"metas": {f"{POSTERS}/dredging": {"simhash_action": "drop_items"}}},
    ),
    "only domain": (
        LAMP,
        {"SIMHASH_ACTION": "drop_page", "SIMHASH_ACTION_ALLOW_DOMAINS": ["localhost"]},
        {},
    ),
    "not domain": (
        LAMP,
        {"SIMHASH_ACTION": "drop_page", "SIMHASH_ACTION_DENY_DOMAINS": ["localhost"]},
        {},
    ),
    "asked": (
        BOARD,
        {"SIMHASH_ACTION": "drop_items"},
        {"metas": {f"{BOARD}?page=3": {"simhash_action": "drop_page"}}},
    ),
    "asked for less": (
        POSTERS,
        {"SIMHASH_ACTION": "drop_page"},
        {"metas": {f"{POSTERS}/dredging": {"simhash_action": "mark"}}},
    ),
    "asked for nonsense": (
        POSTERS,
        {"SIMHASH_ACTION": "drop_page"},
        {"metas": {f"{POSTERS}/dredging": {"simhash_action": "keep"}}},
    ),
    "own": (POSTERS, {"SIMHASH_ACTION": f"{OWN}KeepSome", "TO_KEEP": "/dredging/"}, {}),
    "own for exact": (
        POSTERS,
        {"SIMHASH_EXACT_ACTION": f"{OWN}KeepSome", "TO_KEEP": "/dredging/", "SIMHASH_ACTION": "drop_links"},
        {},
    ),
    "own, protected": (BOARD, {"SIMHASH_ACTION": f"{OWN}KeepSome", "TO_KEEP": "page=4"}, {}),
    "failing": (POSTERS, {"SIMHASH_ACTION": f"{OWN}Failing"}, {}),
    "mumbling": (POSTERS, {"SIMHASH_ACTION": f"{OWN}Mumbling"}, {}),
    "missing": (POSTERS, {"SIMHASH_ACTION": f"{OWN}Nobody"}, {}),
}


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


@pytest.fixture(scope="module")
def crawls() -> dict[str, Crawl]:
    with serving() as server:
        plans = [
            Plan(
                "policies_spiders.Part",
                {**NEAREST_FIRST, **settings},
                {"start": server.url + start, "within": start.removesuffix("/1"), **arguments},
            )
            for start, settings, arguments in PLANS.values()
        ]
        return dict(zip(PLANS, crawl(*plans), strict=True))


def check(
    truth: AnnexTruth,
    crawls: dict[str, Crawl],
    name: str,
    expected: Callable[[str, str], Promise],
) -> dict[str, Promise]:
    """Compare what was done, reached and kept with what is *expected* of a page and the one that it repeats."""
    done, start = crawls[name], PLANS[name][0]
    pages = seen(truth, done)
    promises = {key: expected(key, original) for key, original in copies(truth, done).items()}
    assert {key: made(pages[key]) for key in promises} == promises
    within = start.removesuffix("/1")
    everything = reached(truth, [start], promises, is_whole=False)
    assert set(pages) == {key for key in everything if key.removeprefix("partner:").startswith(within)}
    assert scraped(truth, done) == with_items(pages, promises)
    # Only a class of one's own that fails shows its traceback.
    assert [text for text in done.complaints if "] SIMHASH_ACTION: decide() failed for " not in text] == []
    return promises


@pytest.mark.parametrize("depth", range(4))
def test_pages_nearer_to_the_start_than_the_least_depth_are_only_marked(
    crawls: dict[str, Crawl], truth: AnnexTruth, depth: int
) -> None:
    depths = truth.reachable(WALK)

    def expected(key: str, original: str) -> Promise:
        return Promise("mark", "min_depth") if depths[key] < depth else Promise("drop_page")

    promises = check(truth, crawls, f"depth {depth}", expected)
    echoes = truth.of(kind="echo")
    assert set(promises) == set(echoes)
    assert crawls[f"depth {depth}"].stat("pages_dropped") == sum(depths[key] >= depth for key in echoes)


def test_nothing_is_done_where_nobody_counts_how_deep_a_page_is(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    assert check(truth, crawls, "depth uncounted", lambda key, original: Promise("mark", "min_depth"))


def test_start_pages_are_known_where_nobody_counts_how_deep_a_page_is(truth: AnnexTruth) -> None:
    first, second = truth.starts
    (behind,) = truth.pages[second].links
    with serving() as server:
        (done,) = crawl(
            Plan(
                "policies_spiders.Part",
                {**IN_ORDER, **UNCOUNTED, "SIMHASH_ACTION": "drop_page"},
                {"start": f"{server.url}{first} {server.url}{second}", "within": behind},
            )
        )
    pages = seen(truth, done)
    assert list(pages) == [first, second, behind]
    assert made(pages[second]) == Promise("drop_items", "start")
    assert scraped(truth, done) == sorted((first, behind))


def test_what_a_request_asks_for_goes_before_the_least_depth(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    check(
        truth,
        crawls,
        "depth asked",
        lambda key, original: (
            Promise("drop_page") if key == "/annex/walk/2/again" else Promise("mark", "min_depth")
        ),
    )


def test_something_is_done_only_at_the_addresses_that_are_allowed_and_not_denied(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    def expected(key: str, original: str) -> Promise:
        is_in = re.search(ALLOW, key) and not re.search(DENY, key)
        return Promise("drop_page") if is_in else Promise("mark", "url")

    promises = check(truth, crawls, "places", expected)
    assert {found.exemption for found in promises.values()} == {None, "url"}


def test_what_a_request_asks_for_goes_before_places(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    def expected(key: str, original: str) -> Promise:
        return Promise("drop_items") if "/dredging" in key else Promise("mark", "url")

    assert len(set(check(truth, crawls, "places asked", expected).values())) == 2


@pytest.mark.parametrize(("name", "is_in"), [("only domain", True), ("not domain", False)])
def test_something_is_done_only_on_the_hosts_that_are_allowed_and_not_denied(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str, is_in: bool
) -> None:
    hosts = {truth.key(page.url): urlsplit(page.url).hostname for page in crawls[name].pages}

    def expected(key: str, original: str) -> Promise:
        return Promise("drop_page") if (hosts[key] == "localhost") is is_in else Promise("mark", "url")

    assert len(set(check(truth, crawls, name, expected).values())) == 2


def test_what_a_request_asks_for_goes_before_protections(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    asked = f"{BOARD}?page=3"

    def expected(key: str, original: str) -> Promise:
        if key == asked:
            return Promise("drop_page")
        return promise(truth, key, original, "drop_items", [BOARD])

    promises = check(truth, crawls, "asked", expected)
    # So the pages after it are not found, but for those to which others lead.
    assert asked in promises
    assert f"{BOARD}?page=4" not in promises


def test_a_request_may_ask_for_less(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    def expected(key: str, original: str) -> Promise:
        return Promise("mark" if "/dredging" in key else "drop_page")

    assert len(set(check(truth, crawls, "asked for less", expected).values())) == 2


def test_of_what_is_no_action_the_setting_is_used(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    name = "asked for nonsense"
    check(truth, crawls, name, lambda key, original: Promise("drop_page"))
    assert crawls[name].stat("bad_action") == sum("/dredging" in page.path for page in crawls[name].pages)


def test_a_class_of_ones_own_takes_the_place_of_a_word(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    def expected(key: str, original: str) -> Promise:
        return Promise("mark" if "/dredging/" in key else "drop_page")

    promises = check(truth, crawls, "own", expected)
    assert len(set(promises.values())) == 2
    assert all(is_exact(truth, key, original) for key, original in copies(truth, crawls["own"]).items())
    assert check(truth, crawls, "own for exact", expected) == promises


def test_what_a_class_of_ones_own_says_is_subject_to_protections(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    def expected(key: str, original: str) -> Promise:
        if "page=4" in key:
            return Promise("mark")
        return promise(truth, key, original, "drop_page", [BOARD])

    promises = check(truth, crawls, "own, protected", expected)
    assert {found.exemption for key, found in promises.items() if key.startswith(f"{BOARD}?")} == {
        None,
        "pagination",
    }


@pytest.mark.parametrize("name", ["failing", "mumbling"])
def test_a_class_that_fails_costs_no_page(crawls: dict[str, Crawl], truth: AnnexTruth, name: str) -> None:
    promises = check(truth, crawls, name, lambda key, original: Promise("mark"))
    assert crawls[name].stat("bad_action") == len(promises) > 10
    [warning] = crawls[name].log("WARNING", "scrapy_simhash")
    assert ("in decide\n" in warning) == (name == "failing")
    assert crawls[name].stat("consequence_errors") == 0


def test_a_class_that_is_not_there_stops_the_crawl_at_its_start(crawls: dict[str, Crawl]) -> None:
    assert "SIMHASH_ACTION: cannot import '" in (crawls["missing"].error or "")
    assert crawls["missing"].pages == []
