"""Traps in real crawls: endless URLs without new pages are logged, and end with ``skip``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from magazine.server import in_thread

from scrapy_simhash.observers.url_rules.traps import IN_A_ROW
from tests.crawls.harness import IN_ORDER, RECRAWL, WITHOUT_REACTOR, Crawl, Plan, crawl, crawl_one
from tests.crawls.made_up_site import EVENTS, WALL, page
from tests.crawls.site import Answer, Route, Site, article, prose, serve
from tests.crawls.validating_site import ValidatingSite

#: Max running requests when a shape is stopped: Scrapy's default for all hosts together.
UNDER_WAY = 16
#: Max requests that check a stopped shape: a third of the host's requests before the end, and a sample of the skipped
#: requests at the end. The number depends on the order in which pages arrive.
CHECKS = 60
MOST = IN_A_ROW + UNDER_WAY + CHECKS
SKIP = {"SIMHASH_URL_RULES": "skip"}
#: The crawl must end even if the test fails.
NOT_FOR_EVER = {"CLOSESPIDER_PAGECOUNT": 400}
ARTICLES = [f"/articles/{number}" for number in range(8)]


def calendar(path: str) -> str:
    year, month = map(int, re.findall(r"\d+", path))
    months = 12 * year + month - 1
    beside = [f"/calendar/{at // 12}/{at % 12 + 1}" for at in (months - 1, months + 1)]
    return page(f"<h1>Events</h1><p>Nothing is on in {month} {year}.</p><p>{EVENTS}</p>", *beside)


class Endless(dict[str, Route]):
    """The given routes, and an endless calendar."""

    def get(self, path: str, otherwise: Any = None) -> Any:
        return calendar(path) if path.startswith("/calendar/") else super().get(path, otherwise)


@contextmanager
def endless() -> Iterator[Site]:
    routes: dict[str, Route] = {path: article(number) for number, path in enumerate(ARTICLES)}
    with serve({}) as site:
        site.routes = Endless({**routes, "/": page("", *ARTICLES, "/calendar/2024/5")})
        yield site


def requested(site: Site, beginning: str) -> int:
    """Return the number of requested URLs with this prefix."""
    return sum(1 for path in site.visits if path.startswith(beginning))


def traps(ended: Crawl) -> list[str]:
    """Return the shapes that were logged as traps."""
    lines = (re.search(r"pages in a row of (\S+( in circles)?) on", line) for line in ended.log("WARNING"))
    return [found[1] for found in lines if found]


def has_ended(ended: Crawl) -> None:
    """Check that a crawl ended, and that only traps were skipped."""
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "finished"
    assert set(ARTICLES) < set(ended.paths_scraped)
    assert ended.stat("url_rules/traps") == len(traps(ended)) == 1
    assert ended.stat("url_rules/skipped") > 0


@pytest.mark.parametrize("reactor", ["asyncio", "select", WITHOUT_REACTOR])
def test_an_endless_calendar_ends(reactor: str) -> None:
    with endless() as site:
        ended = crawl_one("Follower", {**SKIP, **NOT_FOR_EVER}, reactor=reactor, urls=[site.url()])
        assert requested(site, "/calendar/") <= MOST
    has_ended(ended)
    assert traps(ended) == ["/calendar/{number}/{number}"]
    assert any(
        "; trap /calendar/{number}/{number}" in line or "trap /calendar" in line for line in ended.log("INFO")
    )


@pytest.mark.parametrize("mode", ["observe", "off"])
def test_a_trap_continues_unless_it_is_stopped(mode: str) -> None:
    with endless() as site:
        settings = {"SIMHASH_URL_RULES": mode, "CLOSESPIDER_PAGECOUNT": 120}
        ended = crawl_one("Follower", settings, urls=[site.url()])
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "closespider_pagecount"
    assert ended.stat("url_rules/traps") == len(traps(ended)) == (mode == "observe")
    assert (ended.stat("url_rules/would_skip") > 0) is (mode == "observe")
    assert ended.stat("url_rules/skipped") == 0
    assert mode == "observe" or not [name for name in ended.stats if "url_rules" in name]


def test_excluded_requests_are_neither_counted_nor_skipped() -> None:
    with endless() as site:
        settings = {**SKIP, "CLOSESPIDER_PAGECOUNT": 100}
        ended = crawl_one("Excluding", settings, urls=[site.url()], part="/calendar/")
    assert traps(ended) == []
    assert ended.stats["finish_reason"] == "closespider_pagecount"


MEMBERS = [f"/members/{number}" for number in range(90)]


def members(answer: Route) -> dict[str, Route]:
    """Return routes of eight articles, and ninety pages with the same response."""
    routes: dict[str, Route] = {path: article(number) for number, path in enumerate(ARTICLES)}
    return {**routes, "/": page("", *MEMBERS, *ARTICLES), **dict.fromkeys(MEMBERS, answer)}


LOGIN = page(WALL)
EMPTY_SHELL = '<!doctype html><body><div id="root"></div><script src="/app.js"></script>'
TRAP = page(f"<h1>Opening times</h1><p>{EVENTS}</p>")


@pytest.mark.slow("three crawls of a hundred pages")
def test_shapes_of_interstitials_are_not_stopped() -> None:
    with ExitStack() as stack:
        sites = [stack.enter_context(serve(members(answer))) for answer in (LOGIN, EMPTY_SHELL, TRAP)]
        crawls = crawl(*(Plan("Follower", {**SKIP, **IN_ORDER}, {"urls": [site.url()]}) for site in sites))
    for ended in crawls:
        assert ended.complaints == []
        assert set(ARTICLES) < set(ended.paths_scraped)
    assert [traps(ended) for ended in crawls] == [[], [], ["/members/{number}"]]
    assert [ended.stat("url_rules/skipped") > 0 for ended in crawls] == [False, False, True]


def test_a_trap_behind_redirects_is_stopped_before_the_redirect() -> None:
    routes = members("")
    for path in MEMBERS:
        routes[path] = Answer(status=302, headers={"Location": f"/office?from={path}"})
        routes[f"/office?from={path}"] = TRAP
    with serve(routes) as site:
        ended = crawl_one("Follower", {**SKIP, **IN_ORDER}, urls=[site.url()])
        assert requested(site, "/members/") < len(MEMBERS)
    has_ended(ended)
    assert traps(ended) == ["/members/{number}"]


def test_copied_meta_does_not_turn_a_redirect_into_a_trap() -> None:
    days = [f"/day/{number}" for number in range(70)]
    routes: dict[str, Route] = {
        "/": page("", "/r/1"),
        "/r/1": Answer(status=302, headers={"Location": "/new"}),
        "/new": page("", *days, "/r/2", "/r/3"),
        "/r/2": article(2),
        "/r/3": article(3),
        **dict.fromkeys(days, TRAP),
    }
    with serve(routes) as site:
        # Start pages are never skipped, and the meta key for this is passed on as well.
        ended = crawl_one("Bearer", {**SKIP, **IN_ORDER}, urls=[site.url()])
    assert traps(ended) == ["/day/{number}"]
    assert {"/r/2", "/r/3"} < set(ended.paths_scraped)


def test_a_trap_with_a_new_page_is_requested_again() -> None:
    numbers = range(150)
    routes: dict[str, Route] = {f"/day/{number}": TRAP for number in numbers}
    # Only requests that were running when the shape was stopped, and those that check it, are sent.
    routes |= {f"/day/{number}": f"<html><main>{prose(number)}</main></html>" for number in numbers[90:]}
    routes["/"] = page("", *routes)
    with serve(routes) as site:
        ended = crawl_one("Follower", {**SKIP, **IN_ORDER}, urls=[site.url()])
        assert set(routes) <= set(site.visits)
    assert ended.complaints == []
    assert ended.stat("url_rules/skipped") > 0
    assert ended.stat("url_rules/given_up") == 1
    assert any("Dropped URL rule 'trap /day/{number}'" in line for line in ended.log("INFO"))


def lists(*, is_walled: bool = False) -> dict[str, Route]:
    """Return routes of a hundred similar lists, each with links to one story and to the next list."""
    routes: dict[str, Route] = {"/list/100": page("")}
    for number in range(100):
        beside = f"/story/{number}", f"/list/{number + 1}"
        routes[f"/list/{number}"] = page(f"<h1>All our stories</h1><p>{EVENTS}</p>", *beside)
        routes[beside[0]] = LOGIN if is_walled else page(prose(number))
    return routes


@pytest.mark.slow("three crawls of two hundred pages")
@pytest.mark.parametrize("order", [{}, {"REFERER_ENABLED": False}], ids=["latest first", "without a Referer"])
def test_lists_of_pages_that_are_not_compared_are_not_stopped(order: dict[str, Any]) -> None:
    ways: list[tuple[str, dict[str, str]]] = [
        ("", {}),
        ("POST", {"part": "/story/", "way": "POST"}),
        ("opted out", {"part": "/story/"}),
    ]
    with ExitStack() as stack:
        sites = [stack.enter_context(serve(lists(is_walled=not way))) for way, _ in ways]
        plans = [
            Plan("Excluding" if way else "Follower", {**SKIP, **order}, {"urls": [site.url("/list/0")], **of})
            for site, (way, of) in zip(sites, ways, strict=True)
        ]
        for site, ended in zip(sites, crawl(*plans), strict=True):
            assert ended.complaints == []
            assert set(site.routes) == set(ended.paths_scraped)


@pytest.mark.slow("three crawls of two hundred pages")
def test_a_crawl_of_an_unchanged_site_sends_the_same_requests_as_the_first(tmp_path: Any) -> None:
    routes = lists()
    with in_thread(ValidatingSite(routes)) as site:
        # The lists are sent in full each time, the stories only without conditional requests.
        site.modes = {path: "none" for path in routes if path.startswith("/list/")}
        for conditional in (True, True, False):
            site.visits.clear()
            cache = {"HTTPCACHE_DIR": str(tmp_path / "cache"), **RECRAWL} if conditional else {}
            settings = {**SKIP, "SIMHASH_STORE": str(tmp_path), **cache}
            ended = crawl_one("Follower", settings, urls=[site.url("/list/0")])
            assert ended.complaints == []
            assert set(routes) == set(site.visits)
    assert len(site.paths(304)) >= 90


def test_a_page_of_an_earlier_crawl_counts_and_a_retry_does_not(tmp_path: Any) -> None:
    kept = {"SIMHASH_STORE": str(tmp_path), "SIMHASH_URL_RULES": "observe"}
    with serve(members(TRAP)) as site:
        again = {"urls": site.urls(*MEMBERS[: IN_A_ROW - 1] * 3)}
        first, second, polled = crawl(
            Plan("Follower", kept, {"urls": [site.url()]}),
            Plan("Follower", {**kept, "SIMHASH_RESET": True}, {"urls": [site.url()]}),
            Plan("Follower", {"SIMHASH_URL_RULES": "observe"}, again),
        )
    assert [len(traps(ended)) for ended in (first, second, polled)] == [1, 1, 0]


@pytest.mark.slow("two crawls of eighty pages")
def test_shapes_without_new_pages_in_the_last_crawl_are_requested_in_each_crawl(tmp_path: Any) -> None:
    with endless() as site:
        settings = {**SKIP, **NOT_FOR_EVER, "SIMHASH_STORE": str(tmp_path)}
        for _ in range(2):
            has_ended(crawl_one("Follower", settings, urls=[site.url()]))
