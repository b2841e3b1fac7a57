"""Drops are reported: in the last line of the log, the stats, and by Scrapy's signal for dropped items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_one
from tests.crawls.site import Routes, Site, article, links

PROTECTED = "['listing', 'pagination', 'language', 'facts']"


PAGES: Routes = {
    "/": article(3, before=links("/first", "/copy", "/copy-2")),
    "/first": article(0),
    "/copy": article(0, before=links("/of-copy", "/of-copies")),
    "/copy-2": article(0, before=links("/of-copy-2")),
    "/of-copy": article(1),
    "/of-copies": article(2),
    "/of-copy-2": article(4),
}


def plan(site: Site, action: str, spider: str = "Follower", **settings: Any) -> Plan:
    """Return a crawl from /, which links to /first and two copies of it; /copy has two links, /copy-2 one."""
    return Plan(spider, {**IN_ORDER, "SIMHASH_ACTION": action, **settings}, {"urls": site.urls("/")})


def closing(done: Crawl) -> str:
    (line,) = [line for line in done.log("INFO", "scrapy_simhash") if "Near-duplicates: " in line]
    return line.partition("Near-duplicates: ")[2]


FOUND = "7 pages compared, 5 new, 2 near-duplicates, 0 revisits; 0 skipped, 0 errors"


def test_drops_of_unchanged_pages_are_counted_separately(site: Site, tmp_path: Path) -> None:
    settings = {"SIMHASH_STORE": str(tmp_path), "SIMHASH_REVISIT_ACTION": "drop_items"}
    first, second = crawl(plan(site, "drop_items", **settings), plan(site, "drop_items", **settings))
    assert "dropped as near-duplicates: 2 items" in closing(first)
    assert closing(second) == (
        "7 pages compared, 0 new, 0 near-duplicates, 7 revisits (2 near-duplicates among them); 0 skipped, 0 errors;"
        " dropped as near-duplicates: 2 items; dropped as unchanged: 5 items"
    )
    assert (second.stat("dropped/items"), second.stat("dropped/items/unchanged")) == (7, 5)
    assert second.stats["item_dropped_count"] == 7
    assert second.stats["item_dropped_reasons_count/NearDuplicatePageItem"] == 2
    assert second.stats["item_dropped_reasons_count/UnchangedPageItem"] == 5
    message = f"Dropped: its page {site.url('/first')} is unchanged since an earlier crawl"
    assert any(message in line for line in second.log("DEBUG", "scrapy_simhash"))


def test_a_log_formatter_that_fails_loses_no_link(site: Site) -> None:
    (done,) = crawl(plan(site, "drop_items", LOG_FORMATTER="tests.crawls.spiders.FailingLogFormatter"))
    assert closing(done) == f"{FOUND}; dropped as near-duplicates: 2 items"
    assert done.stats["item_dropped_count"] == 2
    errors = [line for line in done.log("ERROR", "scrapy_simhash") if "LOG_FORMATTER raised" in line]
    assert len(errors) == 2


def test_the_item_dropped_signal_has_the_item_and_the_reason(site: Site) -> None:
    (done,) = crawl(plan(site, "drop_items", "DropListener"))
    assert done.complaints == []
    first, second = done.notes
    assert first == {
        "item": {"path": "/copy"},
        "page": "/copy",
        "reason": "NearDuplicatePageItem",
        "attributes": {"url": site.url("/copy"), "duplicate_of": site.url("/first"), "distance": 0},
        "spider": "drop-listener",
    }
    assert second["item"] == {"path": "/copy-2"}


# --- Spiders whose URLs all come from start().


def test_a_spider_with_all_urls_from_start_is_warned_once_that_they_are_protected(site: Site) -> None:
    urls = site.urls("/first", "/copy", "/copy-2")
    done = crawl_one("Visitor", {**IN_ORDER, "SIMHASH_ACTION": "drop_links"}, urls=urls)
    assert done.complaints == []
    (line,) = [line for line in done.log(None, "scrapy_simhash") if "Start pages are protected" in line]
    assert line.startswith("INFO")
    assert (
        f"Start pages are protected (SIMHASH_PROTECT): {site.url('/copy')} is a near-duplicate of"
        f" {site.url('/first')}, but its callback runs and its links are followed. To treat start"
        f" pages like other pages, set SIMHASH_PROTECT = {PROTECTED}. Further pages are counted in the stat"
        f" simhash/protected/start"
    ) in line
    assert done.stat("protected/start") == 2
    assert closing(done).endswith("; protected: 2 start")
