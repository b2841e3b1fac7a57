"""Monitors for Spidermon: what scrapy-simhash counted in a crawl, held against limits.

The limits are settings of the project; beside each monitor stands what holds where there is none. Shares are 0 to 1.
"""

from __future__ import annotations

from abc import abstractmethod

from spidermon import MonitorSuite  # type: ignore[import-untyped]
from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor  # type: ignore[import-untyped]

#: Pages that have a text to be compared, but were not: too little of it, too much, or only a part.
UNREAD = ("short_text", "too_large", "truncated")


class SimhashMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Fails if a number is above the limit that *setting* names."""

    setting: str
    default: float = 0

    def test_limit(self) -> None:
        """Spidermon calls what begins with test."""
        limit = self.crawler.settings.getfloat(self.setting, self.default)
        number = self.number()
        if number > limit:
            raise self.failureException(f"{number:.3g} is more than {self.setting} = {limit:.3g}")

    @abstractmethod
    def number(self) -> float:
        """Return what is held against the limit."""

    def count(self, name: str) -> int:
        """Return a stat of ours. One that is absent is 0."""
        return int(self.stats.get(f"simhash/{name}", 0))


class NearDuplicatesMonitor(SimhashMonitor):
    """Too many near-duplicates: a trap, a session id in the URLs, a site that was rebuilt."""

    setting = "MONITOR_MAX_NEAR_DUPLICATES"
    default = 0.5

    def number(self) -> float:
        """Return the share of near-duplicates among the pages that were judged."""
        return self.count("near_duplicates") / max(1, self.count("processed"))


class TrapsMonitor(SimhashMonitor):
    """Traps: URLs without end that bring nothing new, or a login page in place of all pages."""

    setting = "MONITOR_MAX_TRAPS"

    def number(self) -> float:
        """Return the number of URL patterns that bring nothing new."""
        return self.count("url_rules/traps")


class StoreErrorsMonitor(SimhashMonitor):
    """Store errors: pages went on unmarked, for the store did not answer."""

    setting = "MONITOR_MAX_STORE_ERRORS"

    def number(self) -> float:
        """Return the number of these pages."""
        return self.count("errors/store")


class UnjudgedMonitor(SimhashMonitor):
    """Too many pages unjudged: empty pages, perhaps because they need a browser, or a fault of ours."""

    setting = "MONITOR_MAX_UNJUDGED"
    default = 0.2

    def number(self) -> float:
        """Return their share of all pages that might have been judged."""
        unjudged = self.count("errors/compare") + sum(self.count(f"skipped/{reason}") for reason in UNREAD)
        return unjudged / max(1, unjudged + self.count("processed"))


class SimhashMonitors(MonitorSuite):  # type: ignore[misc]
    """``SPIDERMON_SPIDER_CLOSE_MONITORS = ["crawler.monitors.SimhashMonitors"]``."""

    monitors = (NearDuplicatesMonitor, TrapsMonitor, StoreErrorsMonitor, UnjudgedMonitor)
