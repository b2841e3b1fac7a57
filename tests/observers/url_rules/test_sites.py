"""Generated sites, crawled in memory in any order: skipped requests must not lose a page."""

from __future__ import annotations

import pytest

from benchmarks.lib.awkward_sites import KINDS, AwkwardSite
from benchmarks.lib.made_crawls import Crawl
from benchmarks.lib.made_sites import Description, random_description
from scrapy_simhash.observers.url_rules.host import PAIRS


@pytest.mark.parametrize("seed", range(5))
def test_no_page_of_a_site_is_lost_in_any_order(seed: int) -> None:
    crawl = Crawl(random_description(seed), seed).run()
    assert sum(crawl.pages.values()) < crawl.most
    assert crawl.lost == set()
    assert not crawl.crawler.stats.get_value("simhash/errors/action")


@pytest.mark.parametrize("seed", range(3))
def test_a_calendar_with_marked_links_ends_without_losing_a_month_with_events(seed: int) -> None:
    about = Description("town", sections=1, things=2, marks=["utm"], has_calendar=True, seed=seed)
    crawl = Crawl(about, seed, most=1_500).run()
    assert sum(crawl.pages.values()) < crawl.most
    assert crawl.lost == set()


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_lost_to_a_parameter_with_an_effect_or_of_an_unusual_form(kind: str) -> None:
    for seed in (1, 3):
        crawl = Crawl(AwkwardSite(kind, size=130), seed).run()
        assert sum(crawl.pages.values()) < crawl.most
        assert crawl.lost == set()


def test_a_session_in_the_path_and_the_number_of_a_first_page_are_parameters() -> None:
    for kind, rule in (
        ("session in the path", "parameter ;jsessionid in /item/*"),
        ("pages of sorted lists", "parameter page=1 in /list/*"),
    ):
        crawl = Crawl(AwkwardSite(kind), 1).run()
        superfluous, skipped = crawl.superfluous()
        assert superfluous - skipped <= PAIRS + (superfluous - PAIRS) // 10 + crawl.concurrency
        assert [str(each) for each in crawl.listener.hosts["site.example"].rules.active] == [rule]


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("facets", ["values", "indexed", "parameters"])
def test_a_tenth_of_the_selections_of_a_list_is_fetched_twice(facets: str, seed: int) -> None:
    # One request at a time, or 16.
    crawl = Crawl(Description("shop", sections=6, things=2, facets=facets), seed).run()
    assert crawl.concurrency == (16 if seed == 3 else 1)
    assert crawl.lost == set()
    superfluous, skipped = crawl.superfluous()
    assert superfluous - skipped <= PAIRS + (superfluous - PAIRS) // 10
