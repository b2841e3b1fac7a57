"""Visible results: flag, item field, CSV feed, signal and log."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_each
from tests.crawls.site import Answer, Routes, Site, article

FIELD = {**IN_ORDER, "SIMHASH_RESULT_FIELD": "near_duplicate"}
PATHS = ("/first", "/copy", "/other", "/copy-2")


PAGES: Routes = {
    "/first": article(0),
    "/copy": article(0, title="Another title", after="<p>Buy boats!</p>"),
    "/copy-2": article(0),
    "/other": article(1),
    "/file": Answer(b"%PDF-1.4", content_type="application/pdf"),
}


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    urls = site.urls("/first", "/copy", "/other", "/copy-2", "/file", "/copy")
    plans = {
        "plain": Plan("Visitor", IN_ORDER, {"urls": urls}),
        "field": Plan("Collector", FIELD, {"urls": urls[:3]}),
        "deaf": Plan("Listener", IN_ORDER, {"urls": urls[:2]}),
    }
    return crawl_each(plans)


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    complaints = {name: done.complaints for name, done in crawls.items() if name != "deaf"}
    assert complaints == {name: [] for name in complaints}


def test_a_signal_handler_that_fails_loses_no_page(crawls: dict[str, Crawl]) -> None:
    assert crawls["deaf"].paths_scraped == ["/copy", "/first"]
    assert "cannot hear" in "".join(crawls["deaf"].complaints)


def test_the_log_shows_only_the_first_duplicate_and_explains_how_to_see_all(crawls: dict[str, Crawl]) -> None:
    (line,) = crawls["plain"].log("DEBUG", "scrapy_simhash")
    assert "/copy is a near-duplicate of " in line
    assert "SIMHASH_DEBUG" in line


def test_every_item_with_the_field_gets_the_result_and_others_pass_unchanged(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["field"]
    assert len(done.items) == 3 * 8
    # A dict, an Item, a dataclass and an attrs class with the field; the other four cannot store it.
    marked = [item for item in done.items if item.get("near_duplicate")]
    assert len(marked) == done.stat("items/unmarked") == 4
    for item in marked:
        assert item["path"] == "/copy"
        mark = item["near_duplicate"]
        assert {name: value for name, value in mark.items() if value not in (None, [])} == done.page(
            "/copy"
        ).marks
        assert (mark["status"], mark["duplicate_of"]) == ("near_duplicate", site.url("/first"))


# --- CSV feeds.


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["path"]: row for row in csv.DictReader(file)}


KINDS = ("dict", "Item", "dataclass", "attrs")


@pytest.fixture(scope="module")
def feeds(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Crawl, Path]]:
    """Crawls by kind of item, each with a CSV feed whose first item has no result."""
    folder = tmp_path_factory.mktemp("feeds")
    files = [folder / f"{kind}.csv" for kind in KINDS]
    plans = [
        Plan(
            "items_spiders.Shop",
            {**IN_ORDER, "SIMHASH_RESULT_FIELD": "repeats", "FEEDS": {str(file): {"format": "csv"}}},
            {"urls": site.urls(*PATHS), "kind": kind},
        )
        for kind, file in zip(KINDS, files, strict=True)
    ]
    return dict(zip(KINDS, zip(crawl(*plans), files, strict=True), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_a_csv_feed_whose_first_item_has_no_result_keeps_those_of_the_others(
    feeds: dict[str, tuple[Crawl, Path]], kind: str
) -> None:
    done, feed = feeds[kind]
    rows = rows_of(feed)
    assert [rows[path]["repeats"] for path in ("/first", "/other")] == ["", ""]
    for path in ("/copy", "/copy-2"):
        assert ast.literal_eval(rows[path]["repeats"]) == done.item(path)["repeats"]
        assert done.item(path)["repeats"]["status"] == "near_duplicate"
    assert done.complaints == []
    assert done.log("WARNING") == []
