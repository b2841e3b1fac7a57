"""Sites whose adverts share most of their text: no advert is lost, and reposted adverts are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from benchmarks.lib.shared_text import Plan, make_site
from benchmarks.lib.shared_text.sites import REPOSTS
from benchmarks.lib.shared_text.templates import JSON_LD, MICRODATA
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.redis.layout import read_note
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.harness import IN_ORDER, IN_THREADS, Crawl, crawl, crawl_each
from tests.crawls.harness import Plan as CrawlPlan
from tests.crawls.site import Site, serve
from tests.store.server import RedisServer

#: 500 words of shared text, with a sentence in the middle of its paragraph that is unique to each page; no
#: element marks the main text.
PLAN = Plan("jobs", 500, own="numbers", layout="mixed", template="nested")
ON_A_LIST = 20


class Board(NamedTuple):
    site: Site
    entities: dict[str, str]
    """Jobs by path of their adverts. There are 60 jobs, 20 of them with two adverts."""
    lists: list[str]
    """Paths of the pages that link to the adverts."""

    def kept(self, crawl: Crawl) -> set[str]:
        """Return the entities that have an item."""
        return {self.entities[path] for path in crawl.paths_scraped if path in self.entities}

    def dropped(self, *crawls: Crawl) -> int:
        """Return the number of adverts without an item."""
        kept = sum(path in self.entities for done in crawls for path in done.paths_scraped)
        return len(self.entities) - kept

    def check_copies(self, crawl: Crawl) -> None:
        """Check that each copy advertises the same job as its original."""
        for page in crawl.pages:
            if page.verdict == "near_duplicate" and page.path in self.entities:
                original = urlsplit(page.marks["duplicate_of"]).path
                assert self.entities[original] == self.entities[page.path]


def made(plan: Plan) -> tuple[dict[str, str], dict[str, str]]:
    """Return the pages of a site and their subjects, by path."""
    site = make_site(plan)
    paths = {urlsplit(page.url).path: page for page in site.pages}
    return (
        {path: page.html.replace(f"https://{site.host}", "") for path, page in paths.items()},
        {path: page.entity for path, page in paths.items()},
    )


@pytest.fixture(scope="module")
def board() -> Iterator[Board]:
    routes, entities = made(PLAN)
    adverts, lists = list(entities), []
    for start in range(0, len(adverts), ON_A_LIST):
        lists.append(f"/list/{start // ON_A_LIST}")
        items = "".join(
            f'<li><a href="{path}">{entities[path]}</a></li>' for path in adverts[start : start + ON_A_LIST]
        )
        routes[lists[-1]] = f"<html><head><title>Jobs</title></head><body><ul>{items}</ul></body></html>"
    with serve(routes) as site:
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
        "in threads": plan(board, EXTENSIONS=IN_THREADS),
        "not learning": plan(board, SIMHASH_SITE_LEARNING=False),
    }
    return crawl_each(plans)


@pytest.mark.parametrize("way", ["learning", "at once", "in threads"])
def test_no_advert_is_lost_and_reposts_are_dropped(board: Board, crawls: dict[str, Crawl], way: str) -> None:
    done = crawls[way]
    assert done.complaints == []
    assert board.kept(done) == set(board.entities.values())
    assert done.stat("dropped/items") == board.dropped(done) >= 0.9 * REPOSTS
    board.check_copies(done)


def test_without_learning_no_advert_is_lost(board: Board, crawls: dict[str, Crawl]) -> None:
    done = crawls["not learning"]
    assert done.complaints == []
    # The titles are different.
    assert board.kept(done) == set(board.entities.values())


def test_a_later_crawl_knows_the_site_from_its_first_page(board: Board, tmp_path: Path) -> None:
    settings = {"SIMHASH_STORE": str(tmp_path)}
    first, second = crawl(plan(board, **settings), plan(board, **settings))
    (path,) = tmp_path.rglob("*.sqlite")
    store = SqliteStore(path, read_only=True)
    ((host, data),) = store.notes(SITE)
    store.close()
    profile = SiteProfile.from_bytes(data)
    assert host == "127.0.0.1"
    assert profile.is_known
    # The number of pages in both crawls: the second crawl continued the model of the first.
    assert profile.pages == 2 * first.stat("processed")
    assert len(profile.known()) > 10
    for done in (first, second):
        assert done.complaints == []
        assert board.kept(done) == set(board.entities.values())
    assert {page.verdict for page in second.pages if page.path in board.entities} <= {
        "revisit/unchanged",
        "revisit/small_change",
    }


# --- A series: adverts for one job in many places, which differ in structured data and a word or two.


@pytest.mark.parametrize("markup", [JSON_LD, MICRODATA])
def test_no_advert_of_a_series_is_lost(tmp_path: Path, markup: str) -> None:
    routes, entities = made(Plan("jobs", 120, is_structured=True, markup=markup, is_series=True))
    with serve(routes) as site:
        series, urls = Board(site, entities, []), {"urls": site.urls(*entities)}
        drops = {"SIMHASH_ACTION": "drop_items", **IN_ORDER}
        settings: list[dict[str, object]] = [
            {},
            {"SIMHASH_STORE": str(tmp_path)},
            {"SIMHASH_STORE": str(tmp_path)},
            {"SIMHASH_SITE_LEARNING": False},
        ]
        crawls = crawl(*[CrawlPlan("Visitor", {**drops, **more}, urls) for more in settings])
    in_memory, in_file, again, not_learning = crawls
    for done in (in_memory, in_file):
        assert done.complaints == []
        assert series.kept(done) == set(entities.values())
        assert done.stat("dropped/items") == series.dropped(done) >= 0.9 * REPOSTS
        series.check_copies(done)
    # The main item of a page is stored in the file.
    assert again.complaints == []
    assert {page.verdict for page in again.pages} <= {"revisit/unchanged", "revisit/small_change"}
    assert series.kept(again) == set(entities.values())
    assert series.kept(not_learning) == set(entities.values())


# --- Crawlers that share a store in Redis.


def shared(server: RedisServer) -> dict[str, object]:
    return {"SIMHASH_STORE": f"{server.url}?prefix=board"}


def profile_in(server: RedisServer) -> SiteProfile:
    from redis import Redis

    with Redis.from_url(server.url) as client:
        kept: dict[bytes, bytes] = client.hgetall("board:notes")
    (profile,) = (note for field, note in kept.items() if field.startswith(b"site "))
    return SiteProfile.from_bytes(read_note(profile)[1])


def test_crawlers_that_share_a_store_lose_no_advert_and_share_models(
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
    # Each crawler knows only its own half of the pages until it ends.
    # A copy is delivered if the other crawler stores the delivery of its text after this one has ended.
    assert board.dropped(*both) >= 0.5 * REPOSTS
    for done in both:
        board.check_copies(done)
    profile = profile_in(server)
    assert profile.is_known
    assert profile.pages == sum(done.stat("processed") for done in both)

    (third,) = crawl(plan(board, **shared(server)))
    assert third.complaints == []
    assert board.kept(third) == set(board.entities.values())
    # From the first page on, while the others had to learn the site first.
    own_parts = third.stat("unique_text")
    assert own_parts >= 0.9 * len(board.entities)
    assert own_parts > sum(done.stat("unique_text") for done in both)
