"""The program that measures what learning costs, run for real on a tiny pack and some generated pages."""

import json

import pytest

from benchmarks import learning
from benchmarks.learning import Page, Times, figures, generated, measure, pages_of
from benchmarks.lib.pack import Pack
from benchmarks.lib.shared_text import PLANS, make_site
from scrapy_simhash import Config


def test_figures_are_means_over_all_pages_and_over_those_of_which_text_was_left_out() -> None:
    found = figures([Times(1000, 2000, False), Times(3000, 10_000, True), Times(2000, 3000, True)])
    assert found == {
        "pages": 3,
        "without": 2,
        "without_median": 2,
        "with": 5,
        "with_median": 3,
        "ratio": 2.5,
        "more": 3,
        "more_there": 4,
        "left_out": 2 / 3,
    }


def test_pages_of_a_site_are_read_while_it_is_learned() -> None:
    pages = [Page(page.url, page.html.encode()) for page in make_site(PLANS[5], 0).pages[:40]]
    times = list(measure(pages, Config(), 1))
    assert len(times) == 40
    assert not any(one.is_part for one in times[:6])
    assert sum(one.is_part for one in times[6:]) > 5
    assert all(one.without > 0 for one in times)


def test_the_pages_are_the_same_in_every_run(pack: Pack) -> None:
    assert generated(100) == generated(100)
    assert len(generated(100)) == 100
    assert pages_of(pack, 3) == pages_of(pack, 3)
    assert len(pages_of(pack, 99)) == sum(doc.kind == "page" for doc in pack.docs.values())


@pytest.mark.usefixtures("no_pack")
def test_without_a_pack_generated_sites_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    learning.main(["--pages", "20", "--repeats", "1", "--json"])
    assert set(json.loads(capsys.readouterr().out)["sources"]) == {"generated sites"}
