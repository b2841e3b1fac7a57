"""Pages rendered by a browser are judged as rendered; scrapy-playwright keeps some open for the callback."""

from __future__ import annotations

import json

import pytest

from tests.browser import BROWSER, NO_BROWSER
from tests.crawls.harness import IN_ORDER, Crawl, crawl_one
from tests.crawls.site import article, serve

pytest.importorskip("scrapy_playwright")

SETTINGS = {
    **IN_ORDER,
    "DOWNLOAD_HANDLERS": {"http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"},
    "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": BROWSER},
    # Each page that stays open occupies one of these places forever.
    "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 4,
}
KEEP = {"playwright": True, "playwright_include_page": True, "simhash": {"action": "drop_page"}}


def scripted(number: int) -> str:
    """Return a page without text, whose script inserts the text of an article."""
    body = json.dumps(article(number)).replace("</", "<\\/")
    return f"<!doctype html><title>Loading</title><body><script>document.body.innerHTML = {body}</script>"


@pytest.fixture(scope="module")
def done() -> Crawl:
    if BROWSER is None:
        pytest.skip(NO_BROWSER)
    routes = {"/": scripted(0), "/other": scripted(1), "/careful": scripted(0), "/careless": article(0)}
    with serve(routes) as site:
        return crawl_one(
            "tools_browser_spiders.Keeper",
            SETTINGS,
            urls=site.urls(*routes),
            meta=KEEP,
            careful=["/careful"],
        )


def test_text_inserted_by_a_script_is_compared(done: Crawl) -> None:
    assert done.verdicts == {
        "/": "new",
        "/other": "new",
        "/careful": "near_duplicate",
        "/careless": "near_duplicate",
    }
    assert done.paths_scraped == ["/", "/other"]
    assert done.complaints == []


def test_the_browser_page_of_a_dropped_response_stays_open_unless_an_errback_closes_it(done: Crawl) -> None:
    assert done.stat("dropped/pages") == 2
    assert done.notes == ["/careless"]
