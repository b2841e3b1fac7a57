"""Sites with long titles, whose pages differ in one word or two of them: no page is lost, and reposts are found."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.lib.shared_text.titles import TITLES, TitlePlan, make_title_site
from benchmarks.shared_text import crawl, measure
from scrapy_simhash import Config, NearDuplicateDetector

PLANS = pytest.mark.parametrize("plan", TITLES[:2] + TITLES[7:8] + TITLES[10:11], ids=lambda plan: plan.name)


@PLANS
def test_different_pages_are_kept_and_reposts_are_found(plan: TitlePlan) -> None:
    site = make_title_site(plan)
    found = measure(list(crawl(Random(0).sample(site.pages, len(site.pages)), NearDuplicateDetector())), 20)
    assert found.kept >= 0.98
    # Of pages with equal titles, while nothing is known about the site.
    assert found.merged_of_first <= 2
    assert found.reposts is not None
    assert found.reposts >= 0.8


@PLANS
def test_at_a_similarity_of_1_every_different_page_is_kept(plan: TitlePlan) -> None:
    site = make_title_site(plan, seed=1)
    detector = NearDuplicateDetector(Config(min_similarity=1.0))
    assert measure(list(crawl(Random(0).sample(site.pages, len(site.pages)), detector))).kept == 1.0
