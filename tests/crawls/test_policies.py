"""Every action and every protection, crawled over the annex of the example site: what its truth promises survives."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_simhash.config import PROTECTIONS
from tests.annex.server import serving
from tests.annex.truth import AnnexTruth
from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl, crawl_one
from tests.crawls.promises import (
    NEAREST_FIRST,
    Promise,
    copies,
    is_exact,
    made,
    promise,
    reached,
    scraped,
    seen,
    with_items,
)

ACTIONS = ("mark", "drop_items", "drop_links", "drop_items,drop_links", "drop_page")
SETTINGS: dict[str, dict[str, Any]] = {
    **{action: {"SIMHASH_ACTION": action} for action in ACTIONS},
    **{
        f"{action}, nothing protected": {"SIMHASH_ACTION": action, "SIMHASH_PROTECT": []}
        for action in ACTIONS[1:]
    },
    **{
        f"drop_page, no {lifted}": {
            "SIMHASH_ACTION": "drop_page",
            "SIMHASH_PROTECT": [name for name in PROTECTIONS if name != lifted],
        }
        for lifted in PROTECTIONS
    },
    # Lists that are copies are pages of one list, and spared as such where that holds, too.
    "drop_page, only listing": {"SIMHASH_ACTION": "drop_page", "SIMHASH_PROTECT": "listing"},
    "exact": {"SIMHASH_EXACT_ACTION": "drop_page"},
    "exact links, other items": {"SIMHASH_EXACT_ACTION": "drop_links", "SIMHASH_ACTION": "drop_items"},
    "all but exact": {"SIMHASH_EXACT_ACTION": "mark", "SIMHASH_ACTION": "drop_page"},
}


#: Fewer projects lift protections one by one, or name two actions.
RARE = {name for name in SETTINGS if " no" in name or "only" in name} - {"drop_page, nothing protected"}
RARE |= {"drop_items,drop_links", "exact links, other items"}
many_crawls = pytest.mark.slow("it crawls the whole annex for each, and there are more than ten of these")
NAMES = [pytest.param(name, marks=many_crawls) if name in RARE else name for name in SETTINGS]


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


class Crawls(dict[str, Crawl]):
    """The crawls by name. The first that is asked for is made together with all that are as rare."""

    def __missing__(self, name: str) -> Crawl:
        names = [other for other in SETTINGS if (other in RARE) == (name in RARE)]
        with serving() as server:
            arguments = {"start": " ".join(server.url + start for start in AnnexTruth.load().starts)}
            plans = [
                Plan("annex_spiders.Annex", {**NEAREST_FIRST, **SETTINGS[other]}, arguments)
                for other in names
            ]
            self.update(zip(names, crawl(*plans), strict=True))
        return self[name]


@pytest.fixture(scope="module")
def crawls() -> dict[str, Crawl]:
    return Crawls()


def wish(name: str, truth: AnnexTruth, key: str, original: str) -> str:
    """Return what the settings ask for."""
    action: str = SETTINGS[name].get("SIMHASH_ACTION", "mark")
    by_letter: str = SETTINGS[name].get("SIMHASH_EXACT_ACTION", action)
    return by_letter if is_exact(truth, key, original) else action


def promises(name: str, truth: AnnexTruth, done: Crawl) -> dict[str, Promise]:
    """Return what the truth promises of every page that the crawl called a copy."""
    protect = SETTINGS[name].get("SIMHASH_PROTECT", PROTECTIONS)
    return {
        key: promise(truth, key, original, wish(name, truth, key, original), truth.starts, protect)
        for key, original in copies(truth, done).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_to_every_copy_is_done_what_its_role_allows(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    assert done.complaints == []
    pages = seen(truth, done)
    assert {key: made(pages[key]) for key in copies(truth, done)} == promises(name, truth, done)
    # There was no question about the others.
    assert {key for key, page in pages.items() if "done" in page.marks} == set(copies(truth, done))


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_reached_to_which_a_page_leads_that_keeps_its_links(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    must = reached(truth, truth.starts, promises(name, truth, done))
    assert set(seen(truth, done)) == must
    assert done.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("name", NAMES)
def test_the_items_of_every_page_are_kept_that_is_not_to_lose_them(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    assert scraped(truth, done) == with_items(seen(truth, done), promises(name, truth, done))


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_lost_that_was_reached(crawls: dict[str, Crawl], truth: AnnexTruth, name: str) -> None:
    """Whatever is not protected: of every page without items, one with nearly its text has some."""
    done = crawls[name]
    kept = scraped(truth, done)
    for key in set(seen(truth, done)).difference(kept):
        assert any(truth.relation(key, other).expected != "different" for other in kept), key
        page = truth.pages[key]
        assert any(page.family and truth.pages[other].family == page.family for other in kept), key


@pytest.mark.parametrize(
    "name", [param for name, param in zip(SETTINGS, NAMES, strict=True) if "nothing" not in name]
)
def test_no_card_is_lost_that_a_page_alone_says(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    kept = truth.items_on(scraped(truth, crawls[name]))
    first = {item for item, card in truth.items.items() if not card.repeats}
    assert first - kept == set()


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_spared_as_often_as_the_stats_say(
    crawls: dict[str, Crawl], truth: AnnexTruth, name: str
) -> None:
    done = crawls[name]
    promised = [found.exemption for found in promises(name, truth, done).values()]
    assert {reason: done.stat(f"exempted/{reason}") for reason in PROTECTIONS} == {
        reason: promised.count(reason) for reason in PROTECTIONS
    }


@many_crawls
def test_each_protection_spares_some_page_and_lifting_it_loses_some(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    """Else the tests above had nothing to find."""

    def left(name: str) -> tuple[list[str], set[str]]:
        return scraped(truth, crawls[name]), set(seen(truth, crawls[name]))

    for name in ("start", "pagination", "language", "product"):
        assert crawls["drop_page"].stat(f"exempted/{name}") > 0
        assert left(f"drop_page, no {name}") != left("drop_page")
    assert crawls["drop_page, only listing"].stat("exempted/listing") > 0
    assert left("drop_page, only listing") != left("drop_page, nothing protected")


def test_a_page_is_exact_if_it_says_the_same_to_the_letter(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    pages = seen(truth, crawls["mark"])
    expected = {
        key: is_exact(truth, key, original) for key, original in copies(truth, crawls["mark"]).items()
    }
    assert {key: pages[key].marks["exact"] for key in expected} == expected
    assert set(expected.values()) == {True, False}


ORDERS: dict[str, tuple[dict[str, Any], int | None]] = {
    "by dice": (dict(IN_ORDER), 0),
    "last first": ({"CONCURRENT_REQUESTS": 1}, None),
    "eight at once": ({"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}, None),
    "other dice": (dict(IN_ORDER), 1),
    "more dice": (dict(IN_ORDER), 2),
}
OTHER_DICE = [
    pytest.param(name, marks=pytest.mark.slow("it crawls the whole annex in one more order"))
    for name in ("other dice", "more dice")
]


@pytest.mark.parametrize("name", ["by dice", "last first", "eight at once", *OTHER_DICE])
def test_promises_hold_whichever_of_two_copies_comes_first(truth: AnnexTruth, name: str) -> None:
    settings, seed = ORDERS[name]
    with serving() as server:
        start = " ".join(server.url + start for start in reversed(truth.starts))
        done = crawl_one(
            "policies_spiders.Part", {"SIMHASH_ACTION": "drop_page", **settings}, start=start, seed=seed
        )
    pages = seen(truth, done)
    promised = {
        key: promise(truth, key, original, "drop_page", truth.starts)
        for key, original in copies(truth, done).items()
    }
    assert {key: made(pages[key]) for key in promised} == promised
    assert set(pages) == reached(truth, truth.starts, promised)
    assert scraped(truth, done) == with_items(pages, promised)
    assert done.complaints == []
