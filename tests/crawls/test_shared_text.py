"""Sites whose pages share most of their text: no page is lost, and copies are dropped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from benchmarks.lib.kinds import kind_named, make_site
from benchmarks.lib.kinds.pages import COPIED, PRINT, REPOST
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store.redis.layout import read_note
from scrapy_simhash.store.sqlite import SqliteStore
from tests.crawls.harness import IN_ORDER, IN_THREADS, Crawl, Plan, crawl, crawl_each
from tests.crawls.site import Site, serve
from tests.store.server import RedisServer

#: Pages with the text of another page.
COPIES = 2 * COPIED
ON_A_LIST = 20


class Board(NamedTuple):
    site: Site
    entities: dict[str, int]
    """What the pages are about, by path: 20 entities, 8 of them on three pages."""
    lists: list[str]
    """Paths of the pages that link to the others."""

    def kept(self, crawl: Crawl) -> set[int]:
        """Return the entities that have an item."""
        return {self.entities[path] for path in crawl.paths_scraped if path in self.entities}

    def dropped(self, *crawls: Crawl) -> int:
        """Return the number of pages without an item."""
        kept = sum(path in self.entities for done in crawls for path in done.paths_scraped)
        return len(self.entities) - kept

    def check(self, crawl: Crawl) -> None:
        """Check that nothing is lost, that copies are dropped, and that each is about the same as its original."""
        assert crawl.complaints == []
        assert self.kept(crawl) == set(self.entities.values())
        assert crawl.stat("dropped/items") == self.dropped(crawl) >= 0.9 * COPIES
        self.check_copies(crawl)

    def check_copies(self, crawl: Crawl) -> None:
        for page in crawl.pages:
            if page.verdict == "near_duplicate" and page.path in self.entities:
                original = urlsplit(page.marks["duplicate_of"]).path
                assert self.entities[original] == self.entities[page.path]


def made(kind: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return the pages of a site and their entities, by path."""
    site = make_site(kind_named(kind), 1, 1)
    pages = [*site.originals(), *(page for page in site.copies() if page.form in (PRINT, REPOST))]
    paths = {page.url.removeprefix(f"http://{site.host}"): page for page in pages}
    return {path: page.html for path, page in paths.items()}, {
        path: page.entry for path, page in paths.items()
    }


@pytest.fixture(scope="module")
def board() -> Iterator[Board]:
    routes, entities = made("exercises")
    paths, lists = list(entities), []
    for start in range(0, len(paths), ON_A_LIST):
        lists.append(f"/list/{start // ON_A_LIST}")
        items = "".join(
            f'<li><a href="{path}">{entities[path]}</a></li>' for path in paths[start : start + ON_A_LIST]
        )
        routes[lists[-1]] = f"<html><head><title>All</title></head><body><ul>{items}</ul></body></html>"
    with serve(routes) as site:
        yield Board(site, entities, lists)


def plan(board: Board, **settings: object) -> Plan:
    urls = {"urls": board.site.urls(*board.lists, *board.entities)}
    return Plan("Visitor", {"SIMHASH_ACTION": "drop_items", **IN_ORDER, **settings}, urls)


@pytest.fixture(scope="module")
def crawls(board: Board) -> dict[str, Crawl]:
    plans = {
        "learning": plan(board),
        "at once": plan(board, CONCURRENT_REQUESTS=16, CONCURRENT_REQUESTS_PER_DOMAIN=16),
        "in threads": plan(board, EXTENSIONS=IN_THREADS),
        "not learning": plan(board, SIMHASH_SITE_LEARNING=False),
    }
    return crawl_each(plans)


@pytest.mark.parametrize("way", ["learning", "at once", "in threads", "not learning"])
def test_no_page_is_lost_and_copies_are_dropped(board: Board, crawls: dict[str, Crawl], way: str) -> None:
    board.check(crawls[way])
    assert (crawls[way].stat("unique_text") > 0) is (way != "not learning")


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
    assert len(profile.known()) > 5
    for done in (first, second):
        assert done.complaints == []
        assert board.kept(done) == set(board.entities.values())
    assert {page.verdict for page in second.pages if page.path in board.entities} <= {
        "revisit/unchanged",
        "revisit/small_change",
    }


# --- A series: adverts for one job in many towns, which differ in structured data only.


JOB = kind_named("jobs, town in the facts")


def json_ld(town: str) -> str:
    place = {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": town}}
    job = {"@context": "https://schema.org", "@type": "JobPosting", "title": JOB.title, "jobLocation": place}
    return f'<script type="application/ld+json">{json.dumps(job)}</script>'


def test_no_advert_of_a_series_is_lost(tmp_path: Path) -> None:
    routes, entities = made(JOB.name)
    for path, page in routes.items():
        # Print views write the row differently.
        row = r"<dt>Town</dt><dd>(\w+)</dd>|<td>Town</td><td>(\w+)</td>|Town: (\w+)"
        routes[path], found = re.subn(row, lambda town: json_ld("".join(filter(None, town.groups()))), page)
        assert found == 1, page
    store = {"SIMHASH_STORE": str(tmp_path)}
    with serve(routes) as site:
        series = Board(site, entities, [])
        plans = [plan(series, **store), plan(series, **store), plan(series, SIMHASH_SITE_LEARNING=False)]
        first, again, not_learning = crawl(*plans)
    series.check(first)
    # The main item of a page is stored in the file.
    assert again.complaints == []
    assert {page.verdict for page in again.pages} <= {"revisit/unchanged", "revisit/small_change"}
    for done in (again, not_learning):
        assert series.kept(done) == set(entities.values())


# --- Crawlers that share a store in Redis.


def shared(server: RedisServer) -> dict[str, object]:
    return {"SIMHASH_STORE": f"{server.url}?prefix=board"}


def profile_in(server: RedisServer) -> SiteProfile:
    from redis import Redis

    with Redis.from_url(server.url) as client:
        kept: dict[bytes, bytes] = client.hgetall("board:notes")
    (profile,) = (note for field, note in kept.items() if field.startswith(b"site "))
    return SiteProfile.from_bytes(read_note(profile)[1])


def test_crawlers_that_share_a_store_lose_no_page_and_share_models(board: Board, server: RedisServer) -> None:
    paths = list(board.entities)
    halves = [{"urls": board.site.urls(*paths[half::2])} for half in (0, 1)]
    both = crawl(
        *(plan(board, **shared(server))._replace(arguments=half) for half in halves), order="together"
    )
    assert [done.complaints for done in both] == [[], []]
    assert board.kept(both[0]) | board.kept(both[1]) == set(board.entities.values())
    # Each crawler knows only its own half of the pages until it ends.
    # A copy is delivered if the other crawler stores the delivery of its text after this one has ended.
    assert board.dropped(*both) >= 0.5 * COPIES
    for done in both:
        board.check_copies(done)
    profile = profile_in(server)
    assert profile.is_known
    assert profile.pages == sum(done.stat("processed") for done in both)

    (third,) = crawl(plan(board, **shared(server)))
    assert third.complaints == []
    assert board.kept(third) == set(board.entities.values())
    # The third crawl has the model from its first page on, while the others had to learn the site first.
    own_parts = third.stat("unique_text")
    assert own_parts >= 0.9 * len(board.entities)
    assert own_parts > sum(done.stat("unique_text") for done in both)
