"""Stats: where a crawl counts, and what is counted of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.page.fingerprint import is_part
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from scrapy_simhash.judge.policy import Decision

_STAT_OF = {
    Status.NEW: names.STAT_NEW,
    Status.NEAR_DUPLICATE: names.STAT_NEAR_DUPLICATES,
    Status.REVISIT: names.STAT_REVISITS,
}
_STAT_BY_LEARNING = {
    Status.NEW: names.STAT_SITE_NEW,
    Status.NEAR_DUPLICATE: names.STAT_SITE_NEAR_DUPLICATES,
}


def stats_of(crawler: Crawler) -> StatsCollector:
    """Return the stats collector of *crawler*, which it has once its components are built."""
    stats = crawler.stats
    if stats is None:
        raise RuntimeError("the crawler has no stats collector yet")
    return stats


def count_verdict(increase: Callable[[str], None], verdict: Verdict) -> None:
    """Count a page of the spider, once; *increase* is the ``inc_value`` of a stats collector."""
    if verdict.status is Status.SKIPPED and verdict.reason is not None:
        increase(f"{names.STAT_SKIPPED}/{verdict.reason.value}")
        return
    if verdict.status is Status.UNKNOWN:
        increase(names.STAT_ERRORS if verdict.reason is None else names.STAT_STORE_ERRORS)
        return
    increase(names.STAT_PROCESSED)
    increase(_STAT_OF[verdict.status])
    if verdict.fingerprint is not None and is_part(verdict.fingerprint.own):
        increase(names.STAT_OWN_PARTS)
    if verdict.is_by_learning and verdict.status in _STAT_BY_LEARNING:
        increase(_STAT_BY_LEARNING[verdict.status])
    if verdict.elsewhere is not None:
        increase(names.STAT_ELSEWHERE)
    if verdict.status is Status.NEAR_DUPLICATE:
        if verdict.is_exact:
            increase(names.STAT_EXACT)
    elif verdict.status is Status.REVISIT:
        if verdict.reason is not None:
            increase(f"{names.STAT_REVISITS}/{verdict.reason.value}")
        if verdict.is_duplicate:
            increase(names.STAT_REVISITS_REPEATING)


def count_decision(stats: StatsCollector, decision: Decision) -> None:
    """Count why a page was spared; what is dropped is counted when it is dropped."""
    if decision.exemption is not None:
        stats.inc_value(f"{names.STAT_EXEMPTED}/{decision.exemption.value}")
