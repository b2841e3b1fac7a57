"""A job board whose adverts share most of their text: no advert is lost, and those posted twice are dropped once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from benchmarks.lib.shared_text import Plan, make_site
from benchmarks.lib.shared_text.sites import REPOSTS
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.harness import IN_ORDER, Crawl, crawl
from tests.crawls.harness import Plan as CrawlPlan
from tests.crawls.site import Routes, Site, serve
from tests.store.server import RedisServer

#: 500 words of shared text, and one sentence of its own on each page, inside a paragraph of that; no element says
#: what is main text.
PLAN = Plan("jobs", 500, own="numbers", layout="mixed", template="nested")
ON_A_LIST = 20


class Board(NamedTuple):
    site: Site
    entities: dict[str, str]
    """By path of an advert: what it advertises. There are 60, of which 20 have two adverts."""
    lists: list[str]
    """Paths of the pages that link to the adverts."""

    def kept(self, crawl: Crawl) -> set[str]:
        """Return the entities of which there is an item."""
        return {self.entities[path] for path in crawl.paths_scraped if path in self.entities}

    def adverts_kept(self, crawl: Crawl) -> int:
        return sum(path in self.entities for path in crawl.paths_scraped)


@pytest.fixture(scope="module")
def board() -> Iterator[Board]:
    made = make_site(PLAN)
    routes: dict[str, str] = {}
    entities = {}
    for page in made.pages:
        path = urlsplit(page.url).path
        entities[path] = page.entity
        routes[path] = page.html.replace(f"https://{made.host}", "")
    adverts, lists = list(entities), []
    for start in range(0, len(adverts), ON_A_LIST):
        lists.append(f"/list/{start // ON_A_LIST}")
        items = "".join(
            f'<li><a href="{path}">{entities[path]}</a></li>' for path in adverts[start : start + ON_A_LIST]
        )
        routes[lists[-1]] = f"<html><head><title>Jobs</title></head><body><ul>{items}</ul></body></html>"
    served: Routes = routes
    with serve(served) as site:
        yield Board(site, entities, lists)


def plan(board: Board, **settings: object) -> CrawlPlan:
    return CrawlPlan(
        "Follower",
        {"SIMHASH_ACTION": "drop_items", **IN_ORDER, **settings},
        {"urls": board.site.urls(*board.lists)},
    )


@pytest.fixture(scope="module")
def crawls(board: Board) -> dict[str, Crawl]:
    plans = {
        "learning": plan(board),
        "at once": plan(board, CONCURRENT_REQUESTS=16, CONCURRENT_REQUESTS_PER_DOMAIN=16),
        "in threads": plan(board, SIMHASH_THREAD_SIZE=1),
        "not learning": plan(board, SIMHASH_SITE_LEARNING=False),
    }
    return dict(zip(plans, crawl(*plans.values()), strict=True))


@pytest.mark.parametrize("way", ["learning", "at once", "in threads"])
def test_no_advert_is_lost_and_reposts_are_dropped(board: Board, crawls: dict[str, Crawl], way: str) -> None:
    done = crawls[way]
    assert done.complaints == []
    assert board.kept(done) == set(board.entities.values())
    dropped = len(board.entities) - board.adverts_kept(done)
    assert dropped >= 0.9 * REPOSTS
    assert done.stat("items_dropped") == dropped
    if way == "in threads":
        assert done.stat("threaded") >= len(board.entities)


def test_a_dropped_advert_is_named_a_copy_of_its_first(board: Board, crawls: dict[str, Crawl]) -> None:
    copies = [page for page in crawls["learning"].pages if page.verdict == "near_duplicate"]
    assert len(copies) >= 0.9 * REPOSTS
    for page in copies:
        original = urlsplit(page.marks["duplicate_of"]).path
        assert board.entities[original] == board.entities[page.path]


def test_without_learning_adverts_are_lost(board: Board, crawls: dict[str, Crawl]) -> None:
    done = crawls["not learning"]
    assert done.complaints == []
    assert len(board.kept(done)) < 0.6 * len(set(board.entities.values()))


def test_a_later_crawl_knows_the_site_from_its_first_page(board: Board, tmp_path: Path) -> None:
    settings = {"SIMHASH_DIR": str(tmp_path)}
    first, second = crawl(plan(board, **settings), plan(board, **settings))
    (path,) = tmp_path.rglob("*.sqlite")
    store = SqliteStore(path, read_only=True)
    ((host, data),) = store.sites()
    store.close()
    profile = SiteProfile.from_bytes(data)
    assert host == "127.0.0.1"
    assert profile.is_known
    # The pages of both crawls: the second one went on where the first one ended.
    assert profile.pages == 2 * first.stat("processed")
    assert len(profile.known()) > 10
    for done in (first, second):
        assert done.complaints == []
        assert board.kept(done) == set(board.entities.values())
    assert {page.verdict for page in second.pages if page.path in board.entities} <= {
        "revisit/unchanged",
        "revisit/small_change",
    }


# --- Crawlers that share a store in Redis.


def shared(server: RedisServer) -> dict[str, object]:
    return {"SIMHASH_STORE": "redis", "SIMHASH_REDIS_URL": server.url, "SIMHASH_REDIS_PREFIX": "board"}


def profile_in(server: RedisServer) -> SiteProfile:
    from redis import Redis

    with Redis.from_url(server.url) as client:
        kept: dict[bytes, bytes] = client.hgetall("board:sites")
    (profile,) = kept.values()
    # After the version.
    return SiteProfile.from_bytes(profile[8:])


def test_crawlers_that_share_a_board_lose_no_advert_and_teach_the_next_one(
    board: Board, server: RedisServer
) -> None:
    adverts = list(board.entities)
    plans = [
        CrawlPlan(
            "Visitor",
            {"SIMHASH_ACTION": "drop_items", **IN_ORDER, **shared(server)},
            {"urls": board.site.urls(*adverts[half::2])},
        )
        for half in (0, 1)
    ]
    both = crawl(*plans, order="together")
    assert [done.complaints for done in both] == [[], []]
    assert board.kept(both[0]) | board.kept(both[1]) == set(board.entities.values())
    dropped = len(board.entities) - sum(board.adverts_kept(done) for done in both)
    # Each knows its own half of the pages only, until it ends.
    assert dropped >= 0.8 * REPOSTS
    for done in both:
        for page in done.pages:
            if page.verdict == "near_duplicate" and page.path in board.entities:
                original = urlsplit(page.marks["duplicate_of"]).path
                assert board.entities[original] == board.entities[page.path]
    profile = profile_in(server)
    assert profile.is_known
    assert profile.pages == sum(done.stat("processed") for done in both)

    (third,) = crawl(plan(board, **shared(server)))
    assert third.complaints == []
    assert board.kept(third) == set(board.entities.values())
    # From its first page on, where the others had to learn.
    own_parts = third.stat("site/own_parts")
    assert own_parts >= 0.9 * len(board.entities)
    assert own_parts > sum(done.stat("site/own_parts") for done in both)


def test_a_board_is_kept_when_the_server_goes_away_and_comes_back(board: Board, server: RedisServer) -> None:
    seen = 0

    def away(page: str, visit: int) -> str:
        nonlocal seen
        seen += 1
        if seen == 30:
            server.kill()
        if seen == 50:
            server.start()
            # Longer than the crawl waits before it tries again.
            time.sleep(2)
        return page

    routes = dict(board.site.routes)
    for path in board.entities:
        routes[path] = partial(away, str(routes[path]))
    with serve(routes) as site:
        (done,) = crawl(plan(Board(site, board.entities, board.lists), **shared(server)))
    assert done.complaints == []
    # Nothing is dropped while nobody is asked; nothing else is lost.
    assert board.kept(done) == set(board.entities.values())
    assert done.stat("store_errors") >= 10
    profile = profile_in(server)
    assert profile.is_known
    assert profile.pages == done.stat("processed") < len(board.entities)
