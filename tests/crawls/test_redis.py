"""Crawls that share a store in Redis, and its outages."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("redis")

from tests.crawls.harness import IN_ORDER, Plan, crawl, crawl_one
from tests.crawls.site import Routes, Site, article, serve
from tests.store.server import RedisServer


@pytest.fixture
def site() -> Iterator[Site]:
    with serve({"/first": article(0), "/copy": article(0), "/other": article(1)}) as site:
        yield site


def shared(server: RedisServer, more: str = "") -> dict[str, Any]:
    return {"SIMHASH_STORE": f"{server.url}?prefix=shared{more}"}


@pytest.mark.slow("it waits until the crawl connects again")
def test_a_server_that_is_down_for_a_time_loses_no_page(server: RedisServer) -> None:
    def stop(visit: int) -> str:
        server.kill()
        return article(2)

    def start(visit: int) -> str:
        server.start()
        # Longer than the crawl waits before it tries again.
        time.sleep(2)
        return article(0)

    def later(visit: int) -> str:
        # The crawl connects again while this page is being downloaded.
        time.sleep(4)
        return article(0)

    routes: Routes = {
        "/first": article(0),
        "/stop": stop,
        "/away": article(0),
        "/start": start,
        "/later": later,
        "/copy": article(0),
    }
    with serve(routes) as site:
        done = crawl_one("Visitor", {**IN_ORDER, **shared(server)}, urls=site.urls(*routes))
    assert done.complaints == []
    assert done.verdicts == {
        "/first": "new",
        "/stop": "unknown/store",
        "/away": "unknown/store",
        "/start": "unknown/store",
        "/later": "near_duplicate",
        "/copy": "near_duplicate",
    }
    assert len(done.items) == 6
    assert done.stat("errors/store") == 3
    assert len(done.log("WARNING", "scrapy_simhash")) == 1
    assert any("answers again; 3 pages" in line for line in done.log("INFO", "scrapy_simhash"))


def test_a_crawl_starts_and_ends_without_its_server(server: RedisServer, site: Site) -> None:
    server.kill()
    done = crawl_one("Visitor", shared(server), urls=site.urls("/first", "/copy"))
    assert done.complaints == []
    assert done.verdicts == {"/first": "unknown/store", "/copy": "unknown/store"}
    assert len(done.items) == 2
    assert done.stats["finish_reason"] == "finished"
    assert len(done.log("WARNING", "scrapy_simhash")) == 1

    (line,) = (line for line in done.log("INFO", "scrapy_simhash") if "not compared (status unknown)" in line)
    assert f"at redis://127.0.0.1:{server.port}/0 does not answer: " in line
    assert line.endswith("add required=true to SIMHASH_STORE")
    lines = [line for line in done.log("INFO", "scrapy_simhash") if "Marking near-duplicates" not in line]
    assert not any("known" in line and "unknown" not in line for line in lines)


@pytest.mark.parametrize(
    ("trouble", "timeout", "reason"),
    [
        (RedisServer.kill, 60, "Connection refused|Error 111"),  # redis-py 5.0 includes the error number
        (RedisServer.pause, 0.5, "Timeout"),
    ],
    ids=["away", "standing still"],
)
def test_a_crawl_that_requires_its_server_stops_before_any_request(
    tmp_path: Path, site: Site, trouble: Callable[[RedisServer], None], timeout: float, reason: str
) -> None:
    with RedisServer(tmp_path, requirepass="secret") as server:
        trouble(server)
        place = f"127.0.0.1:{server.port}"
        url = f"redis://:secret@{place}/0?socket_timeout={timeout}"
        stores = [{"SIMHASH_STORE": f"{url}&required=true"}, {"SIMHASH_STORE": url}]
        arguments = {"urls": site.urls("/first")}
        required, not_required = crawl(*(Plan("Visitor", store, arguments) for store in stores))
    assert required.error is not None
    assert required.error.startswith(
        "SIMHASH_STORE has required=true, but the store 'simhash:visitor' at"
        f" redis://{place}/0 does not answer: "
    )
    assert re.search(reason, required.error)
    assert required.error.endswith(
        "Start the server, correct SIMHASH_STORE, or remove required=true to crawl without it"
    )
    assert "secret" not in required.error
    assert (required.pages, required.stats.get("downloader/request_count", 0)) == ([], 0)
    assert (not_required.error, not_required.verdicts) == (None, {"/first": "unknown/store"})


def test_items_also_require_the_server(server: RedisServer, site: Site) -> None:
    server.kill()
    # Without the downloader middleware, which would require the server before.
    settings = {
        **shared(server, "&required=true"),
        "SIMHASH_ITEM_FIELDS": ["url"],
        "ITEM_PIPELINES": {"scrapy_simhash.SimhashItemPipeline": 1},
    }
    (done,) = crawl(Plan("Visitor", settings, {"urls": site.urls("/first")}, is_enabled=False))
    assert done.error is not None
    assert done.error.startswith("SIMHASH_STORE has required=true, but the store 'shared:items' at ")
    assert done.pages == []
