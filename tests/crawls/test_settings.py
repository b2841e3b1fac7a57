"""Settings that enable and disable the plugin, and wrong settings."""

from pathlib import Path
from typing import Any

import pytest
import scrapy as scrapy_package

from tests.crawls.harness import IN_ORDER, Plan, crawl, crawl_one, make_project, scrapy
from tests.crawls.site import Site, article

MARKS, ACTS = "scrapy_simhash.SimhashDownloaderMiddleware", "scrapy_simhash.SimhashSpiderMiddleware"
TOO_FAR = (
    "SIMHASH_MAX_DISTANCE must be at most 20 bits; a greater distance needs SIMHASH_RULE = 'classic', got 40"
)
BY_HAND = {"DOWNLOADER_MIDDLEWARES": {MARKS: 40}, "SPIDER_MIDDLEWARES": {ACTS: 75}}

#: One per place that reads settings; tests/test_config.py has the rules.
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"SIMHASH_MAX_DISTANCE": 40}, TOO_FAR),
    *(
        ({setting: "no.such.Class"}, f"{setting}: cannot import 'no.such.Class': No module named 'no'")
        for setting in ("SIMHASH_POLICY", "SIMHASH_SCOPE", "SIMHASH_STORE")
    ),
    (
        {"SIMHASH_STORE": "tests.crawls.spiders.Visitor"},
        "SIMHASH_STORE must be the import path of a subclass of scrapy_simhash.store.Store, got"
        " 'tests.crawls.spiders.Visitor'",
    ),
]


PAGES = {"/first": article(0), "/copy": article(0), "/other": article(1)}


def test_the_disabled_plugin_changes_nothing(site: Site) -> None:
    disabled = {**IN_ORDER, "SIMHASH_ACTION": "drop_page", "SIMHASH_ENABLED": False}
    done = crawl_one("Visitor", disabled, urls=site.urls(*PAGES))
    assert done.paths_scraped == sorted(PAGES)
    assert done.simhash_stats == {}
    assert all(page.marks == {} and page.flags == [] for page in done.pages)
    assert done.complaints == []
    assert done.log("INFO", "scrapy_simhash") == []


def test_a_wrong_setting_stops_the_crawl_before_the_first_page(site: Site) -> None:
    arguments = {"urls": site.urls("/first")}
    by_hand = Plan("Visitor", {**BY_HAND, **WRONG[0][0]}, arguments, is_enabled=False)
    *crawls, last = crawl(*(Plan("Visitor", settings, arguments) for settings, _ in WRONG), by_hand)
    assert [(done.error, done.pages) for done in crawls] == [(message, []) for _, message in WRONG]
    assert (last.error, last.pages) == (TOO_FAR, [])


@pytest.mark.parametrize("command", ["crawl", "runspider"])
def test_a_wrong_setting_ends_the_command_with_its_message(tmp_path: Path, command: str) -> None:
    spider = (
        "import scrapy\nclass A(scrapy.Spider):\n    name = 'a'\n"
        "    start_urls = ['data:text/html,hello']\n"
        "    custom_settings = {'ADDONS': {'scrapy_simhash.Addon': 500}}\n"
    )
    (tmp_path / "spider.py").write_text(spider)
    make_project(tmp_path, SPIDER_MODULES=["spider"])
    target = "a" if command == "crawl" else "spider.py"
    done = scrapy(command, target, "-s", "SIMHASH_MAX_DISTANCE=40", cwd=tmp_path)
    # The last line that the user sees.
    assert done.stderr.rstrip().endswith(TOO_FAR)
    assert "Crawled" not in done.stderr
    if scrapy_package.version_info >= (2, 15):  # earlier versions exit with 0 if the spider was found
        assert done.returncode != 0
