"""Crawls of pages that take long to read, with a heartbeat beside them, and of a host that repeats another one."""

from __future__ import annotations

import random
import re
from typing import Any
from wsgiref.headers import Headers

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import names
from tests.attacks import ATTACKS, PROSE
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import SYLLABLES, Answer, serve

#: Attacks through the body, those that were slow among them, and how many times the units of each.
BODIES = {
    "comments": 10,
    "comments in text": 10,
    "processing instructions": 10,
    "nested button": 8,
    "nested list": 4,
    "breaks": 10,
    "links": 8,
    "paragraphs": 4,
    "headings": 4,
    "title and headings": 4,
    "bases": 8,
    "canonicals": 8,
    "long alternates": 8,
    "JSON-LD things": 4,
    "things": 8,
}
#: Processor seconds that the event loop may work on one page, Scrapy's parse of some megabytes included. Some of
#: these pages took minutes.
MOST = 1.5


@pytest.fixture(scope="module")
def attacked() -> Crawl:
    routes: dict[str, str | Answer] = {}
    for number, (name, times) in enumerate(BODIES.items()):
        body = ATTACKS[name].make(ATTACKS[name].units * times).body
        for path in (f"/{number}", f"/{number}/copy"):
            routes[path] = body
    # A mapping that has one name many times.
    headers: Any = Headers([("Link", f"</c/{number}>; rel=canonical") for number in range(20_000)])
    for path in ("/headers", "/headers/copy"):
        routes[path] = Answer(f"<p>{PROSE * 5}</p>", headers=headers)
    with serve(routes) as site:
        settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_page"}
        (done,) = crawl(Plan("Heart", settings, {"urls": site.urls(*routes)}))
    return done


def test_the_event_loop_is_never_held_up_for_long(attacked: Crawl) -> None:
    longest, beats = attacked.notes
    assert attacked.complaints == []
    assert longest < MOST
    assert beats > len(BODIES)


def test_every_page_is_judged(attacked: Crawl) -> None:
    expected = len(attacked.pages)
    assert (
        attacked.stat("processed")
        + sum(attacked.stats[name] for name in attacked.stats if name.startswith(f"{names.STAT_SKIPPED}/"))
        >= expected
    )
    assert attacked.stat("errors/compare") == attacked.stat("errors/action") == 0


# --- A job board, and another host that repeats its sentences on 200 pages.

PAGES = 40
#: Pages of the other host before each one of the board.
HOSTILE = 5


@pytest.fixture(scope="module")
def boards() -> tuple[Crawl, Crawl]:
    """A crawl of the board alone, and one in which pages of the other host come between."""
    board = make_site(PLANS[0], 0).pages[:PAGES]
    stolen = "".join(line for page in board for line in re.findall(r"<p>[^<]{40,}</p>", page.html))
    routes = {f"/job/{number}": page.html for number, page in enumerate(board)}
    draw = random.Random(5)
    for number in range(PAGES * HOSTILE):
        title = " ".join("".join(draw.choices(SYLLABLES, k=3)) for _ in range(3))
        routes[f"/copy/{number}"] = f"<title>{title}</title><main><h1>{title}</h1>{stolen}</main>"
    with serve(routes) as site:
        jobs = [site.url(f"/job/{number}") for number in range(PAGES)]
        other = site.url("/copy/").replace("127.0.0.1", "localhost")
        mixed = []
        for number, url in enumerate(jobs):
            mixed += [f"{other}{number * HOSTILE + copy}" for copy in range(HOSTILE)]
            mixed.append(url)
        alone, attacked = crawl(
            *(
                Plan("Visitor", {**IN_ORDER, "SIMHASH_ACTION": "drop_items"}, {"urls": urls})
                for urls in (jobs, mixed)
            )
        )
    return alone, attacked


def said(done: Crawl) -> dict[str, dict[str, Any]]:
    """Return the marks of each page of the board but the cluster, whose number counts the pages of all hosts."""
    return {
        page.path: {name: mark for name, mark in page.marks.items() if name != "cluster"}
        for page in done.pages
        if page.path.startswith("/job/")
    }


def test_each_page_of_the_other_host_has_the_marks_and_the_items_that_it_has_alone(
    boards: tuple[Crawl, Crawl],
) -> None:
    alone, attacked = boards
    assert [done.complaints for done in boards] == [[], []]
    assert said(attacked) == said(alone)
    assert len(said(alone)) == PAGES
    assert [path for path in attacked.paths_scraped if path.startswith("/job/")] == alone.paths_scraped


def test_of_both_hosts_something_was_learned(boards: tuple[Crawl, Crawl]) -> None:
    alone, attacked = boards
    assert attacked.stats[names.STAT_UNIQUE_TEXT] > alone.stats[names.STAT_UNIQUE_TEXT] > 0
