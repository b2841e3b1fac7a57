"""What users see of a near-duplicate: meta, flag, item field, signal, stats and log."""

from collections.abc import Iterator

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import Answer, Routes, Site, article, serve


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes: Routes = {
        "/first": article(0),
        "/copy": article(0, title="Another title", after="<p>Buy boats!</p>"),
        "/copy-2": article(0),
        "/other": article(1),
        "/file": Answer(b"%PDF-1.4", content_type="application/pdf"),
    }
    with serve(routes) as site:
        yield site


@pytest.fixture(scope="module")
def crawls(site: Site) -> dict[str, Crawl]:
    urls = site.urls("/first", "/copy", "/other", "/copy-2", "/file", "/first", "/copy")
    field = {"SIMHASH_ITEM_FIELD": "near_duplicate"}
    plans = {
        "plain": Plan("Visitor", IN_ORDER, {"urls": urls}),
        "field": Plan("Collector", {**IN_ORDER, **field}, {"urls": urls[:3]}),
        "deaf": Plan("Listener", IN_ORDER, {"urls": urls[:2]}),
    }
    return dict(zip(plans, crawl(*plans.values()), strict=True))


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    complaints = {name: done.complaints for name, done in crawls.items() if name != "deaf"}
    assert complaints == {name: [] for name in complaints}


def test_the_crawled_line_shows_the_flag(crawls: dict[str, Crawl]) -> None:
    lines = [line for line in crawls["plain"].log("DEBUG", "scrapy.core.engine") if "/copy>" in line]
    assert lines
    assert all("['near-duplicate']" in line for line in lines)


def test_a_page_visited_again_is_a_revisit_and_never_its_own_duplicate(crawls: dict[str, Crawl]) -> None:
    plain = crawls["plain"]
    assert plain.page("/first", 1).verdict == "revisit/unchanged"
    assert "duplicate_of" not in plain.page("/first", 1).marks
    # A revisit of a copy is still a copy.
    assert plain.page("/copy", 1).verdict == "revisit/unchanged"
    assert plain.page("/copy", 1).marks["duplicate_of"] == plain.page("/copy").marks["duplicate_of"]


def test_the_signal_is_sent_for_each_page_that_repeats_another(crawls: dict[str, Crawl], site: Site) -> None:
    expected = [
        {"url": url, "request": url, "original": site.url("/first"), "spider": "visitor"}
        for url in site.urls("/copy", "/copy-2", "/copy")
    ]
    assert crawls["plain"].found == expected


def test_a_signal_handler_that_fails_costs_no_page(crawls: dict[str, Crawl]) -> None:
    assert crawls["deaf"].paths_scraped == ["/copy", "/first"]
    assert "cannot hear" in "".join(crawls["deaf"].complaints)


def test_the_log_shows_the_first_duplicate_only_and_says_how_to_see_all(crawls: dict[str, Crawl]) -> None:
    (line,) = crawls["plain"].log("DEBUG", "scrapy_simhash")
    assert "/copy repeats " in line
    assert "SIMHASH_DEBUG" in line


def test_every_item_that_has_the_field_is_marked_and_every_other_goes_on_without(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["field"]
    assert len(done.items) == 3 * 8
    # A dict, an Item, a dataclass and an attrs class with the field; the other four cannot hold it.
    marked = [item for item in done.items if item.get("near_duplicate")]
    assert len(marked) == done.stat("items_unmarked") == 4
    for item in marked:
        assert item["path"] == "/copy"
        assert item["near_duplicate"] == {
            "status": "near_duplicate",
            "duplicate_of": site.url("/first"),
            "distance": 0,
            "similarity": 1.0,
            "cluster": 0,
        }
