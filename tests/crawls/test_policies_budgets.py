"""Budgets: how many pages of a cluster pass, in one crawl, in two, in two at once; and where traps end by them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.annex.server import serving
from tests.annex.truth import AnnexTruth, Endless
from tests.crawls.harness import Crawl, Plan, crawl
from tests.crawls.promises import NEAREST_FIRST, Promise, copies, made, reached, scraped, seen, with_items
from tests.store.server import RedisServer

POSTERS, BOARD = "/annex/posters", "/annex/slip"
BUDGETS = (1, 2, 5)
#: Where a test fails, a trap shall not go on for ever.
NOT_FOR_EVER = 120
AT_ONCE = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}


@pytest.fixture(scope="module")
def truth() -> AnnexTruth:
    return AnnexTruth.load()


@pytest.fixture(scope="module")
def places(truth: AnnexTruth) -> dict[str, list[str]]:
    """Return where each poster hung, in the order in which the list of them has it."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in truth.pages[POSTERS].links:
        found[truth.pages[key].family].append(key)
    assert sorted(map(len, found.values())) == [2, 3, 5, 8, 12]
    return found


def passed(truth: AnnexTruth, done: Crawl) -> dict[str, list[str]]:
    """Return the posters to which nothing was done, by what they say."""
    found = defaultdict(list)
    for key, page in seen(truth, done).items():
        if truth.pages[key].kind == "poster" and page.marks.get("done", "mark") == "mark":
            found[truth.pages[key].family].append(key)
    return found


@pytest.fixture(scope="module")
def crawls() -> dict[str, Crawl]:
    plans: dict[str, tuple[str, dict[str, Any]]] = {
        f"{action} {budget}": (POSTERS, {"SIMHASH_ACTION": action, "SIMHASH_CLUSTER_BUDGET": budget})
        for action in ("drop_items", "drop_links", "drop_page")
        for budget in BUDGETS
    }
    plans["at once"] = (
        POSTERS,
        {"SIMHASH_ACTION": "drop_page", "SIMHASH_CLUSTER_BUDGET": 2, **AT_ONCE},
    )
    plans["board"] = (BOARD, {"SIMHASH_ACTION": "drop_page", "SIMHASH_CLUSTER_BUDGET": 2})
    plans["asked"] = (POSTERS, {"SIMHASH_ACTION": "mark", "SIMHASH_CLUSTER_BUDGET": 2})
    asking = {"metas": {POSTERS: {"simhash_action": "drop_page"}}}
    with serving() as server:
        done = crawl(
            *(
                Plan(
                    "policies_spiders.Part",
                    {**settings} if name == "at once" else {**NEAREST_FIRST, **settings},
                    {
                        "start": server.url + start,
                        "within": start,
                        **(asking if name == "asked" else {}),
                    },
                )
                for name, (start, settings) in plans.items()
            )
        )
    return dict(zip(plans, done, strict=True))


@pytest.mark.parametrize("action", ["drop_items", "drop_links", "drop_page"])
@pytest.mark.parametrize("budget", BUDGETS)
def test_so_many_of_each_cluster_pass_as_the_budget_says(
    crawls: dict[str, Crawl], truth: AnnexTruth, places: dict[str, list[str]], action: str, budget: int
) -> None:
    done = crawls[f"{action} {budget}"]
    assert done.complaints == []
    pages = seen(truth, done)
    ranks = {key: rank for of_one in places.values() for rank, key in enumerate(of_one)}
    assert {key: pages[key].marks["rank"] for key in ranks} == ranks
    promises = {
        key: Promise("mark", "budget") if rank < budget else Promise(action)
        for key, rank in ranks.items()
        if rank  # the first of a cluster repeats nothing
    }
    assert {key: made(pages[key]) for key in copies(truth, done)} == promises
    assert {name: len(found) for name, found in passed(truth, done).items()} == {
        name: min(len(of_one), budget) for name, of_one in places.items()
    }
    everything = reached(truth, [POSTERS], promises, is_whole=False)
    assert set(pages) == {key for key in everything if key.startswith(POSTERS)}
    assert scraped(truth, done) == with_items(pages, promises)


def test_as_many_pass_where_pages_come_side_by_side(
    crawls: dict[str, Crawl], truth: AnnexTruth, places: dict[str, list[str]]
) -> None:
    found = passed(truth, crawls["at once"])
    assert {name: len(keys) for name, keys in found.items()} == {
        name: min(len(of_one), 2) for name, of_one in places.items()
    }


def test_beyond_its_budget_a_cluster_has_no_protected_pages(
    crawls: dict[str, Crawl], truth: AnnexTruth
) -> None:
    done = crawls["board"]
    board = [
        page
        for page in done.pages
        if truth.page(page.url).role == "pagination" and "duplicate_of" in page.marks
    ]
    # The second page of the board passes, the third is the last one that is found: it does not lead on.
    assert [made(page) for page in board] == [Promise("mark", "budget"), Promise("drop_page")]


