"""The result of a page in a field of its items, and in a CSV feed of these items."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, crawl_one
from tests.crawls.site import Routes, Site, article

PAGES: Routes = {
    "/first": article(0),
    "/copy": article(0, title="Another title", after="<p>Buy boats!</p>"),
    "/other": article(1),
    "/copy-2": article(0),
}


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("feed") / "items.csv"


@pytest.fixture(scope="module")
def done(site: Site, feed: Path) -> Crawl:
    field = {"SIMHASH_RESULT_FIELD": "near_duplicate", "FEEDS": {str(feed): {"format": "csv"}}}
    done = crawl_one("Visitor", {**IN_ORDER, **field}, urls=site.urls(*PAGES))
    assert done.complaints == []
    return done


def test_the_log_shows_only_the_first_duplicate_and_explains_how_to_see_all(done: Crawl) -> None:
    (line,) = done.log("DEBUG", "scrapy_simhash")
    assert "/copy is a near-duplicate of " in line
    assert "SIMHASH_DEBUG" in line


def test_the_items_of_copies_have_the_result_of_their_page(done: Crawl, site: Site) -> None:
    assert len(done.items) == len(PAGES)
    for item in done.items:
        mark = item["near_duplicate"]
        assert (mark and mark["duplicate_of"]) == (site.url("/first") if "copy" in item["path"] else None)
        if mark:
            marks = {name: value for name, value in mark.items() if value not in (None, [])}
            assert marks == done.page(item["path"]).marks


def test_a_csv_feed_whose_first_item_has_no_result_keeps_those_of_the_others(done: Crawl, feed: Path) -> None:
    with feed.open(newline="", encoding="utf-8") as file:
        rows = [row["near_duplicate"] for row in csv.DictReader(file) if row["near_duplicate"]]
    marks = [item["near_duplicate"] for item in done.items if item.get("near_duplicate")]
    assert [ast.literal_eval(row) for row in rows] == marks
