"""Deliveries in a Redis store: shared by crawlers, and passed over for pages that a server has lost."""

from __future__ import annotations

from scrapy_simhash import Config, NearDuplicateDetector
from scrapy_simhash.detector import header_for
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.redis import RedisStore
from tests.store.redis.stores import eventually, opened, waits
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
async def test_a_delivery_of_a_page_that_an_emptied_server_does_not_know_is_passed_over(
    server: RedisServer,
) -> None:
    async with opened(server.url, "p", header_for(CONFIG)) as store:
        detector = detector_of(store)
        await detector.conclude_async(reading(1, 1), URLS[1])
        detector.deliver(URLS[1].encode(), reading(1, 1).page_hash)
        server.kill()
        server.forget()
        server.start()
        await eventually(detector.flush_async)
        assert await store.get(URLS[1].encode()) is None


@waits
async def test_crawlers_share_what_they_have_delivered(shared: RedisServer, prefix: str) -> None:
    header = header_for(CONFIG)
    async with opened(shared.url, prefix, header) as first, opened(shared.url, prefix, header) as second:
        one, other = detector_of(first), detector_of(second)
        for number in range(3):
            await one.conclude_async(reading(number, 1), URLS[number])
        one.deliver(URLS[0].encode(), reading(0, 1).page_hash)
        one.deliver(URLS[1].encode(), reading(1, 1).page_hash)
        await one.flush_async()
        verdicts = [
            await other.conclude_async(reading(number, version), URLS[number])
            for number, version in ((0, 1), (1, 2), (2, 1))
        ]
        assert [verdict.is_delivered for verdict in verdicts] == [True, False, False]
        # Its own deliveries are of this run.
        assert not (await one.conclude_async(reading(0, 1), URLS[0])).is_delivered
        page = await second.get(URLS[0].encode())
        assert page is not None
        assert page.delivered == 1
        changed = await second.get(URLS[1].encode())
        assert changed is not None
        assert changed.delivered is None, "it has another text since"
