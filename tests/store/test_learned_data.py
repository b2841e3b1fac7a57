"""A crawl stores what it has learned about sites while it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.lib.kinds import kind_named, make_site
from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.notes import SITE
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.store import Store
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.waiting import maybe_await
from tests.store.server import RedisServer


async def learned(store: Store, reader: Store) -> int:
    """Return the number of pages whose learned data is stored before the crawl ends."""
    detector = NearDuplicateDetector(store=store)
    pages = make_site(kind_named("exercises"), 1, 1).originals()
    for number in range(600):
        url = f"https://jobs.example/{number}"
        await detector.load_site(url)
        await detector.conclude_async(detector.read(pages[number % len(pages)].html, url), url)
    _, data = await maybe_await(reader.note(SITE, "jobs.example"))
    for one in (store, reader):
        await maybe_await(one.close())
    assert data is not None
    profile = SiteProfile.from_bytes(data)
    assert profile.is_known
    return profile.pages


def test_the_data_of_all_but_the_last_500_pages_is_stored(tmp_path: Path) -> None:
    path, header = tmp_path / "pages.sqlite", header_for(Config())
    writer = SqliteStore(path, header)
    assert 100 <= asyncio.run(learned(writer, SqliteStore(path, read_only=True))) <= 600


def test_the_data_is_stored_in_redis(shared: RedisServer, prefix: str) -> None:
    from scrapy_simhash.store.redis import RedisStore

    reader = RedisStore(shared.url, prefix, None, read_only=True)
    writer = RedisStore(shared.url, prefix, header_for(Config()))
    assert 100 <= asyncio.run(learned(writer, reader)) <= 600
