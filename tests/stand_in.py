"""A crawler that never crawls, for tests without a reactor."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from unittest.mock import patch

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.logformatter import LogFormatter
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter

from scrapy_simhash import Config, SimhashSpiderMiddleware
from scrapy_simhash.crawl import reader
from scrapy_simhash.crawl.delivery import Deliveries
from scrapy_simhash.crawl.store_session import StoreSession
from scrapy_simhash.crawling import share, shared

T = TypeVar("T")


class StandIn(SimpleNamespace):
    """Supports weak references, so that signals do not reach other stand-ins."""


def stand_in(*, is_crawling: bool = True, **settings: Any) -> Crawler:
    """Return a fake crawler with Scrapy's default settings and *settings*, whose names are in lower case and without
    ``SIMHASH_``.
    """
    crawler = StandIn(
        settings=Settings({f"SIMHASH_{name.upper()}": value for name, value in settings.items()}),
        request_fingerprinter=RequestFingerprinter(),
        spider=Spider(name="stand-in"),
        crawling=is_crawling,
        logformatter=LogFormatter(),
    )
    crawler.signals = SignalManager(crawler)
    crawler.stats = MemoryStatsCollector(cast("Crawler", crawler))
    return cast("Crawler", crawler)


def acting(crawler: Crawler) -> SimhashSpiderMiddleware:
    """Return the spider middleware of *crawler*, with its downloader middleware if it has one."""
    if shared(crawler, Deliveries) is None:
        session = StoreSession(crawler, Config.from_settings(crawler.settings))
        share(crawler, Deliveries(crawler, session))
    return SimhashSpiderMiddleware.from_crawler(crawler)


def left_of(subject: SimhashSpiderMiddleware, one: Any, page: Response) -> Any:
    """Return an item or request of *page* after the spider middleware; the text of *page* is delivered."""
    return subject._left_of(one, page, None, None)


def read_in_threads() -> AbstractContextManager[Any]:
    """Read pages of any size in a thread."""
    return patch.object(reader, "THREAD_SIZE", 0)


def simhash_stats(crawler: Crawler) -> dict[str, Any]:
    """Return the plugin's stats without their prefix."""
    stats: dict[str, Any] = cast("Any", crawler).stats.get_stats()
    return {name.partition("/")[2]: n for name, n in stats.items() if name.startswith("simhash/")}


def in_loop(call: Callable[[], T]) -> T:
    """Return the result of *call* while an event loop runs, as in a crawl: signals need an event loop."""

    async def called() -> T:
        returned = call()
        await asyncio.sleep(0)  # handlers run in the next iteration
        return returned

    return asyncio.run(called())
