"""Marks in items: a default of the field is no value of the user's, and CSV feeds keep them."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_one
from tests.crawls.site import Site, article, serve

FIELD = {**IN_ORDER, "SIMHASH_ITEM_FIELD": "near_duplicate"}
PATHS = ("/first", "/copy", "/other", "/copy-2")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {"/first": article(0), "/copy": article(0), "/copy-2": article(0), "/other": article(1)}
    with serve(routes) as site:
        yield site


def visit(site: Site, spider: str, settings: dict[str, Any], **arguments: Any) -> Crawl:
    done = crawl_one(spider, {**IN_ORDER, **settings}, urls=site.urls(*PATHS), **arguments)
    assert done.complaints == []
    assert len(done.items) >= len(PATHS)
    return done


def test_a_field_with_a_default_of_its_type_is_marked(site: Site) -> None:
    done = visit(site, "Defaulting", FIELD)
    assert done.item("/first")["near_duplicate"] == {}
    assert done.item("/copy")["near_duplicate"]["duplicate_of"] == site.url("/first")
    assert done.log("WARNING", "scrapy_simhash") == []


# --- CSV feeds.


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["path"]: row for row in csv.DictReader(file)}


KINDS = ("dict", "Item", "dataclass", "attrs")
WAYS: dict[str, dict[str, Any]] = {
    "page": {"SIMHASH_ITEM_FIELD": "repeats"},
    "item": {"SIMHASH_ITEM_FIELDS": ["title", "body"], "SIMHASH_ITEM_MARK": "repeats"},
}


@pytest.fixture(scope="module")
def feeds(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[Crawl, Path]]:
    """Crawls by kind of item and way to mark it, each with its CSV feed, whose first item has no mark."""
    folder = tmp_path_factory.mktemp("feeds")
    cases = [(kind, way) for kind in KINDS for way in WAYS]
    files = [folder / f"{kind}-{way}.csv" for kind, way in cases]
    plans = [
        Plan(
            "items_spiders.Shop",
            {**IN_ORDER, **WAYS[way], "FEEDS": {str(file): {"format": "csv"}}},
            {"urls": site.urls(*PATHS), "kind": kind},
        )
        for (kind, way), file in zip(cases, files, strict=True)
    ]
    return dict(zip(cases, zip(crawl(*plans), files, strict=True), strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_csv_feed_whose_first_item_has_no_mark_keeps_those_of_the_others(
    feeds: dict[tuple[str, str], tuple[Crawl, Path]], kind: str, way: str
) -> None:
    done, feed = feeds[kind, way]
    rows = rows_of(feed)
    assert [rows[path]["repeats"] for path in ("/first", "/other")] == ["", ""]
    for path in ("/copy", "/copy-2"):
        assert ast.literal_eval(rows[path]["repeats"]) == done.item(path)["repeats"]
        assert done.item(path)["repeats"]["status"] == "near_duplicate"
    assert done.complaints == []
    assert done.log("WARNING") == []


def test_a_csv_feed_that_begins_with_an_item_of_start_has_the_column_too(site: Site, tmp_path: Path) -> None:
    feed = tmp_path / "items.csv"
    visit(site, "Beginner", {**FIELD, "FEEDS": {str(feed): {"format": "csv"}}})
    rows = rows_of(feed)
    assert rows["/start"]["near_duplicate"] == ""
    assert site.url("/first") in rows["/copy"]["near_duplicate"]
