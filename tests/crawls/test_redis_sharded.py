"""Crawls whose store is on several servers: pages are compared within their scope, and one server may be away."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("redis", reason="redis is not installed")
from scrapy_simhash.store.redis.sharded import shard_of
from tests.crawls.harness import IN_ORDER, crawl_one
from tests.crawls.site import article, serve
from tests.store.server import RedisServer

SHARDS = 12
#: Names of sections: of shards at the first server, and of shards at the second one.
FIRST, SECOND = (
    [name for name in map(str, range(40)) if shard_of(name, SHARDS) % 2 == which][:3] for which in (0, 1)
)
PAGES = {f"/{section}/{name}": article(0) for section in (*FIRST, *SECOND) for name in ("a", "b")}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


def section_of(url: str) -> str:
    """Return the scope of a page: the first part of its path."""
    return urlsplit(url).path.split("/")[1]


def settings(*urls: str, **more: Any) -> dict[str, Any]:
    return {
        **IN_ORDER,
        "SIMHASH_REDIS_URL": " ".join(urls),
        "SIMHASH_REDIS_SHARDS": SHARDS,
        "SIMHASH_SCOPE": "tests.crawls.test_redis_sharded.section_of",
        **more,
    }


def two_of(server: RedisServer) -> tuple[str, str]:
    url = server.url.rpartition("/")[0]
    return f"{url}/0", f"{url}/1"


def test_a_crawl_compares_within_scopes_and_names_exact_copies_elsewhere(shared: RedisServer) -> None:
    more = {"SIMHASH_ACROSS_SCOPES": True, "SIMHASH_REDIS_PREFIX": "sharded"}
    with serve(PAGES) as site:
        done = crawl_one("Visitor", settings(*two_of(shared), **more), urls=site.urls(*PAGES))
        again = crawl_one("Visitor", settings(*two_of(shared), **more), urls=site.urls(*PAGES))
    assert done.complaints == again.complaints == []
    assert set(done.verdicts.values()) == {"new", "near_duplicate"}
    assert {path for path, verdict in done.verdicts.items() if verdict == "new"} == {
        path for path in PAGES if path.endswith("/a")
    }
    first = site.url(next(iter(PAGES)))
    elsewhere = {page.path: page.marks.get("elsewhere") for page in done.pages}
    assert elsewhere == {path: None if path.startswith(f"/{FIRST[0]}/") else first for path in PAGES}
    assert set(again.verdicts.values()) == {"revisit/unchanged"}
    assert any(f"({len(PAGES)} pages known)" in line for line in again.log("INFO"))


def test_one_server_that_is_away_costs_only_its_scopes_and_one_warning(
    server: RedisServer, shared: RedisServer
) -> None:
    server.kill()
    with serve(PAGES) as site:
        done = crawl_one("Visitor", settings(shared.url, server.url), urls=site.urls(*PAGES))
    assert done.complaints == []
    assert len(done.items) == len(PAGES)
    away = {path for path, verdict in done.verdicts.items() if verdict == "unknown/store"}
    assert away == {path for path in PAGES if path.split("/")[1] in SECOND}
    assert done.stat("store_errors") == len(away)
    # One at the start of the outage, and one at the end of the crawl: its runs there did not end.
    assert len(done.log("WARNING", "scrapy_simhash")) <= 2


def test_the_scope_of_a_whole_crawl_is_refused(shared: RedisServer) -> None:
    with serve({"/a": article(0)}) as site:
        done = crawl_one("Visitor", settings(*two_of(shared), SIMHASH_SCOPE="crawl"), urls=site.urls("/a"))
    assert "with SIMHASH_SCOPE = 'crawl' all pages have the same" in str(done.error)
