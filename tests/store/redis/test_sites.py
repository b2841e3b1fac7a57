"""Learned data about sites is shared through the server and not lost."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

import pytest

from scrapy_simhash.notes import SITE
from scrapy_simhash.page.fingerprint import sketch, title_key_number
from scrapy_simhash.page.site import SiteProfile, SiteProfiles
from scrapy_simhash.store.redis import RedisStore
from tests.page.site.test_table import packed
from tests.store.redis.stores import after_each_command, eventually, opened, waits
from tests.store.server import RedisServer

HOST, URL = "a.example", "https://a.example/page"
PIECES = packed([2, 4, 6, 9])


#: Sketches of 64 title keys with a different bit each.
TITLE_KEYS = list(
    {
        title_key_number(found) & 63: found
        for found in (sketch([1, 2, 3], [f"title_key{number}"]) for number in range(2_000))
    }.values()
)


async def taught(shared: SiteProfiles, abouts: list[bytes], url: str = URL) -> None:
    await shared.load(url)
    for about in abouts:
        shared.learn(url, PIECES, about)


async def profile_of(store: RedisStore, host: str = HOST) -> SiteProfile:
    _, data = await store.note(SITE, host)
    assert data is not None
    return SiteProfile.from_bytes(data)


@waits
async def test_concurrent_pages_of_a_host_load_its_model_once(
    shared: RedisServer, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(shared.url, prefix) as store:
        await taught(teacher := SiteProfiles(store), TITLE_KEYS)
        await teacher.share()
        commands = Counter[str]()
        after_each_command(store, monkeypatch, lambda name: commands.update([name]))
        learner = SiteProfiles(store)
        loads = [asyncio.ensure_future(learner.load(f"https://{HOST}/{number}")) for number in range(20)]
        await asyncio.sleep(0)
        loads[0].cancel()
        await asyncio.gather(*loads, return_exceptions=True)
        await learner.load(URL)
        assert learner.of(URL).is_known
        assert commands == {"HGET": 1}
        # Unchanged data is not written; changed data is written once.
        await learner.share()
        await taught(learner, TITLE_KEYS[:1])
        await learner.share()
        assert commands == {"HGET": 2, "replace_note": 1}


@waits
async def test_an_outage_loses_no_learned_data(server: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(server.url, "p") as store:
        learner = SiteProfiles(store)
        await taught(learner, TITLE_KEYS[:3])
        await learner.share()
        server.kill()
        await taught(learner, TITLE_KEYS[3:10])
        await taught(learner, TITLE_KEYS, "https://unknown.example/")
        assert learner.of(URL).is_known, "the profile in memory is still used"
        assert not learner.of("https://unknown.example/").is_known
        await learner.share()
        server.start()
        await eventually(store.runs)
        await learner.load("https://unknown.example/")
        await learner.share()
        assert (await profile_of(store)).pages == 10
        assert [host async for host, _ in store.notes(SITE)] == [HOST]
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
