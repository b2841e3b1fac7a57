"""Second crawls of the annex: what is dropped of pages that are as they were, and of those that repeat others too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.config import PROTECTIONS
from tests.annex.server import serving
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import Crawl, Plan, crawl
from tests.crawls.promises import (
    NEAREST_FIRST,
    Promise,
    both,
    copies,
    is_listing,
    loses_links,
    made,
    promise,
    reached,
    scraped,
    seen,
    with_items,
    with_links,
)

AGAIN: dict[str, dict[str, Any]] = {
    "drop_items": {"SIMHASH_REVISIT_ACTION": "drop_items"},
    "drop_links": {"SIMHASH_REVISIT_ACTION": "drop_links"},
    "drop_page": {"SIMHASH_REVISIT_ACTION": "drop_page"},
    "drop_page, starts only": {"SIMHASH_REVISIT_ACTION": "drop_page", "SIMHASH_PROTECT": "start"},
    "drop_page, nothing protected": {"SIMHASH_REVISIT_ACTION": "drop_page", "SIMHASH_PROTECT": []},
    "not below the tales": {
        "SIMHASH_REVISIT_ACTION": "drop_items",
        "SIMHASH_ACTION_DENY": ["/annex/tales/"],
    },
    "budget": {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_CLUSTER_BUDGET": 3},
    "both": {"SIMHASH_REVISIT_ACTION": "drop_links", "SIMHASH_ACTION": "drop_items"},
    "both pages": {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_ACTION": "drop_page"},
    "asked": {"SIMHASH_REVISIT_ACTION": "drop_items", "SIMHASH_ACTION_DENY": ["/annex/tales/"]},
    "own": {"SIMHASH_REVISIT_ACTION": "tests.crawls.policies_spiders.KeepSome", "TO_KEEP": "/walk/"},
}
#: What requests of the crawl of this name ask for: of a list, of pages where nothing may be done, of others less.
ASKED = {
    "/annex/posters": {"simhash_revisit_action": "drop_page"},
    "/annex/tales/borrowed": {"simhash_revisit_action": "drop_links"},
    "/annex/walk/": {"simhash_revisit_action": "mark"},
}


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


#: What others say too, of two settings at once.
RARE = {"drop_links", "not below the tales", "budget", "both pages"}
many_crawls = pytest.mark.slow("it crawls the whole annex four times more")
NAMES = [pytest.param(name, marks=many_crawls if name in RARE else []) for name in AGAIN]


class Crawls(dict[str, Crawl]):
    """The crawls by name, of a server with all its pages kept. The first asked for is made with all as rare."""

    def __init__(self, folder: str, url: str, truth: AnnexTruth) -> None:
        self._folder = folder
        self._start = " ".join(url + start for start in truth.starts)
        self.update(zip(["first"], crawl(self._plan("first", {})), strict=True))

    def __missing__(self, name: str) -> Crawl:
        # None of these crawls makes of a page what would unsettle it for the next one.
        names = [other for other in AGAIN if (other in RARE) == (name in RARE)]
        done = crawl(*(self._plan(other, AGAIN[other]) for other in names))
        self.update(zip(names, done, strict=True))
        return self[name]

    def _plan(self, name: str, settings: dict[str, Any]) -> Plan:
        return Plan(
            "policies_spiders.Part",
            {**NEAREST_FIRST, "SIMHASH_DIR": self._folder, **settings},
            {"start": self._start, "metas": ASKED if name == "asked" else {}},
        )


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory, truth: AnnexTruth) -> Iterator[dict[str, Crawl]]:
    with serving() as server:
        yield Crawls(str(tmp_path_factory.mktemp("kept")), server.url, truth)


def of_unchanged(truth: AnnexTruth, key: str, name: str, is_exact: bool) -> Promise:
    """Return what is to be done about a page since it is as it was."""
    settings = AGAIN[name]
    for beginning, meta in ASKED.items():
        if name == "asked" and key.startswith(beginning):
            return Promise(meta["simhash_revisit_action"])
    protect = settings.get("SIMHASH_PROTECT", PROTECTIONS)
    asked: str = settings["SIMHASH_REVISIT_ACTION"]
    if name == "own":
        asked = "drop_page" if is_exact else "drop_items,drop_links"
        if settings["TO_KEEP"] in key:
            return Promise("mark")
    if "SIMHASH_ACTION_DENY" in settings and "/annex/tales/" in key:
        return Promise("mark", "url")
    if loses_links(asked):
        if key in truth.starts and "start" in protect:
            return Promise(with_links(asked), "start")
        if is_listing(truth, key) and "listing" in protect:
            return Promise(with_links(asked), "listing")
    return Promise(asked)


def expected(truth: AnnexTruth, done: Crawl, name: str) -> dict[str, Promise]:
    """Return what is to be done about each page; what either action drops is dropped."""
    promises = {}
    repeated = copies(truth, done)
    action = AGAIN[name].get("SIMHASH_ACTION", "mark")
    for key, page in seen(truth, done).items():
        if "settled" not in page.marks:
            continue  # too short to be compared
        again = of_unchanged(truth, key, name, page.marks.get("exact", False))
        if key not in repeated or action == "mark":
            promises[key] = again
            continue
        copy = promise(truth, key, repeated[key], action, truth.starts)
        promises[key] = Promise(both(copy.done, again.done), copy.exemption or again.exemption)
    return promises


@pytest.mark.parametrize("name", NAMES)
def test_of_every_page_that_is_as_it_was_is_dropped_what_was_asked_for(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    assert done.complaints == []
    pages = seen(truth, done)
    promises = expected(truth, done, name)
    assert {key: made(pages[key]) for key in promises} == promises
    assert {pages[key].verdict for key in promises} == {"revisit/unchanged"}
    assert {pages[key].verdict for key in set(pages).difference(promises)} <= {"skipped/short_text"}


@pytest.mark.parametrize("name", NAMES)
def test_start_pages_and_lists_lead_on_whatever_is_dropped(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    promises = expected(truth, done, name)
    assert set(seen(truth, done)) == reached(truth, truth.starts, promises)
    assert scraped(truth, done) == with_items(seen(truth, done), promises)


def test_a_crawl_without_protection_ends_where_it_began(crawls: dict[str, Crawl], truth: AnnexTruth) -> None:
    assert set(seen(truth, crawls["drop_page, nothing protected"])) == set(truth.starts)
    assert crawls["drop_page, nothing protected"].items == []
    assert len(crawls["drop_page"].pages) > len(crawls["drop_page, starts only"].pages) > len(truth.starts)


def test_what_one_crawl_dropped_as_a_copy_is_delivered_by_the_next(tmp_path: Path, truth: AnnexTruth) -> None:
    kept = {**NEAREST_FIRST, "SIMHASH_DIR": str(tmp_path), "SIMHASH_REVISIT_ACTION": "drop_items"}
    with serving() as server:
        arguments = {"start": " ".join(server.url + start for start in truth.starts)}
        first, second, third = crawl(
            Plan("annex_spiders.Annex", {**kept, "SIMHASH_ACTION": "drop_items"}, arguments),
            *[Plan("annex_spiders.Annex", kept, arguments)] * 2,
        )
    everything = sorted(truth.reachable(*truth.starts))
    dropped = set(everything).difference(scraped(truth, first))
    short = {key for key, page in seen(truth, first).items() if page.verdict.startswith("skipped")}
    assert len(dropped) > 50
    # Each page has had its items once by now, and those that say next to nothing each time.
    assert scraped(truth, second) == sorted(dropped | short)
    assert scraped(truth, third) == sorted(short)
