"""The store of a crawl, and its effect on later crawls."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Plan, crawl, crawl_one
from tests.crawls.site import Routes, Site, article, serve
from tests.crawls.stores import age

PATHS = ("/same", "/small", "/changed", "/copycat")


def again(first: str, second: str) -> Any:
    return lambda visit: second if visit else first


@pytest.fixture
def site() -> Iterator[Site]:
    """Pages that change in different ways between two visits."""
    small = article(1)
    routes: Routes = {
        "/same": lambda visit: article(0, before=f"<nav>Visit {visit}</nav>"),
        "/small": again(small, small.replace("</p>", " And the tide was late that night.</p>", 1)),
        "/changed": again(article(2), article(3)),
        "/copycat": again(article(4), article(0)),
        "/copy": article(2),
        "/late": article(3),
    }
    with serve(routes) as site:
        yield site


def test_a_crawl_knows_the_pages_of_an_earlier_crawl(site: Site, tmp_path: Path) -> None:
    settings = {**IN_ORDER, "SIMHASH_STORE": str(tmp_path)}
    first, second = crawl(
        Plan("Visitor", settings, {"urls": site.urls(*PATHS)}),
        Plan("Visitor", settings, {"urls": site.urls(*PATHS, "/copy", "/late")}),
    )
    assert first.complaints == second.complaints == []
    assert second.verdicts == {
        "/same": "revisit/unchanged",
        "/small": "revisit/small_change",
        "/changed": "revisit/changed",
        "/copycat": "revisit/now_near_duplicate",
        "/copy": "new",
        "/late": "near_duplicate",
    }
    assert second.page("/copycat").marks["duplicate_of"] == site.url("/same")
    # The former text of /changed is not known any more.
    assert second.page("/late").marks["duplicate_of"] == site.url("/changed")
    assert second.simhash_stats == {
        "processed": 6,
        "new": 1,
        "near_duplicates": 1,
        "near_duplicates/exact": 1,
        "revisits": 4,
        "revisits/near_duplicates": 1,
        "revisits/unchanged": 1,
        "revisits/small_change": 1,
        "revisits/changed": 1,
        "revisits/now_near_duplicate": 1,
    }
    assert second.stat("index_size") == 4
    (file,) = tmp_path.glob("*.sqlite")
    assert file.name == "visitor.sqlite"
    assert f"store: {file} (4 pages known)" in "\n".join(second.log("INFO", "scrapy_simhash"))
    marks = second.page("/same").marks
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", marks["last_seen"])
    assert (marks["distance"], marks["delivered"]) == (0, True)
    assert second.page("/changed").marks["distance"] > 3


def test_a_page_that_no_crawl_has_seen_for_long_is_new_again(site: Site, tmp_path: Path) -> None:
    settings = {**IN_ORDER, "SIMHASH_STORE": f"{tmp_path}?keep=30d"}
    first = crawl_one("Visitor", settings, urls=site.urls("/same", "/copy"))
    assert first.stat("new") == 2
    age(tmp_path, 31 * 86_400, url="%/same")
    second = crawl_one("Visitor", settings, urls=site.urls("/same", "/copy"))
    assert second.verdicts == {"/same": "new", "/copy": "revisit/unchanged"}


def test_a_dropped_copy_is_delivered_under_another_action(site: Site, tmp_path: Path) -> None:
    settings = {**IN_ORDER, "SIMHASH_STORE": str(tmp_path), "SIMHASH_REVISIT_ACTION": "drop_items"}
    arguments = {"urls": site.urls("/same", "/late", "/same%20again")}
    site.routes["/same%20again"] = article(0)
    first, second, third = crawl(
        Plan("Visitor", {**settings, **UNPROTECTED, "SIMHASH_ACTION": "drop_page"}, arguments),
        *[Plan("Visitor", settings, arguments)] * 2,
    )
    assert first.paths_scraped == ["/late", "/same"]
    assert second.paths_scraped == ["/same%20again"]
    assert third.paths_scraped == []


OWN = "tests.crawls.stores."


def test_a_custom_store_is_created_from_the_crawler_and_closed_at_the_end(site: Site) -> None:
    done = crawl_one("Visitor", {"SIMHASH_STORE": OWN + "Named"}, urls=site.urls("/same"))
    assert done.verdicts == {"/same": "new"}
    assert "the store of visitor was closed: finished" in done.log("WARNING", "scrapy_simhash")[0]


@pytest.mark.parametrize("store", ["Moody", "Remote"])
def test_pages_pass_while_a_store_does_not_answer(site: Site, store: str) -> None:
    urls = site.urls(*[f"/same?{number}" for number in range(10)])
    site.routes |= {f"/same?{number}": article(0) for number in range(10)}
    done = crawl_one("Visitor", {**IN_ORDER, "SIMHASH_STORE": OWN + store}, urls=urls)
    assert done.complaints == []
    assert len(done.items) == 10
    first_five = ["new", "near_duplicate", "near_duplicate", "unknown/store", "unknown/store"]
    assert [page.verdict for page in done.pages] == first_five + ["near_duplicate"] * 3 + [
        "unknown/store"
    ] * 2
    assert done.stat("errors/store") == 4
    assert done.stat("errors/compare") == 0
    warnings = done.log("WARNING", "scrapy_simhash")
    assert len(warnings) == 2, "one per outage"
    assert all("not now" in warning for warning in warnings)
    assert any("answers again; 2 pages" in line for line in done.log("INFO", "scrapy_simhash"))


def test_a_damaged_record_affects_one_page(tmp_path: Path) -> None:
    drops = {"SIMHASH_ACTION": "drop_page", "SIMHASH_REVISIT_ACTION": "drop_page"}
    routes = {"/a": article(0), "/b": article(1), "/c": article(2), "/copy": article(1)}
    with serve(routes) as site:
        settings = {**IN_ORDER, **drops, "SIMHASH_STORE": str(tmp_path)}
        plan = Plan("Visitor", settings, {"urls": site.urls(*routes)})
        (first,) = crawl(plan)
        assert first.verdicts["/copy"] == "near_duplicate"
        with closing(sqlite3.connect(tmp_path / "visitor.sqlite")) as connection, connection:
            connection.execute("UPDATE pages SET last_seen = 'late' WHERE url LIKE '%/a'")
        (second,) = crawl(plan)
    # Unchanged pages were dropped; the damaged one may have changed, so it is kept.
    assert second.stat("dropped/items") == second.stat("revisits/unchanged") == 3
    assert second.page("/a").marks["status"] == "unknown"
    assert (second.stat("errors/store"), second.stat("errors/record")) == (1, 1)
    assert second.complaints == []
    (warned,) = second.log("WARNING", "scrapy_simhash")
    assert "damaged" in warned
