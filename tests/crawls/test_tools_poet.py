"""Page objects of scrapy-poet are built from the judged response."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawls.harness import IN_ORDER, IS_PROMPT, Crawl, Plan, crawl_each
from tests.crawls.site import Routes, article, serve

pytest.importorskip("scrapy_poet")

SETTINGS = {**IN_ORDER, "ADDONS": {"scrapy_simhash.Addon": 500, "scrapy_poet.Addon": 300}}
PAGES: Routes = {"/first": article(0), "/copy": article(0, title="The copy"), "/other": article(1)}
PROMPT = pytest.mark.skipif(not IS_PROMPT, reason="the original is not delivered when its copy comes")
FIRST = {"path": "/first", "title": "Thirty Brass Players and One Very Low Ceiling"}


@pytest.fixture(scope="module")
def crawls() -> Iterator[dict[str, Crawl]]:
    mark = {**SETTINGS, "SIMHASH_RESULT_FIELD": "near_duplicate"}
    drop_page = {"simhash": {"action": "drop_page"}}
    drop_items = {"simhash": {"action": "drop_items"}}
    with serve(PAGES) as site:
        urls = {"urls": site.urls(*PAGES)}
        plans = {
            "mark": Plan("tools_poet_spiders.Objective", mark, urls),
            "drop_page": Plan("tools_poet_spiders.Objective", SETTINGS, {**urls, "meta": drop_page}),
            "drop_items": Plan("tools_poet_spiders.Objective", SETTINGS, {**urls, "meta": drop_items}),
        }
        yield crawl_each(plans)


def test_an_item_of_a_page_object_has_the_result_and_its_callback_gets_the_verdict(
    crawls: dict[str, Crawl],
) -> None:
    done = crawls["mark"]
    assert [one.complaints for one in crawls.values()] == [[]] * 3
    assert done.item("/first") == {**FIRST, "near_duplicate": None}
    assert done.item("/copy")["near_duplicate"]["duplicate_of"].endswith("/first")
    assert done.notes == [["/first", "new"], ["/copy", "near_duplicate"], ["/other", "new"]]


@pytest.mark.parametrize("name", ["drop_page", "drop_items"])
def test_the_items_of_a_copy_are_dropped_with_any_callback(crawls: dict[str, Crawl], name: str) -> None:
    assert crawls[name].paths_scraped == ["/first", "/other"]
    assert crawls[name].item("/first") == FIRST


@PROMPT
def test_the_errback_is_called_for_a_dropped_page(crawls: dict[str, Crawl]) -> None:
    assert ["NearDuplicate", "/copy"] in crawls["drop_page"].notes
