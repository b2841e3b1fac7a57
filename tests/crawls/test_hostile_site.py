"""A crawl of a job board, and of another host that repeats its sentences on 200 pages."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import names
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import SYLLABLES, serve

PAGES = 40
#: Pages of the other host before each one of the board.
HOSTILE = 5


@pytest.fixture(scope="module")
def crawls() -> tuple[Crawl, Crawl]:
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
    crawls: tuple[Crawl, Crawl],
) -> None:
    alone, attacked = crawls
    assert [done.complaints for done in crawls] == [[], []]
    assert said(attacked) == said(alone)
    assert len(said(alone)) == PAGES
    assert [path for path in attacked.paths_scraped if path.startswith("/job/")] == alone.paths_scraped


def test_of_both_hosts_something_was_learned(crawls: tuple[Crawl, Crawl]) -> None:
    alone, attacked = crawls
    assert (alone.stats[names.STAT_HOSTS_KNOWN], attacked.stats[names.STAT_HOSTS_KNOWN]) == (1, 2)
    assert attacked.stats[names.STAT_OWN_PARTS] > alone.stats[names.STAT_OWN_PARTS] > 0
