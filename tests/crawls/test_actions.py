"""What each action does to a page that repeats another one, for every way to write a callback."""

import pytest

from tests.crawls.harness import IN_ORDER, UNPROTECTED, Crawl, Plan, crawl, crawl_each
from tests.crawls.site import Routes, Site, article, links

STYLES = ("generator", "async_generator", "list", "coroutine", "none")
# What is scraped of: /first, with a link to /of-first; /copy, with a link to /of-copy.
SCRAPED = {
    "mark": ["/copy", "/first", "/of-copy", "/of-first"],
    "drop_items": ["/first", "/of-copy", "/of-first"],
    "drop_links": ["/copy", "/first", "/of-first"],
    "drop_page": ["/first", "/of-first"],
}
CASES = [(style, action) for style in STYLES for action in SCRAPED]


PAGES: Routes = {
    "/first": article(0, before=links("/of-first")),
    "/copy": article(0, before=links("/of-copy"), after="<p>Buy boats!</p>"),
    "/of-first": article(1),
    "/of-copy": article(2),
}


def plan(site: Site, action: str | None = None, *, spider: str = "Stylist", **arguments: object) -> Plan:
    settings = {**IN_ORDER, **UNPROTECTED, **({"SIMHASH_ACTION": action} if action else {})}
    return Plan(spider, settings, {"urls": site.urls("/first", "/copy"), **arguments})


@pytest.fixture(scope="module")
def by_setting(site: Site) -> dict[tuple[str, str], Crawl]:
    crawls = crawl(*(plan(site, action, style=style) for style, action in CASES))
    return dict(zip(CASES, crawls, strict=True))


@pytest.mark.parametrize(("style", "action"), [case for case in CASES if case[0] != "none"])
def test_an_action_keeps_what_it_promises_whatever_the_callback_returns(
    by_setting: dict[tuple[str, str], Crawl], style: str, action: str
) -> None:
    done = by_setting[style, action]
    assert done.paths_scraped == SCRAPED[action]
    assert done.complaints == []
    assert ("/copy" in done.notes) is (action != "drop_page")
    assert done.stat("dropped/items") == (action == "drop_items")
    assert done.stat("dropped/requests") == (action == "drop_links")
    assert done.stat("dropped/pages") == (action == "drop_page")
    # A dropped page is a page received: CLOSESPIDER_PAGECOUNT and LogStats see it.
    assert done.stats["response_received_count"] == len(done.pages)


@pytest.mark.parametrize("action", SCRAPED)
def test_a_callback_that_returns_nothing_is_called_for_a_copy_too(
    by_setting: dict[tuple[str, str], Crawl], action: str
) -> None:
    done = by_setting["none", action]
    # With drop_page, a callback is called for the first copies that it might give an item for.
    assert done.notes == ["/first", "/copy"]
    assert done.complaints == []


@pytest.fixture(scope="module")
def by_meta(site: Site) -> dict[str, Crawl]:
    plans = {"off": plan(site, "drop_page", metas={"/copy": {"simhash": False}})}
    plans["unlisted"] = plan(site, "drop_page", metas={"/first": {"simhash": False}})
    return crawl_each(plans)


def test_a_request_that_opts_out_is_neither_judged_nor_remembered(by_meta: dict[str, Crawl]) -> None:
    assert by_meta["off"].verdicts["/copy"] == "skipped/opted_out"
    assert by_meta["off"].paths_scraped == SCRAPED["mark"]
    assert by_meta["off"].stat("skipped/opted_out") == 1
    assert by_meta["unlisted"].verdicts["/copy"] == "new"
