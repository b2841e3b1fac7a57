"""What crawlers find out about hosts is joined in their store, whoever writes first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.utils.test import get_crawler

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.observers.recrawl.trust import Trust, TrustedHosts
from scrapy_simhash.store import Store
from tests.store.redis.stores import eventually, opened, waits
from tests.store.server import RedisServer

SITES = [f"host{number}.example" for number in range(40)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    pytest.importorskip("redis")
    with RedisServer(tmp_path_factory.mktemp("redis"), appendonly="no") as server:
        yield server


async def lost(store: Store, site: str) -> Trust | None:
    """Return what a crawler that comes new is told of a host."""
    hosts = TrustedHosts(store, get_crawler())
    await hosts.meet(site)
    host = hosts.find(site)
    return None if host is None else host.trust


async def crawler(store: Store, trust: Trust) -> TrustedHosts:
    """Return what a crawler has found out about hosts that it met before the store knew anything."""
    hosts = TrustedHosts(store, get_crawler())
    for site in SITES:
        await hosts.meet(site)
    for site in SITES:
        hosts.lower(f"https://{site}/", trust)
    return hosts


@pytest.mark.parametrize("trusts", [(Trust.LIED, Trust.DATES), (Trust.DATES, Trust.LIED)])
@waits
async def test_two_crawlers_that_tell_at_once_lose_no_finding(
    server: RedisServer, trusts: tuple[Trust, Trust]
) -> None:
    prefix = "-".join(trust.value for trust in trusts)
    async with opened(server.url, prefix) as one, opened(server.url, prefix) as other:
        crawlers = [await crawler(one, trusts[0]), await crawler(other, trusts[1])]
        await asyncio.gather(*(hosts.tell() for hosts in crawlers))
        assert {await lost(one, site) for site in SITES} == {Trust.LIED}


@waits
async def test_what_a_store_that_was_away_was_not_told_it_is_told_the_next_time(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        async with opened(server.url, "away") as store:
            hosts = await crawler(store, Trust.LIED)
            server.kill()
            with pytest.raises(StoreUnavailable):
                await hosts.tell()
            server.start()
            await eventually(hosts.tell)
            assert {await lost(store, site) for site in SITES} == {Trust.LIED}
