"""Two crawlers on one page: what one takes back must not touch what the other has found meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import Config, NearDuplicateDetector, Reason
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.redis import RedisStore
from tests.store.redis.stores import eventually, link_of, opened, waits
from tests.store.server import RedisServer

CONFIG = Config()
URLS = [f"https://example.com/{number}" for number in range(50)]


def reading(number: int, version: int) -> Reading:
    """Return what page *number* says: another text in each version."""
    value = (number * 0x9E37_79B9_7F4A_7C15 ^ version * 0xFFFF_0000) % 2**64
    return Reading(Fingerprint(value), value)


def detector_of(store: RedisStore) -> NearDuplicateDetector:
    return NearDuplicateDetector(CONFIG, store)


@waits
async def test_another_crawler_s_visit_is_not_overwritten_by_what_is_not_settled(
    shared: RedisServer, prefix: str
) -> None:
    header = header_for(CONFIG)
    async with (
        opened(shared.url, prefix, header) as first,
        opened(shared.url, prefix, header) as second,
        opened(shared.url, prefix, header) as third,
    ):
        one, other, later = map(detector_of, (first, second, third))
        for number, url in enumerate(URLS):
            await one.conclude_async(reading(number, 1), url)
        for url in URLS:
            # Its callback failed.
            one.unsettle(url.encode())
        versions = [1] * len(URLS)
        ask = link_of(first).ask

        async def asked_in_between(name: str, *arguments: Any) -> Any:
            """Let the other crawler visit a page whenever a command about it is about to be sent."""
            for number, url in enumerate(URLS):
                if url.encode() in arguments:
                    versions[number] += 1
                    await other.conclude_async(reading(number, versions[number]), url)
            return await ask(name, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(link_of(first), "ask", asked_in_between)
            await one.flush_async()
        assert min(versions) > 1
        reasons = [
            (await later.conclude_async(reading(number, version), url)).reason
            for (number, url), version in zip(enumerate(URLS), versions, strict=True)
        ]
        assert reasons == [Reason.UNCHANGED] * len(URLS)
        await first.close()
        await second.close()
        settled = [
            (await later.conclude_async(reading(n, versions[n]), url)).is_confirmed
            for n, url in enumerate(URLS)
        ]
        assert not any(settled), "the third crawler, which goes on, was the last to hand them on"


@waits
async def test_a_server_that_was_emptied_meanwhile_is_told_nothing_of_pages_that_it_does_not_know(
    server: RedisServer,
) -> None:
    async with opened(server.url, "p", header_for(CONFIG)) as store:
        detector = detector_of(store)
        await detector.conclude_async(reading(1, 1), URLS[1])
        detector.unsettle(URLS[1].encode())
        server.kill()
        server.forget()
        server.start()
        await eventually(detector.flush_async)
        assert await store.get(URLS[1].encode()) is None


@pytest.mark.parametrize("idle", [0, 0.05], ids=["noticed by a question", "noticed before"])
@waits
async def test_what_a_server_has_lost_of_it_when_it_died_is_told_again(
    server: RedisServer, tmp_path: Path, idle: float
) -> None:
    header = header_for(CONFIG)
    async with opened(server.url, "p", header) as store:
        detector = detector_of(store)
        for number in range(3):
            await detector.conclude_async(reading(number, 1), URLS[number])
        server.kill()
        server.keep(tmp_path / "kept")
        server.start()
        detector.unsettle(URLS[1].encode())
        await eventually(detector.flush_async)
        # As if the last second had never been written.
        server.kill()
        server.forget(tmp_path / "kept")
        server.start()
        await asyncio.sleep(idle)
        await store.close()
    async with opened(server.url, "p", header) as store:
        kept = [await store.get(url.encode()) for url in URLS[:3]]
        assert [page and page.posting.is_delivered for page in kept] == [True, False, True]


@waits
async def test_a_run_of_which_the_server_has_lost_contents_settles_nothing_that_came_before(
    server: RedisServer, tmp_path: Path
) -> None:
    header = header_for(CONFIG)
    async with opened(server.url, "p", header) as store:
        detector = detector_of(store)
        await detector.conclude_async(reading(0, 1), URLS[0])
        server.kill()
        server.keep(tmp_path / "kept")
        server.start()
        await eventually(store.runs)
        await detector.conclude_async(reading(1, 1), URLS[1])
        server.kill()
        server.forget(tmp_path / "kept")
        server.start()
        await eventually(store.runs)
        await detector.conclude_async(reading(2, 1), URLS[2])
        await store.close()
    async with opened(server.url, "p", header) as store:
        assert [run.ended is None for run in await store.runs()] == [True, False, True]
        first, last = [await store.get(url.encode()) for url in (URLS[0], URLS[2])]
        assert first is not None
        assert last is not None
        assert (first.posting.is_delivered, last.posting.is_delivered) == (False, True)
