"""Near-duplicate items in real crawls are marked or dropped, remembered, and never lost by mistake."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.harness import (
    ENABLED,
    IN_ORDER,
    WITHOUT_REACTOR,
    Crawl,
    Plan,
    crawl,
    killed,
    make_project,
    scrapy,
)
from tests.crawls.site import Site, article, serve
from tests.store.server import RedisServer

PIPELINE = "tests.crawls.items_spiders."
FIELDS = ["title", "body"]
#: Items are compared, and near-duplicates dropped.
DROP = {**IN_ORDER, "SIMHASH_ITEM_FIELDS": FIELDS, "SIMHASH_ITEM_ACTION": "drop_items"}
PATHS = ("/first", "/near", "/same", "/other")


@pytest.fixture
def site() -> Iterator[Site]:
    first = article(0)
    near = first.replace("</p>", " And the tide was late that night.</p>", 1)
    with serve({"/first": first, "/near": near, "/same": first, "/other": article(1)}) as site:
        yield site


def plan(site: Site, settings: dict[str, Any], *paths: str, **arguments: Any) -> Plan:
    return Plan("items_spiders.Shop", settings, {"urls": site.urls(*(paths or PATHS)), **arguments})


def visit(site: Site, settings: dict[str, Any], *paths: str, **arguments: Any) -> Crawl:
    (done,) = crawl(plan(site, settings, *paths, **arguments))
    assert done.complaints == []
    return done


def item_stats(done: Crawl) -> dict[str, int]:
    stats = done.simhash_stats.items()
    return {name.removeprefix("items/"): n for name, n in stats if name.startswith("items/")}


def test_near_duplicate_items_are_dropped_and_reported(site: Site) -> None:
    done = visit(site, {**DROP, "SIMHASH_ITEM_KEY": "path"})
    assert done.paths_scraped == ["/first", "/other"]
    assert item_stats(done) == {"new": 2, "near_duplicates": 2, "exact": 1, "dropped": 2}
    assert done.stats["item_dropped_count"] == 2
    assert done.stats["item_dropped_reasons_count/NearDuplicateItem"] == 2
    # Pages are not affected.
    assert done.stat("dropped/items") == 0
    assert len(done.pages) == 4
    near, near_dropped, same, same_dropped = done.notes
    assert (near, same) == (
        {"item": "/near", "repeats": "/first", "exact": False},
        {"item": "/same", "repeats": "/first", "exact": True},
    )
    assert same_dropped == {"dropped": "/same", "duplicate_of": "/first", "evidence": [0, 1.0]}
    distance, similarity = near_dropped["evidence"]
    assert 0 <= distance <= 10
    assert 0.8 <= similarity < 1
    dropped = [line for line in done.log("DEBUG") if "Dropped: is a near-duplicate of" in line]
    assert (
        f"Dropped: is a near-duplicate of /first (distance {distance}, similarity {similarity:.2f})"
        in dropped[0]
    )
    assert "Dropped: is a near-duplicate of /first (exactly)" in dropped[1]
    log = "\n".join(done.log("INFO", "scrapy_simhash"))
    assert "Comparing items by title (weight 1), body (weight 1), action: drop" in log
    assert "Items: 2 new, 2 near-duplicates, 0 revisits; 2 dropped, 0 skipped, 0 errors" in log


@pytest.mark.parametrize("pipeline", ["Leak", "Refusal"])
@pytest.mark.parametrize("store", ["memory", "tests.store.remote.RemoteStore"])
def test_an_item_lost_in_another_pipeline_does_not_drop_its_copies(
    site: Site, pipeline: str, store: str
) -> None:
    leaking = {"SIMHASH_ITEM_KEY": "path", "ITEM_PIPELINES": {PIPELINE + pipeline: 100}}
    settings = {**DROP, **leaking, "SIMHASH_STORE": store}
    (done,) = crawl(plan(site, settings))
    assert done.paths_scraped == ["/near", "/other"]
    assert item_stats(done) == {"new": 3, "near_duplicates": 1, "dropped": 1}


@pytest.mark.parametrize("store", ["memory", "tests.store.remote.RemoteStore"])
def test_of_equal_items_in_a_slow_pipeline_one_is_kept(site: Site, store: str) -> None:
    settings = {**DROP, "SIMHASH_STORE": store, "ITEM_PIPELINES": {PIPELINE + "Slow": 100}}
    done = visit(site, settings, "/first", times=5)
    assert done.paths_scraped == ["/first"]
    assert item_stats(done) == {"new": 1, "near_duplicates": 4, "exact": 4, "dropped": 4}


def test_a_resumed_job_knows_its_items(site: Site, tmp_path: Path) -> None:
    job = {**DROP, "JOBDIR": str(tmp_path)}
    first, second = crawl(plan(site, job, "/first"), plan(site, job, "/near", "/other", "/first"))
    assert first.complaints == second.complaints == []
    assert second.paths_scraped == ["/other"]
    folder = tmp_path / "simhash"
    assert {file.name for file in folder.glob("*.sqlite")} == {"shop.sqlite", "shop.items.sqlite"}
    log = second.log("INFO", "scrapy_simhash")
    assert any(f"store: {folder / 'shop.items.sqlite'} (1 item known)" in line for line in log)


def test_items_not_scraped_before_a_kill_are_delivered_again_once(site: Site, tmp_path: Path) -> None:
    settings = {**DROP, "SIMHASH_STORE": str(tmp_path)}
    dying = {**settings, "ITEM_PIPELINES": {PIPELINE + "Kill": 100}}
    killed("items_spiders.Shop", dying, urls=site.urls("/first", "/other"))
    after, later = crawl(*[plan(site, settings, *PATHS, "/first")] * 2)
    assert after.complaints == later.complaints == []
    assert after.paths_scraped == ["/other"], "the item of /first was scraped before the kill"
    assert later.paths_scraped == []


def test_a_crawl_that_failed_to_start_releases_both_files(site: Site, tmp_path: Path) -> None:
    settings = {**DROP, "SIMHASH_STORE": str(tmp_path)}
    failing = {**settings, "ITEM_PIPELINES": {"tests.crawls.spiders.Failing": 100}}
    failed, after = crawl(plan(site, failing, "/first"), plan(site, settings, "/first"))
    assert failed.error == "it cannot be opened"
    assert after.complaints == []
    assert after.paths_scraped == ["/first"]


@pytest.mark.parametrize("store", ["Moody", "Remote"])
def test_items_pass_while_a_store_does_not_answer(site: Site, store: str) -> None:
    settings = {**DROP, "SIMHASH_STORE": f"tests.crawls.stores.{store}"}
    # Items of one page, which come one after the other.
    done = visit(site, settings, "/same", times=7)
    assert done.paths_scraped == ["/same"] * 3, "the first one, and two that could not be compared"
    assert item_stats(done)["errors"] == 2
    warnings = [line for line in done.log("WARNING", "scrapy_simhash") if "Items are not compared" in line]
    assert len(warnings) == 2, "once per failure"
    assert "simhash/items/errors" in warnings[0]
    # One item was neither compared nor stored.
    assert any("answers again; 2 items not compared" in line for line in done.log("INFO", "scrapy_simhash"))


@pytest.mark.parametrize("pipelines", [{}, {PIPELINE + "Slow": 100}])
def test_an_item_stored_while_a_remote_store_replies_is_found(site: Site, pipelines: dict[str, int]) -> None:
    # With CONCURRENT_ITEMS the two items of a page are looked up at the same time.
    store = {"SIMHASH_STORE": "tests.crawls.stores.Late", "ITEM_PIPELINES": pipelines, "CONCURRENT_ITEMS": 2}
    done = visit(site, {**DROP, **store}, "/first", times=2)
    assert done.paths_scraped == ["/first"]


def test_commands_for_single_pages_drop_no_item_and_store_nothing(site: Site, tmp_path: Path) -> None:
    settings = {**DROP, "SIMHASH_STORE": str(tmp_path / "seen")}
    make_project(tmp_path, **ENABLED, **settings, SPIDER_MODULES=["tests.crawls.items_spiders"])
    crawl(plan(site, settings, "/first"))
    files = sorted((tmp_path / "seen").glob("*.sqlite"))
    before = [file.read_bytes() for file in files]
    for _ in range(2):
        done = scrapy("parse", "--spider=shop", "--pipelines", "--nocolour", site.url("/same"), cwd=tmp_path)
        assert "'path': '/same'" in done.stdout, done.stderr
        assert "action: mark (this command does not crawl)" in done.stderr
        assert f"store: {tmp_path / 'seen' / 'shop.items.sqlite'} (1 item known, read-only)" in done.stderr
        assert "'simhash/items/near_duplicates': 1" in done.stderr
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("reactor", ["asyncio", WITHOUT_REACTOR])
def test_crawlers_that_share_redis_share_their_items(server: RedisServer, site: Site, reactor: str) -> None:
    settings = {**DROP, "SIMHASH_STORE": f"{server.url}?prefix=shared"}
    first, second = crawl(plan(site, settings, "/first"), plan(site, settings), reactor=reactor)
    assert first.complaints == second.complaints == []
    assert first.paths_scraped == ["/first"]
    assert second.paths_scraped == ["/other"]
    assert any("store: 'shared:items' at redis://" in line for line in second.log("INFO"))
