"""Floods in real crawls: traps without end are noticed, and end where they are told to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.crawls.harness import IN_ORDER, WITHOUT_REACTOR, Plan, crawl, crawl_one
from tests.crawls.site import Answer, Route, Site, article, links, serve

SIZE = 20
#: What may be under way when a pattern is stopped: Scrapy's default for all hosts together.
UNDER_WAY = 16
#: Pages in a row that must lead nowhere new, and the one before them.
PATIENCE = 6
FLOOD = {"SIMHASH_FLOOD_SIZE": SIZE}
STOP = {**FLOOD, "SIMHASH_FLOOD_ACTION": "stop_pattern"}
CLOSE = {**FLOOD, "SIMHASH_FLOOD_ACTION": "close_spider"}
#: Where a test fails, the trap shall not go on for ever.
NOT_FOR_EVER = {"CLOSESPIDER_PAGECOUNT": 400}
ARTICLES = [f"/articles/{number}" for number in range(8)]

ABOUT_EVENTS = (
    "The ferry crosses on the hour from seven in the morning until nine at night. The library in the square is open"
    " on every day but Monday, and the fish market is held on the quay as soon as the first boat is in. Visitors may"
    " climb the lighthouse if the flag of its keeper is flying, and the mill grinds when there is enough water in the"
    " pond. To add an event, leave a note in the brass letter box beside the harbour office before the twentieth."
)
LOGIN = (
    "<h1>This story is for members</h1><p>To read on, please sign in with the address that you gave us and the word"
    " that you chose. Membership pays for the reporting, the printing press and the cat of the office. Not a member"
    " yet? Join at the counter, or write to us, and the first month is on the house.</p>"
    '<form action="/login"><input name="user"><input type="password" name="word"></form>'
)
NOT_FOUND = (
    "<h1>We could not find that page</h1><p>It may have been moved when we tidied the cellar, or it may never have"
    " existed. Look through the sections above, or ring the office between ten and noon: somebody will go down and"
    " see whether there is a copy of it on paper among the bound volumes.</p>"
)


def page(main: str, *paths: str) -> str:
    return f"<!doctype html><html><body>{links(*paths)}<main>{main}</main></body></html>"


def calendar(path: str) -> str:
    """Return a month of a calendar that goes on for ever, in both directions."""
    year, month = map(int, re.findall(r"\d+", path))
    months = 12 * year + month - 1
    beside = [f"/calendar/{at // 12}/{at % 12 + 1}" for at in (months - 1, months + 1)]
    return page(f"<h1>Events</h1><p>Nothing is on in {month} {year}.</p><p>{ABOUT_EVENTS}</p>", *beside)


def shop(path: str) -> str:
    """Return a search whose filters can be put together without end: each has three values more."""
    chosen = dict(parse_qsl(urlsplit(path).query))
    paths = []
    for name in ("colour", "fit", "made", "page", "size", "sort"):
        more = {**chosen, name: str(int(chosen.get(name, 0)) + 1)}
        paths.append(f"/shop?{urlencode(more)}")
    return page(f"<h1>All for the harbour</h1><p>{ABOUT_EVENTS}</p>", *paths)


def winding(path: str) -> str:
    """Return a page whose links lack the slash at their front."""
    return page(f"<h1>Downloads</h1><p>{ABOUT_EVENTS}</p>", "/down", "files/", "help")


class Endless(dict[str, Route]):
    """Routes, and beyond them a trap of each kind."""

    TRAPS = (("/calendar/", calendar), ("/shop", shop), ("/down", winding))

    def get(self, path: str, otherwise: Any = None) -> Any:
        for beginning, trap in self.TRAPS:
            if path.startswith(beginning):
                return trap(path)
        return super().get(path, otherwise)


@contextmanager
def endless(*entrances: str) -> Iterator[Site]:
    """Serve a site of eight articles, and of the traps at *entrances*."""
    routes: dict[str, Route] = {path: article(number) for number, path in enumerate(ARTICLES)}
    with serve({}) as site:
        site.routes = Endless({**routes, "/": page("", *ARTICLES, *entrances)})
        yield site


def asked(site: Site, beginning: str) -> int:
    """Return how many addresses that begin so were asked for."""
    return sum(1 for path in site.visits if path.startswith(beginning))


@pytest.mark.parametrize("reactor", ["asyncio", "select", WITHOUT_REACTOR])
def test_an_endless_calendar_ends_where_its_pattern_is_stopped(reactor: str) -> None:
    with endless("/calendar/2024/5") as site:
        ended = crawl_one(
            "floods_spiders.Wanderer", {**STOP, **NOT_FOR_EVER}, reactor=reactor, urls=[site.url()]
        )
        assert asked(site, "/calendar/") <= SIZE + PATIENCE + UNDER_WAY
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "finished"
    assert set(ARTICLES) < set(ended.paths_scraped)
    assert ended.stat("flood/trap") == 1
    assert ended.stat("requests_refused") > 0
    (flood,) = ended.notes
    assert flood["kind"] == "trap"
    assert flood["size"] == SIZE
    assert flood["pattern"] == "/calendar/{number}/{number}"
    assert len(flood["urls"]) == 10


@pytest.mark.parametrize("reactor", ["asyncio", "select", WITHOUT_REACTOR])
def test_traps_end_with_the_spider_where_that_is_closed(reactor: str) -> None:
    with endless("/calendar/2024/5") as days, endless("/shop") as goods, endless("/down/") as files:
        sites = {"/calendar/": days, "/shop": goods, "/down": files}
        plans = [
            Plan("floods_spiders.Wanderer", {**CLOSE, **NOT_FOR_EVER}, {"urls": [site.url()]})
            for site in sites.values()
        ]
        crawls = crawl(*plans, reactor=reactor)
        for beginning, site in sites.items():
            assert asked(site, beginning) <= SIZE + UNDER_WAY
    for ended in crawls:
        assert ended.complaints == []
        assert ended.stats["finish_reason"] == "simhash_flood"
        assert ended.stat("flood/trap") == 1
        assert ended.stat("requests_refused") == 0


def test_a_faceted_search_ends_where_its_pattern_is_stopped() -> None:
    with endless("/shop") as site:
        ended = crawl_one("floods_spiders.Wanderer", {**STOP, **NOT_FOR_EVER}, urls=[site.url()])
        # The first pages have few filters, and these have patterns of their own before they have one in common.
        assert asked(site, "/shop") <= 2 * SIZE + PATIENCE + UNDER_WAY
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "finished"
    assert set(ARTICLES) < set(ended.paths_scraped)
    assert ended.stat("flood/trap") == 1


def test_a_path_that_winds_around_ends_where_its_pattern_is_stopped() -> None:
    with endless("/down/") as site:
        ended = crawl_one("floods_spiders.Wanderer", {**STOP, **NOT_FOR_EVER}, urls=[site.url()])
        assert asked(site, "/down") <= 2 * SIZE + PATIENCE + UNDER_WAY
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "finished"
    assert set(ARTICLES) < set(ended.paths_scraped)
    assert ended.stat("flood/trap") == 1
    assert [line for line in ended.log("WARNING") if "/down/** in circles are refused" in line]


def test_a_trap_that_is_only_reported_goes_on() -> None:
    with endless("/calendar/2024/5") as site:
        ended = crawl_one(
            "floods_spiders.Wanderer", {**FLOOD, "CLOSESPIDER_PAGECOUNT": 100}, urls=[site.url()]
        )
    assert ended.complaints == []
    assert ended.stats["finish_reason"] == "closespider_pagecount"
    assert ended.stat("flood/trap") == 1
    assert len(ended.log("WARNING", "scrapy_simhash")) == 1
    assert ended.stat("requests_refused") == 0


def test_nothing_is_watched_with_a_size_of_0() -> None:
    settings = {**STOP, "SIMHASH_FLOOD_SIZE": 0, "CLOSESPIDER_PAGECOUNT": 60}
    with endless("/calendar/2024/5") as site:
        ended = crawl_one("floods_spiders.Wanderer", settings, urls=[site.url()])
    assert ended.complaints == []
    assert ended.notes == []
    assert ended.stats["finish_reason"] == "closespider_pagecount"


def test_what_has_opted_out_is_neither_counted_as_a_flood_nor_refused() -> None:
    with endless("/calendar/2024/5") as site:
        settings = {**STOP, "CLOSESPIDER_PAGECOUNT": 60}
        ended = crawl_one("floods_spiders.Stubborn", settings, urls=[site.url()])
    assert ended.notes == []
    assert ended.stats["finish_reason"] == "closespider_pagecount"


def test_a_handler_that_fails_stops_no_flood_from_being_stopped() -> None:
    with endless("/calendar/2024/5") as site:
        ended = crawl_one("floods_spiders.Deaf", {**STOP, **NOT_FOR_EVER}, urls=[site.url()])
        assert asked(site, "/calendar/") <= SIZE + PATIENCE + UNDER_WAY
    assert "cannot hear" in "".join(ended.complaints)
    assert set(ARTICLES) < set(ended.paths_scraped)


MEMBERS = [f"/members/{number}" for number in range(60)]


def members(answer: Route) -> dict[str, Route]:
    """Return routes of eight articles and of sixty pages that all get one answer."""
    routes: dict[str, Route] = {path: article(number) for number, path in enumerate(ARTICLES)}
    return {**routes, "/": page("", *MEMBERS, *ARTICLES), **dict.fromkeys(MEMBERS, answer)}


WALLS = {
    "login_wall": page(LOGIN),
    "soft_404": page(NOT_FOUND),
    "soft_404 ": page("<h1>Not found</h1><p>There is no such page.</p>"),  # too short for a fingerprint
    "empty_shell": '<!doctype html><body><div id="root"></div><script src="/app.js"></script>',
    "trap": page(f"<h1>Opening times</h1><p>{ABOUT_EVENTS}</p>"),
    "captcha": '<!doctype html><title>Just a moment...</title><body><div id="cf-challenge"></div>',
}


def test_walls_are_noticed_told_apart_and_stopped() -> None:
    with ExitStack() as stack:
        sites = [stack.enter_context(serve(members(answer))) for answer in WALLS.values()]
        plans = [Plan("floods_spiders.Wanderer", STOP, {"urls": [site.url()]}) for site in sites]
        crawls = crawl(*plans)
    for kind, ended in zip(WALLS, crawls, strict=True):
        assert ended.complaints == []
        assert [flood["kind"] for flood in ended.notes] == [kind.strip()]
        assert ended.stat(f"flood/{kind.strip()}") == 1
        assert set(ARTICLES) < set(ended.paths_scraped)
        assert ended.stat("requests_refused") >= len(MEMBERS) - SIZE - PATIENCE - UNDER_WAY


def test_a_wall_behind_a_redirect_is_stopped_before_the_redirect() -> None:
    routes = members("")
    for path in MEMBERS:
        routes[path] = Answer(status=302, headers={"Location": f"/login?next={path}"})
        routes[f"/login?next={path}"] = page(LOGIN)
    with serve(routes) as site:
        ended = crawl_one("floods_spiders.Wanderer", {**STOP, **IN_ORDER}, urls=[site.url()])
        assert asked(site, "/members/") <= SIZE + PATIENCE + 1
        assert asked(site, "/login") <= SIZE + PATIENCE
    assert ended.complaints == []
    (flood,) = ended.notes
    assert flood["pattern"] == "/members/{number}"
    assert flood["urls"][:2] == MEMBERS[:2]
    assert set(ARTICLES) < set(ended.paths_scraped)


def test_meta_that_is_passed_on_does_not_lay_a_flood_at_the_door_of_a_redirect() -> None:
    days = [f"/day/{number}" for number in range(60)]
    routes: dict[str, Route] = {
        "/": page("", "/r/1"),
        "/r/1": Answer(status=302, headers={"Location": "/new"}),
        "/new": page("", *days, "/r/2", "/r/3"),
        "/r/2": article(2),
        "/r/3": article(3),
        **dict.fromkeys(days, page(LOGIN)),
    }
    with serve(routes) as site:
        # The pages that the spider begins with are never refused, and what says so is passed on as well.
        settings = {**STOP, **IN_ORDER}
        ended = crawl_one("floods_spiders.Bearer", settings, urls=[site.url()])
    assert [flood["pattern"] for flood in ended.notes] == ["/day/{number}"]
    assert {"/r/2", "/r/3"} < set(ended.paths_scraped)


def test_the_good_pages_beside_a_wall_are_not_lost() -> None:
    routes = members(page(LOGIN))
    # One in four is free to read: no pattern has only the wall.
    free = MEMBERS[::4]
    routes |= {path: article(number) for number, path in enumerate(free)}
    with serve(routes) as site:
        ended = crawl_one("floods_spiders.Wanderer", STOP, urls=[site.url()])
    assert ended.complaints == []
    assert ended.stat("flood/login_wall") == 1
    assert ended.stat("requests_refused") == 0
    assert set(MEMBERS) < set(ended.paths_scraped)
    assert any("no request is refused" in line for line in ended.log("WARNING"))


def test_a_long_list_is_not_stopped_while_it_leads_to_something_new() -> None:
    def listing(number: int) -> str:
        further = f"/list/{number % 50 + 1}"
        return page(
            f"<h1>All our stories</h1><p>{ABOUT_EVENTS}</p>", f"/story/{number}-{number}.txt", further
        )

    routes: dict[str, Route] = {f"/list/{number}": listing(number) for number in range(1, 51)}
    routes |= {
        f"/story/{number}-{number}.txt": Answer("", content_type="text/plain") for number in range(1, 51)
    }
    with serve(routes) as site:
        ended = crawl_one("floods_spiders.Wanderer", STOP, urls=[site.url("/list/1")])
    assert ended.complaints == []
    assert ended.stat("flood/trap") == 1
    assert ended.stat("requests_refused") == 0
    assert len(set(ended.paths_scraped)) == 100


def test_a_page_of_an_earlier_crawl_is_counted_and_one_that_is_asked_again_is_not(tmp_path: Any) -> None:
    kept = {**FLOOD, "SIMHASH_DIR": str(tmp_path)}
    with serve(members(page(LOGIN))) as site:
        again = {"urls": site.urls(*MEMBERS[: SIZE - 1] * 3)}
        first, second, polled = crawl(
            Plan("floods_spiders.Wanderer", kept, {"urls": [site.url()]}),
            Plan("floods_spiders.Wanderer", {**kept, "SIMHASH_RESET": True}, {"urls": [site.url()]}),
            Plan("floods_spiders.Wanderer", FLOOD, again),
        )
    assert [len(ended.notes) for ended in (first, second, polled)] == [1, 1, 0]


PROBE = {"SIMHASH_FLOOD_PROBE": True, "SIMHASH_FLOOD_SIZE": 5, **IN_ORDER}
DEAD = [
    f"/story/{name}" for name in ("anchor", "buoy", "cable", "deck", "eddy", "flag", "gull", "hull", "inlet")
]
ODD = "<h1>Oh dear</h1><p>The cat has slept on that one, and nobody likes to wake her before it is time for tea.</p>"


class Polite(dict[str, Route]):
    """Routes, and one answer at all other addresses."""

    def __init__(self, answer: Route, routes: dict[str, Route]) -> None:
        super().__init__(routes)
        self.answer = answer

    def get(self, path: str, otherwise: Any = None) -> Any:
        return super().get(path, self.answer)


@contextmanager
def polite(answer: Route, **routes: Route) -> Iterator[Site]:
    """Serve articles, links that lead nowhere, and *answer* there and everywhere else."""
    with serve({}) as site:
        known: dict[str, Route] = {path: article(number) for number, path in enumerate(ARTICLES)}
        known["/"] = article(8, after=links(*ARTICLES, *DEAD, *(f"/{name}" for name in routes)))
        known["/robots.txt"] = Answer("User-agent: *\nAllow: /", content_type="text/plain")
        known |= {f"/{name}": route for name, route in routes.items()}
        site.routes = Polite(answer, known)
        yield site


def probes(site: Site) -> list[str]:
    return [path for path in site.visits if re.fullmatch(r"/[0-9a-f]{24}", path)]


@pytest.mark.parametrize("reactor", ["asyncio", "select", WITHOUT_REACTOR])
def test_a_host_is_asked_once_what_it_says_of_pages_that_are_not_there(reactor: str) -> None:
    with polite(page(ODD)) as site:
        ended = crawl_one("floods_spiders.Wanderer", PROBE, reactor=reactor, urls=[site.url()])
        assert len(probes(site)) == 1
    assert ended.complaints == []
    # A page or two may have come before the answer.
    assert len(DEAD) - 2 <= ended.stat("not_found") <= len(DEAD)
    # The page itself says nothing of the kind.
    assert [flood["kind"] for flood in ended.notes] == ["soft_404"]
    assert set(ARTICLES) < set(ended.paths_scraped)


def test_each_host_is_asked() -> None:
    with polite(page(ODD)) as site:
        urls = [site.url(), site.url(host="localhost")]
        ended = crawl_one("floods_spiders.Wanderer", PROBE, urls=urls)
        assert len(probes(site)) == 2
    assert 2 * len(DEAD) - 4 <= ended.stat("not_found") <= 2 * len(DEAD)


def test_no_host_is_asked_unless_told_to() -> None:
    with polite(page(ODD)) as site:
        ended = crawl_one(
            "floods_spiders.Wanderer", {**PROBE, "SIMHASH_FLOOD_PROBE": False}, urls=[site.url()]
        )
        assert probes(site) == []
    assert ended.stat("not_found") == 0


#: What hosts answer at an address that cannot exist, and nothing is to be learned from.
UNTOLD: list[Route] = [
    Answer(page(ODD), 404),
    Answer(page(ODD), 410),
    Answer(page(ODD), 503),
    # It shows its front page to strangers, with and without a redirect.
    article(8),
    Answer(status=302, headers={"Location": "/"}),
    # It never ends.
    Answer(status=302, headers={"Location": "/again"}),
    # Not what it says it is, and not all of it.
    Answer("{}", content_type="application/json"),
    Answer(page(ODD), length=100_000),
    # No text, as where scripts write the pages.
    "<!doctype html><body><div id='app'></div><script src='/app.js'></script>",
]


def test_nothing_is_learned_from_a_host_that_is_honest_or_shows_a_page_of_its_own() -> None:
    again = Answer(status=302, headers={"Location": "/again"})
    with ExitStack() as stack:
        sites = [stack.enter_context(polite(answer, again=again)) for answer in UNTOLD]
        crawls = crawl(*(Plan("floods_spiders.Wanderer", PROBE, {"urls": [site.url()]}) for site in sites))
    for site, ended in zip(sites, crawls, strict=True):
        asked_for = probes(site)
        assert len(asked_for) == 1
        assert ended.stat("not_found") == 0
        assert ended.stat("consequence_errors") == 0
        assert set(ARTICLES) < set(ended.paths_scraped)
        # A length that is not kept is an error for Scrapy, wherever a spider asked for it; the probe is quiet.
        assert not [text for text in ended.complaints if asked_for[0] in text]


def test_a_page_to_which_strangers_are_sent_is_no_page_that_is_not_there_once_it_is_asked_for() -> None:
    moved = Answer(status=302, headers={"Location": "/news"})
    news = f"<h1>News</h1><p>{ABOUT_EVENTS}</p>"
    with polite(moved, news=page(news), old=page(f"{news}<p>It was so last year.</p>")) as site:
        # By itself first, then a copy of it.
        urls = [site.url(), site.url("/news"), site.url("/old")]
        ended = crawl_one("Visitor", PROBE, urls=urls)
    assert ended.complaints == []
    assert ended.stat("near_duplicates") == 1
    assert ended.stat("not_found") == 0


def test_a_page_to_which_all_that_is_missing_is_sent_is_one_that_is_not_there() -> None:
    moved = Answer(status=302, headers={"Location": "/missing.html"})
    with polite(moved, **{"missing.html": page(ODD)}) as site:
        ended = crawl_one("Visitor", PROBE, urls=site.urls("/", *DEAD))
    assert ended.complaints == []
    assert ended.stat("not_found") >= len(DEAD) - 2


def test_a_host_that_forbids_it_is_not_asked() -> None:
    forbids = Answer("User-agent: *\nAllow: /articles/\nDisallow: /", content_type="text/plain")
    with polite(page(ODD), **{"robots.txt": forbids}) as site:
        settings = {**PROBE, "ROBOTSTXT_OBEY": True}
        ended = crawl_one("floods_spiders.Wanderer", settings, urls=site.urls(*ARTICLES))
        assert probes(site) == []
    assert ended.complaints == []
    assert ended.paths_scraped == sorted(ARTICLES)