def test_what_a_request_asks_for_is_not_done_within_the_budget(
    crawls: dict[str, Crawl], truth: AnnexTruth, places: dict[str, list[str]]
) -> None:
    found = passed(truth, crawls["asked"])
    assert {name: len(keys) for name, keys in found.items()} == {
        name: min(len(of_one), 2) for name, of_one in places.items()
    }


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_budget_holds_for_two_crawls_with_one_store(
    tmp_path: Path, truth: AnnexTruth, places: dict[str, list[str]], budget: int
) -> None:
    settings = {
        **NEAREST_FIRST,
        "SIMHASH_ACTION": "drop_page",
        "SIMHASH_CLUSTER_BUDGET": budget,
        "SIMHASH_DIR": str(tmp_path),
    }
    with serving() as server:
        every = [server.url + key for of_one in places.values() for key in of_one]
        first, second = crawl(
            Plan("Visitor", settings, {"urls": every[::2]}),
            # All of them, the other way round: those that passed come last.
            Plan("Visitor", settings, {"urls": every[::-1]}),
        )
    before, after = passed(truth, first), passed(truth, second)
    for name, of_one in places.items():
        assert len(after[name]) == min(len(of_one), budget)
        # Whatever passed once, passes again.
        assert set(before[name]) <= set(after[name])
    assert first.complaints == second.complaints == []


def test_the_budget_holds_for_two_crawlers_that_share_a_store(
    tmp_path: Path, truth: AnnexTruth, places: dict[str, list[str]]
) -> None:
    budget = 3
    with RedisServer(tmp_path) as redis, serving() as server:
        settings = {
            "SIMHASH_ACTION": "drop_items",
            "SIMHASH_CLUSTER_BUDGET": budget,
            "SIMHASH_REDIS_URL": redis.url,
            "SIMHASH_REDIS_PREFIX": "shared",
        }
        every = [server.url + key for of_one in places.values() for key in of_one]
        crawls = crawl(
            Plan("Visitor", settings, {"urls": every[::2]}),
            Plan("Visitor", settings, {"urls": every[1::2]}),
            order="together",
        )
    assert [done.complaints for done in crawls] == [[], []]
    for name, of_one in places.items():
        found = [key for done in crawls for key in passed(truth, done)[name]]
        assert len(found) == min(len(of_one), budget)
    assert sum(len(done.items) for done in crawls) == sum(
        min(len(of_one), budget) for of_one in places.values()
    )


TRAPS = {
    f"{action}, budget {budget}{how}": (
        {"SIMHASH_ACTION": action, "SIMHASH_CLUSTER_BUDGET": budget, **settings},
        budget,
    )
    for action in ("drop_links", "drop_page")
    for budget in BUDGETS
    for how, settings in (("", NEAREST_FIRST), (", eight at once", AT_ONCE))
}


@pytest.fixture(scope="module")
def traps(truth: AnnexTruth) -> dict[tuple[str, str], Crawl]:
    endless = {"CLOSESPIDER_PAGECOUNT": NOT_FOR_EVER}
    named = {name: settings for name, (settings, _) in TRAPS.items()} | {"none": NEAREST_FIRST}
    plans = {(part.kind, name): settings for part in truth.endless for name, settings in named.items()}
    starts = {part.kind: part.start for part in truth.endless}
    with serving() as server:
        done = crawl(
            *(
                Plan(
                    "annex_spiders.Annex",
                    {**endless, **settings},
                    {"start": server.url + starts[kind]},
                )
                for (kind, _), settings in plans.items()
            )
        )
    return dict(zip(plans, done, strict=True))


def inside(done: Crawl, part: Endless) -> list[str]:
    return [page.path for page in done.pages if page.path.startswith(part.prefix)]


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.parametrize("kind", ["month", "finder"])
def test_a_trap_ends_by_the_budget_of_its_cluster(
    traps: dict[tuple[str, str], Crawl], truth: AnnexTruth, kind: str, name: str
) -> None:
    done, budget = traps[kind, name], TRAPS[name][1]
    (part,) = (part for part in truth.endless if part.kind == kind)
    asked = inside(done, part)
    assert len({page.marks["cluster"] for page in done.pages if page.path in asked}) == 1
    assert budget < len(asked) <= 1 + budget * part.links
    assert done.stats["finish_reason"] == "finished"
    assert done.complaints == []


def test_every_way_into_a_trap_adds_one_request(truth: AnnexTruth) -> None:
    (part,) = (part for part in truth.endless if part.kind == "month")
    # So far from each other that none leads to another.
    doors = [f"{part.prefix}{year}/03" for year in range(100, 110)]
    budget = 2
    settings = {"SIMHASH_ACTION": "drop_links", "SIMHASH_CLUSTER_BUDGET": budget}
    with serving() as server:
        (done,) = crawl(
            Plan(
                "policies_spiders.Part",
                {**NEAREST_FIRST, **settings, "CLOSESPIDER_PAGECOUNT": NOT_FOR_EVER},
                {"start": " ".join(server.url + door for door in doors), "within": part.prefix},
            )
        )
    assert len(inside(done, part)) == len(doors) + budget * part.links
    assert done.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("kind", ["month", "finder"])
def test_without_a_budget_a_trap_goes_on(
    traps: dict[tuple[str, str], Crawl], truth: AnnexTruth, kind: str
) -> None:
    (part,) = (part for part in truth.endless if part.kind == kind)
    assert len(inside(traps[kind, "none"], part)) > 1 + max(BUDGETS) * part.links
    assert traps[kind, "none"].stats["finish_reason"] == "closespider_pagecount"
