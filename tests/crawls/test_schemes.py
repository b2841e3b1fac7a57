"""Crawls with other schemes than the default one."""

from pathlib import Path
from typing import Any

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl_each
from tests.crawls.site import Routes, Site, article

PAGES: Routes = {
    "/story": article(0),
    "/story/print": article(0, after="<footer>Since 1962</footer>"),
    "/other": article(1),
}
SCHEMES = {
    "moz": "moz-1",
    "fnv-words": "fnv-words-1",
    "tests.page.schemes.own.BY_LINKS": "tests.page.schemes.own.BY_LINKS-3",
}


@pytest.fixture(scope="module")
def crawls(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    folder = tmp_path_factory.mktemp("stores")

    def plan(scheme: str, place: Path, **settings: Any) -> Plan:
        held = {"SIMHASH_SCHEME": scheme, "SIMHASH_STORE": str(place)}
        return Plan("Visitor", {**IN_ORDER, **held, **settings}, {"urls": site.urls(*PAGES)})

    plans = {name: plan(name, folder / name) for name in SCHEMES}
    plans["again"] = plan("moz", folder / "moz", SIMHASH_MIN_SIMILARITY=0.9)
    plans["mixed"] = plan("slides", folder / "moz")
    return crawl_each(plans)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_crawl_finds_near_duplicates_by_the_scheme_and_names_it(
    crawls: dict[str, Crawl], name: str
) -> None:
    done = crawls[name]
    assert done.complaints == []
    assert done.verdicts == {"/story": "new", "/story/print": "near_duplicate", "/other": "new"}
    line = next(text for text in done.log("INFO", "scrapy_simhash") if "Marking near-duplicates" in text)
    assert "simhash distance <= 3" in line
    assert f"(scheme {SCHEMES[name]}, " in line


def test_the_next_crawl_knows_the_pages_and_warns_of_a_setting_without_effect(
    crawls: dict[str, Crawl],
) -> None:
    done = crawls["again"]
    assert set(done.verdicts.values()) == {"revisit/unchanged"}
    (warning,) = done.log("WARNING", "scrapy_simhash")
    assert "SIMHASH_MIN_SIMILARITY (0.9) has no effect with SIMHASH_SCHEME = 'moz'" in warning


def test_a_crawl_with_another_scheme_refuses_the_store(crawls: dict[str, Crawl]) -> None:
    done = crawls["mixed"]
    assert done.pages == []
    assert done.error is not None
    assert "scheme is 'moz-1' there, 'slides-1' here" in done.error
