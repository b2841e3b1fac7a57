"""Generated sites, crawled in memory in any order: skipped requests must not lose a page."""

from __future__ import annotations

import pytest

from scrapy_simhash.observers.url_rules.host import PAIRS
from tests.observers.url_rules.awkward_sites import KINDS, AwkwardSite
from tests.observers.url_rules.crawling import Crawl


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_lost_to_a_parameter_with_an_effect_or_of_an_unusual_form(kind: str) -> None:
    for seed in (1, 3):
        crawl = Crawl(AwkwardSite(kind, size=130), seed).run()
        assert sum(crawl.pages.values()) < crawl.most
        assert crawl.lost == set()


@pytest.mark.slow("two crawls of a large site")
def test_a_session_in_the_path_and_the_number_of_a_first_page_are_parameters() -> None:
    for kind, rule in (
        ("session in the path", "parameter ;jsessionid in /item/*"),
        ("pages of sorted lists", "parameter page=1 in /list/*"),
    ):
        crawl = Crawl(AwkwardSite(kind), 1).run()
        superfluous, skipped = crawl.superfluous()
        assert superfluous - skipped <= PAIRS + (superfluous - PAIRS) // 10 + crawl.concurrency
        assert [str(each) for each in crawl.listener.hosts["site.example"].rules.active] == [rule]
