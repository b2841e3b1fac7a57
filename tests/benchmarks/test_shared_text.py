"""The generated sites of shared text, and the figures that are made of them."""

import re
import subprocess
import sys
from collections import Counter

import pytest
from lxml import html
from lxml.html import HtmlElement

from benchmarks import ROOT
from benchmarks.lib.shared_text import PLANS, Page, Plan, Site, make_site, sites
from benchmarks.lib.shared_text.entities import ENTITIES, FEW
from benchmarks.lib.shared_text.sites import REPOSTS
from benchmarks.shared_text import Judged, measure, measure_site
from scrapy_simhash import Config


@pytest.fixture(scope="module")
def all_sites() -> list[Site]:
    return list(sites(0))


def own_words(site: Site) -> dict[str, set[tuple[str, ...]]]:
    """Return the words of each entity's pages that not all pages of the site have, counters and links left out."""
    texts = {page.url: _prose(page) for page in site.pages}
    everywhere = set.intersection(*map(set, texts.values()))
    by_entity: dict[str, set[tuple[str, ...]]] = {}
    for page in site.pages:
        own = tuple(word for word in texts[page.url] if word not in everywhere)
        by_entity.setdefault(page.entity, set()).add(own)
    return by_entity


def _prose(page: Page) -> list[str]:
    root = html.document_fromstring(page.html)
    texts = [str(element.text_content()) for element in root.iter("h1", "td", "p")]
    return " ".join(text for text in texts if text != changing(root)).split()


def changing(root: HtmlElement) -> str:
    """Return the line with the date and the counters."""
    (line,) = (
        text for p in root.iter("p") if re.search(r"\d{4}-\d\d-\d\d\.$", text := str(p.text_content()))
    )
    return line


def test_the_same_seed_gives_the_same_sites_and_another_seed_others() -> None:
    assert make_site(PLANS[0], seed=4) == make_site(PLANS[0], seed=4)
    first, second = make_site(PLANS[0], seed=4), make_site(PLANS[0], seed=5)
    assert {page.html for page in first.pages}.isdisjoint(page.html for page in second.pages)


def test_a_seed_gives_the_same_pages_in_every_process() -> None:
    program = "from benchmarks.lib.shared_text import sites; print(list(sites(2)))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_a_site_has_sixty_entities_of_which_twenty_are_posted_again(all_sites: list[Site]) -> None:
    assert len({site.host for site in all_sites}) == len(PLANS)
    for site in all_sites:
        assert len({page.entity for page in site.pages}) == ENTITIES
        assert Counter(page.is_repost for page in site.pages) == {False: ENTITIES, True: REPOSTS}
        assert (
            len({page.url for page in site.pages})
            == len({page.html for page in site.pages})
            == len(site.pages)
        )


def test_all_pages_share_as_many_words_as_the_site_says(all_sites: list[Site]) -> None:
    for site in all_sites:
        assert abs(site.words - site.plan.shared) <= 15, site.name
        counts = [Counter(_prose(page)) for page in site.pages]
        shared = counts[0]
        for count in counts[1:]:
            shared &= count
        # And a few words of the pattern that the own sentences follow.
        assert site.words <= shared.total() <= site.words + 60, site.name


def test_own_text_tells_every_two_entities_apart_and_a_repost_has_that_of_its_original(
    all_sites: list[Site],
) -> None:
    for site in all_sites:
        by_entity = own_words(site)
        assert all(len(texts) == 1 for texts in by_entity.values()), site.name
        assert len(set.union(*by_entity.values())) == ENTITIES, site.name


def page(url: str, entity: str, is_repost: bool = False) -> Page:
    return Page(url, "", entity, is_repost)


def test_figures_follow_from_what_each_page_was_called() -> None:
    nurse, driver, cook = page("/1", "nurse"), page("/2", "driver"), page("/3", "cook")
    again, driver_again = page("/4", "nurse", True), page("/5", "driver", True)
    run = measure(
        [
            Judged(nurse, None, None, None),
            Judged(driver, nurse, 0.9, 1),  # merged
            Judged(again, nurse, 1.0, 0),  # found
            Judged(driver_again, nurse, 0.9, 1),  # merged, and not found
            Judged(cook, None, None, None),
        ]
    )
    assert run.kept == 2 / 3
    assert run.merged_of_first == 2
    assert run.reposts == 1 / 2
    assert [one.page for one in run.merged] == [driver, driver_again]


def test_a_repost_that_comes_first_is_the_original() -> None:
    first, second = page("/2", "nurse", True), page("/1", "nurse")
    run = measure([Judged(first, None, None, None), Judged(second, first, 1.0, 0)])
    assert (run.kept, run.reposts) == (1, 1)


def test_every_page_goes_through_one_detector_in_each_order() -> None:
    site = make_site(Plan("flats", 120))
    listed, random = (measure_site(site, Config(), order, 2) for order in ("listed", "random"))
    assert listed["no_fingerprint"] == random["no_fingerprint"] == 0
    for figures in (listed, random):
        assert figures["kept_worst"] <= figures["kept"] <= 1
        # Adverts whose own text is a third of the page and differs in most words.
        assert figures["kept"] == 1
        assert figures["reposts"] == 1


def test_text_that_is_nearly_all_shared_is_told_by_the_figures() -> None:
    """Classic simhash cannot tell a dozen own words: the benchmark must show it."""
    figures = measure_site(make_site(Plan("branches", 500, own=FEW)), Config(rule="classic"), count=1)
    assert figures["kept"] < 0.2
    assert figures["merged"][0]["page"] != figures["merged"][0]["original"]
