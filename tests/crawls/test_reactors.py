"""The same crawl on every kind of event loop that Scrapy runs on, and several crawls on one."""

import pytest

from tests.crawls.harness import IN_ORDER, UNPROTECTED, WITHOUT_REACTOR, Crawl, Plan, crawl, crawl_each
from tests.crawls.site import Answer, Routes, article, links, serve

REACTORS = ("asyncio", "select", WITHOUT_REACTOR)
PAGES: Routes = {
    "/": article(0, before=links("/copy", "/moved", "/file")),
    "/copy": article(0, before=links("/lost")),
    "/moved": Answer("", 301, headers={"Location": "/target"}),
    "/target": article(1),
    "/file": Answer("%PDF", content_type="application/pdf"),
    "/lost": article(2),
}


#: Kinds of callbacks; requests for generators have an errback.
STYLES = ("generator", "async_generator", "list", "coroutine")
ITEMS = {**IN_ORDER, "SIMHASH_ITEM_FIELDS": ["title", "body"], "SIMHASH_ITEM_ACTION": "drop_items"}


@pytest.fixture(scope="module", params=REACTORS)
def crawls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    folder = tmp_path_factory.mktemp("kept")
    kept = {**IN_ORDER, "SIMHASH_STORE": str(folder), "SIMHASH_REPORT": str(folder / "report.jsonl")}
    with serve(PAGES) as site:
        pages = {"urls": site.urls("/", "/copy", "/target")}
        plans = {
            "items": Plan("items_spiders.Shop", ITEMS, pages),
            "items, own store": Plan(
                "items_spiders.Shop", {**ITEMS, "SIMHASH_STORE": "tests.crawls.stores.Named"}, pages
            ),
            "dropped": Plan("DropListener", {**IN_ORDER, "SIMHASH_ACTION": "drop_items"}, pages),
            "kept": Plan("Visitor", kept, pages),
            "again": Plan("Visitor", kept, pages),
            "follow": Plan("Follower", {**IN_ORDER, "SIMHASH_ACTION": "drop_links"}, {"urls": [site.url()]}),
            **{
                style: Plan(
                    "Stylist",
                    {**IN_ORDER, **UNPROTECTED, "SIMHASH_ACTION": "drop_page"},
                    {"urls": site.urls("/", "/copy"), "style": style, "has_errback": style == "generator"},
                )
                for style in STYLES
            },
        }
        return crawl_each(plans, reactor=request.param)


def test_verdicts_and_actions_are_the_same_on_every_reactor(crawls: dict[str, Crawl]) -> None:
    done = crawls["follow"]
    assert done.verdicts == {
        "/": "new",
        "/copy": "near_duplicate",
        "/target": "new",
        "/file": "skipped/not_html",
    }
    assert done.simhash_stats == {
        "processed": 3,
        "new": 2,
        "near_duplicates": 1,
        "near_duplicates/exact": 1,
        "dropped/requests": 1,
        "skipped/not_html": 1,
    }
    assert len(done.found) == 1


@pytest.mark.parametrize("name", ["items", "items, own store", "dropped"])
def test_items_are_dropped_on_every_reactor(crawls: dict[str, Crawl], name: str) -> None:
    assert "/copy" not in crawls[name].paths_scraped
    # The spider that follows links visits it twice.
    assert crawls[name].stats["item_dropped_count"] == (2 if name == "dropped" else 1)
    # By a signal, for the spider.
    assert crawls[name].notes


def test_stores_reports_and_clusters_are_the_same_on_every_reactor(crawls: dict[str, Crawl]) -> None:
    assert crawls["kept"].verdicts == {"/": "new", "/copy": "near_duplicate", "/target": "new"}
    page, copy = (crawls["kept"].page(path).url for path in ("/", "/copy"))
    assert crawls["kept"].found == [{"url": copy, "original": page}]
    assert set(crawls["again"].verdicts.values()) == {"revisit/unchanged"}
    assert crawls["again"].stat("errors/report") == 0


@pytest.mark.parametrize("style", STYLES)
def test_the_callback_of_a_dropped_page_is_not_called_on_any_reactor(
    crawls: dict[str, Crawl], style: str
) -> None:
    done = crawls[style]
    assert "/copy" not in done.paths_scraped
    assert ("failed: /copy" in done.paths_scraped) is (style == "generator")
    assert done.verdicts["/target"] == "new"
    assert "/lost" not in done.verdicts


def test_reactors_cause_no_errors(crawls: dict[str, Crawl]) -> None:
    assert {name: done.complaints for name, done in crawls.items()} == {name: [] for name in crawls}


def test_two_crawlers_in_one_process_share_nothing() -> None:
    drops = {**IN_ORDER, **UNPROTECTED, "SIMHASH_ACTION": "drop_items"}
    with serve({"/a": article(0), "/b": article(0), "/c": article(1)}) as site:
        plans = [
            Plan("Visitor", drops, {"urls": site.urls("/a", "/b", "/c")}),
            Plan("Visitor", {**IN_ORDER, "SIMHASH_MIN_SHINGLES": 10_000}, {"urls": site.urls("/b", "/a")}),
        ]
        strict, blind = crawl(*plans, order="together")
    assert strict.verdicts == {"/a": "new", "/b": "near_duplicate", "/c": "new"}
    assert strict.paths_scraped == ["/a", "/c"]
    # For this crawl every page is too short, and pages with the same short text are copies.
    assert blind.verdicts == {"/b": "skipped/short_text", "/a": "near_duplicate/short_text"}
    assert blind.paths_scraped == ["/a", "/b"]
