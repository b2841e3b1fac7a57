"""A crawler that never crawls, for what needs no reactor: settings, signals, stats, fingerprints."""

from types import SimpleNamespace
from typing import Any, cast

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter


def stand_in(*, is_crawling: bool = True, **settings: Any) -> Crawler:
    """Return a stand-in whose settings are Scrapy's defaults and *settings*, in lower case."""
    crawler = SimpleNamespace(
        settings=Settings({f"SIMHASH_{name.upper()}": value for name, value in settings.items()}),
        signals=SignalManager(),
        request_fingerprinter=RequestFingerprinter(),
        spider=Spider(name="stand-in"),
        crawling=is_crawling,
    )
    crawler.stats = MemoryStatsCollector(cast("Crawler", crawler))
    return cast("Crawler", crawler)


def simhash_stats(crawler: Crawler) -> dict[str, Any]:
    """Return our stats without their prefix."""
    stats: dict[str, Any] = cast("Any", crawler).stats.get_stats()
    return {name.partition("/")[2]: n for name, n in stats.items() if name.startswith("simhash/")}
