"""What a crawl counts of the sites that it learns from."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import names
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import serve

PAGES = 24


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    """Crawls of a job board: all pages, the first three, all without learning, and all once more."""
    folder: Path = tmp_path_factory.mktemp("stores")
    board = make_site(PLANS[3], 0)
    kept = {**IN_ORDER, "SIMHASH_DIR": str(folder)}
    with serve({f"/{number}": page.html for number, page in enumerate(board.pages[:PAGES])}) as site:
        urls = [site.url(f"/{number}") for number in range(PAGES)]
        plans = {
            "all": Plan("Visitor", kept, {"urls": urls}),
            "three": Plan("Visitor", IN_ORDER, {"urls": urls[:3]}),
            "off": Plan("Visitor", {**IN_ORDER, "SIMHASH_SITE_LEARNING": False}, {"urls": urls}),
            "again": Plan("Visitor", kept, {"urls": urls[:2]}),
        }
        return dict(zip(plans, crawl(*plans.values()), strict=True))


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    assert {name: done.complaints for name, done in crawls.items()} == {name: [] for name in crawls}


def test_hosts_that_are_known_at_the_end_are_counted(crawls: dict[str, Crawl]) -> None:
    known = {name: done.stats.get(names.STAT_HOSTS_KNOWN) for name, done in crawls.items()}
    assert known == {"all": 1, "three": None, "off": None, "again": 1}


def test_pages_that_were_compared_by_their_own_part_are_counted(crawls: dict[str, Crawl]) -> None:
    compared = {name: done.stats.get(names.STAT_OWN_PARTS) for name, done in crawls.items()}
    assert compared["all"] is not None
    # The first pages of a site teach what it repeats.
    assert 5 < compared["all"] < PAGES
    assert compared["all"] <= crawls["all"].stats.get(names.STAT_PROCESSED)
    assert (compared["three"], compared["off"], compared["again"]) == (None, None, 2)


def test_pages_whose_status_is_another_one_because_of_learning_are_marked_and_counted(
    crawls: dict[str, Crawl],
) -> None:
    done, off = crawls["all"], crawls["off"]
    changed = {page.path for page in done.pages if page.marks.get("by_learning")}
    statuses = Counter(done.verdicts[path] for path in changed)
    counted = {
        status: done.stats.get(stat, 0)
        for status, stat in (
            ("new", names.STAT_SITE_NEW),
            ("near_duplicate", names.STAT_SITE_NEAR_DUPLICATES),
        )
    }
    assert {**Counter(new=0, near_duplicate=0), **statuses} == counted
    differing = {path for path in done.verdicts if done.verdicts[path] != off.verdicts[path]}
    # Without learning there are fewer pages that a later one can repeat.
    assert set() < differing <= changed
    assert counted["new"] > 0
    assert not any(page.marks.get("by_learning") for page in off.pages)
