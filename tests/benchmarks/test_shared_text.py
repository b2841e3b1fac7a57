"""The generated sites of shared text, and the figures that are made of them."""

from hashlib import sha256

from benchmarks.lib.shared_text import MARKED, PLANS, SERIES, Page, Plan, make_site, sites, title_sites
from benchmarks.lib.shared_text.entities import FEW
from benchmarks.shared_text import Judged, measure, measure_site
from scrapy_simhash import Config


def test_the_sites_are_those_that_the_docs_measured_whatever_the_process() -> None:
    """Sixty entities that differ in their own text, twenty of them posted again; a change makes other figures."""
    digest = sha256()
    for site in (*sites(0, PLANS), *sites(0, SERIES), *sites(0, MARKED), *title_sites(0)):
        digest.update(repr(site).encode())
    assert digest.hexdigest() == "75be250ef7fdb60458732eb4030e180f947c2c88cf72bf099564220d5352362c"
    assert make_site(PLANS[0], seed=4).pages != make_site(PLANS[0], seed=5).pages


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
    figures = measure_site(site, Config(), 2)
    # Adverts whose own text is a third of the page and differs in most words.
    assert figures["no_fingerprint"] == 0
    assert figures["kept_worst"] == figures["kept"] == figures["reposts"] == 1


def test_text_that_is_nearly_all_shared_is_told_by_the_figures() -> None:
    """Classic simhash cannot tell a dozen own words: the benchmark must show it."""
    figures = measure_site(make_site(Plan("branches", 500, own=FEW)), Config(rule="classic"), count=1)
    assert figures["kept"] < 0.2
    assert figures["merged"][0]["page"] != figures["merged"][0]["original"]
