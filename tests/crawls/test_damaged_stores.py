"""A crawl with one damaged record in the store: its page is unknown, and all others are compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crawls.harness import IN_ORDER, Crawl, Plan, crawl
from tests.crawls.site import article, serve
from tests.store.redis.stores import admin
from tests.store.server import RedisServer

ROUTES = {"/a": article(0), "/b": article(1), "/c": article(2), "/copy": article(1)}


def in_sqlite(settings: dict[str, Any]) -> None:
    with closing(sqlite3.connect(Path(settings["SIMHASH_STORE"]) / "visitor.sqlite")) as connection:
        connection.execute("UPDATE pages SET last_seen = 'late' WHERE url LIKE '%/a'")
        connection.commit()


def in_redis(settings: dict[str, Any]) -> None:
    client, name = admin(settings["SIMHASH_STORE"].partition("?")[0]), "visitor:simhash:pages"
    for key, record in client.hgetall(name).items():
        if record.endswith(b"/a"):
            client.hset(name, key, record[:50])


@pytest.mark.parametrize("damage", [in_sqlite, in_redis])
def test_a_damaged_record_affects_one_page(
    damage: Callable[[dict[str, Any]], None], server: RedisServer, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        **IN_ORDER,
        "SIMHASH_ACTION": "drop_page",
        "SIMHASH_REVISIT_ACTION": "drop_page",
    }
    settings["SIMHASH_STORE"] = (
        f"{server.url}?prefix=visitor:simhash" if damage is in_redis else str(tmp_path)
    )
    with serve(ROUTES) as site:
        urls = {"urls": site.urls("/a", "/b", "/c", "/copy")}
        (first,) = crawl(Plan("Visitor", settings, urls))
        assert first.verdicts["/copy"] == "near_duplicate"
        damage(settings)
        second: Crawl
        (second,) = crawl(Plan("Visitor", settings, urls))
    # Unchanged pages were dropped; the damaged one may have changed, so it is kept.
    assert second.stat("dropped/items") == 3
    assert second.stat("revisits/unchanged") == 3
    assert second.page("/a").marks["status"] == "unknown"
    assert (second.stat("errors/store"), second.stat("errors/record")) == (1, 1)
    assert second.complaints == []
    (warned,) = second.log("WARNING", "scrapy_simhash")
    assert "damaged" in warned
