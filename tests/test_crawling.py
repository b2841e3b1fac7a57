"""Detection of a real crawl, as opposed to a command that fetches single pages."""

from typing import Any, cast

import pytest
from scrapy import Spider

from scrapy_simhash.crawling import is_crawl
from tests.stand_in import stand_in


async def start(self: Any) -> Any:
    """Replaces the function that a Scrapy command sets on the spider class."""
    yield


def with_start(module: str | None) -> Any:
    crawler = cast("Any", stand_in())

    class MySpider(Spider):
        name = "mine"

    if module is not None:
        start.__module__ = module
        MySpider.start = start  # type: ignore[method-assign]
    crawler.spider = MySpider()
    return crawler


@pytest.mark.parametrize("module", [None, "project.spiders", "scrapy.spiders.crawl", "commands.fetch"])
def test_a_spider_with_its_own_start_crawls(module: str | None) -> None:
    assert is_crawl(with_start(module))


@pytest.mark.parametrize("command", ["fetch", "parse", "check"])
def test_a_spider_that_a_command_starts_does_not_crawl(command: str) -> None:
    assert not is_crawl(with_start(f"scrapy.commands.{command}"))


def test_a_crawler_without_a_crawl_call_does_not_crawl() -> None:
    assert not is_crawl(stand_in(is_crawling=False))


def test_a_crawler_without_a_spider_crawls_if_its_flag_is_set() -> None:
    crawler = cast("Any", stand_in())
    crawler.spider = None
    assert is_crawl(crawler)
