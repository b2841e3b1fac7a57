"""Crawls of pages that are slow to read, with measurements of the event loop."""

from __future__ import annotations

from typing import Any
from wsgiref.headers import Headers

import pytest

from scrapy_simhash import names
from tests.attacks import ATTACKS, PROSE
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import Answer, serve

#: Attacks in the body, including those that were slow, and a factor for the units of each.
BODIES = {
    "comments": 10,
    "comments in text": 10,
    "processing instructions": 10,
    "nested button": 8,
    "nested list": 4,
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
#: Max processor seconds of the event loop per page, including Scrapy's parsing of some megabytes. Some of
#: these pages took minutes.
MOST = 1.5


@pytest.fixture(scope="module")
def attacked() -> Crawl:
    routes: dict[str, str | Answer] = {}
    for number, (name, times) in enumerate(BODIES.items()):
        body = ATTACKS[name].make(ATTACKS[name].units * times).body
        for path in (f"/{number}", f"/{number}/copy"):
            routes[path] = body
    # A mapping with many values for one name.
    headers: Any = Headers([("Content-Language", f"x-{number}") for number in range(20_000)])
    for path in ("/headers", "/headers/copy"):
        routes[path] = Answer(f"<p>{PROSE * 5}</p>", headers=headers)
    with serve(routes) as site:
        settings = {**IN_ORDER, "SIMHASH_ACTION": "drop_page"}
        (done,) = crawl(Plan("Heart", settings, {"urls": site.urls(*routes)}))
    return done


def test_the_event_loop_is_never_blocked_for_long(attacked: Crawl) -> None:
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
