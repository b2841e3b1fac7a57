"""SlowPages: which pages took much of the event loop's time, while nothing else could go on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.crawl.stats import stats_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds that the work on one page may take.
BUDGET = 0.05


class SlowPages:
    """Counts the pages above `BUDGET`, and remembers the slowest."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = stats_of(crawler)
        self._longest = BUDGET
        self._slowest: str | None = None

    def note(self, url: str, seconds: float) -> None:
        """Take note of a page that took *seconds* of the loop's time; waits and Scrapy's parse are none of it."""
        if seconds <= BUDGET:
            return
        self._stats.inc_value(names.STAT_SLOW_PAGES)
        if seconds > self._longest:
            self._longest, self._slowest = seconds, url

    def spider_closed(self, spider: Spider) -> None:
        """Log the slowest page, if any was slow."""
        if self._slowest is None:
            return
        logger.info(
            "Pages that took more than %(budget)d ms of the event loop: %(pages)d (stat %(stat)s); the slowest took"
            " %(longest)d ms: %(url)s",
            {
                "budget": BUDGET * 1000,
                "pages": self._stats.get_value(names.STAT_SLOW_PAGES),
                "stat": names.STAT_SLOW_PAGES,
                "longest": self._longest * 1000,
                "url": self._slowest,
            },
            extra={"spider": spider},
        )
