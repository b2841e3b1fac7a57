"""Adverts of one job in many places: nothing but their structured data and a word or two tells their pages apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from benchmarks.lib.shared_text import Plan, make_site
from benchmarks.lib.shared_text.sites import REPOSTS
from benchmarks.lib.shared_text.templates import JSON_LD, MICRODATA
from scrapy_simhash import names
from tests.crawls.harness import IN_ORDER, Crawl, crawl
from tests.crawls.harness import Plan as CrawlPlan
from tests.crawls.site import serve


class Series(NamedTuple):
    """Crawls of a site, with the truth about its pages."""

    entities: dict[str, str]
    """By path of a page: what it is about."""
    crawls: dict[str, Crawl]

    def kept(self, name: str) -> Counter[str]:
        """Return of how many pages of each entity there are items."""
        return Counter(
            self.entities[path] for path in self.crawls[name].paths_scraped if path in self.entities
        )


@pytest.fixture(scope="module", params=[JSON_LD, MICRODATA])
def series(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Series]:
    plan = Plan("jobs", 120, is_structured=True, markup=request.param, is_series=True)
    made = make_site(plan)
    entities = {urlsplit(page.url).path: page.entity for page in made.pages}
    routes = {urlsplit(page.url).path: page.html.replace(f"https://{made.host}", "") for page in made.pages}
    folder: Path = tmp_path_factory.mktemp("stores")
    with serve(routes) as site:
        urls = {"urls": site.urls(*entities)}
        actions = {"SIMHASH_ACTION": "drop_items", **IN_ORDER}
        plans = {
            "in memory": CrawlPlan("Visitor", actions, urls),
            "in a file": CrawlPlan("Visitor", {**actions, "SIMHASH_DIR": str(folder)}, urls),
            "file again": CrawlPlan("Visitor", {**actions, "SIMHASH_DIR": str(folder)}, urls),
            "not learning": CrawlPlan("Visitor", {**actions, "SIMHASH_SITE_LEARNING": False}, urls),
        }
        yield Series(entities, dict(zip(plans, crawl(*plans.values()), strict=True)))


def test_no_advert_is_lost_and_reposts_are_dropped(series: Series) -> None:
    for name in ("in memory", "in a file"):
        done, kept = series.crawls[name], series.kept(name)
        assert done.complaints == []
        assert set(kept) == set(series.entities.values())
        dropped = len(series.entities) - kept.total()
        assert dropped == done.stat("items_dropped")
        assert dropped >= 0.9 * REPOSTS
        for page in done.pages:
            if page.verdict == "near_duplicate":
                original = urlsplit(page.marks["duplicate_of"]).path
                assert series.entities[original] == series.entities[page.path]


def test_adverts_that_are_new_by_their_structured_data_are_counted(series: Series) -> None:
    done = series.crawls["in memory"]
    changed = [page for page in done.pages if page.verdict == "new" and page.marks.get("by_learning")]
    assert len(changed) == done.stats.get(names.STAT_SITE_NEW)
    assert len(changed) > 30


def test_what_a_page_is_about_is_kept_in_the_file(series: Series) -> None:
    done = series.crawls["file again"]
    assert done.complaints == []
    assert {page.verdict for page in done.pages} <= {"revisit/unchanged", "revisit/small_change"}
    assert set(series.kept("file again")) == set(series.entities.values())


def test_without_learning_adverts_are_lost(series: Series) -> None:
    assert len(series.kept("not learning")) < 0.6 * len(set(series.entities.values()))
