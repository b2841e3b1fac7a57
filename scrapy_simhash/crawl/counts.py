"""Counts of pages and items in the stats, and the summary in the log."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy.statscollectors import MemoryStatsCollector

from scrapy_simhash import names
from scrapy_simhash.crawling import counted
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.page.fingerprint.unique_text import PART_START
from scrapy_simhash.verdict import Reason, Status

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from scrapy_simhash.crawling import Page

_STAT_OF = {
    Status.NEW: names.STAT_NEW,
    Status.NEAR_DUPLICATE: names.STAT_NEAR_DUPLICATES,
    Status.REVISIT: names.STAT_REVISITS,
}
_STAT_BY_LEARNING = {
    Status.NEW: f"{names.STAT_BY_LEARNING}/new",
    Status.NEAR_DUPLICATE: f"{names.STAT_BY_LEARNING}/near_duplicates",
}


def count_page(stats: StatsCollector, page: Page) -> None:
    """Count a page."""
    verdict = page.verdict
    counts = [] if page.protected is None else [f"{names.STAT_PROTECTED}/{page.protected.value}"]
    if verdict.status is Status.SKIPPED and verdict.reason is not None:
        counts.append(f"{names.STAT_SKIPPED}/{verdict.reason.value}")
    elif verdict.status is Status.UNKNOWN:
        # Any other error was counted when it was handled.
        if verdict.reason is Reason.STORE:
            counts.append(names.ERRORS_STORE)
    else:
        counts += (names.STAT_PROCESSED, _STAT_OF[verdict.status])
        if verdict.fingerprint is not None and verdict.fingerprint.own[:1] == PART_START:
            counts.append(names.STAT_UNIQUE_TEXT)
        if verdict.is_by_learning and verdict.status in _STAT_BY_LEARNING:
            counts.append(_STAT_BY_LEARNING[verdict.status])
        if verdict.status is Status.NEAR_DUPLICATE and verdict.is_exact:
            counts.append(names.STAT_EXACT)
        if verdict.status is Status.REVISIT:
            if verdict.reason is not None:
                counts.append(f"{names.STAT_REVISITS}/{verdict.reason.value}")
            if verdict.is_duplicate:
                counts.append(names.STAT_REVISITS_REPEATING)
    # Looking up the method of Scrapy's collector takes longer than counting.
    if type(stats) is MemoryStatsCollector:
        values = MemoryStatsCollector.get_stats(stats)
        for name in counts:
            values[name] = values.get(name, 0) + 1
    else:
        for name in counts:
            stats.inc_value(name)


def summary_of_pages(stats: StatsCollector, may_drop: bool) -> str:
    """Return the counts of pages and of drops; with *may_drop*, also report that nothing was dropped."""
    total = partial(_total, stats)
    repeating = total(names.STAT_REVISITS_REPEATING)
    parts = [
        f"Near-duplicates: {counted(total(names.STAT_PROCESSED), 'page')} compared, {total(names.STAT_NEW)} new,"
        f" {counted(total(names.STAT_NEAR_DUPLICATES), 'near-duplicate')},"
        f" {counted(total(names.STAT_REVISITS), 'revisit')}"
        + (f" ({counted(repeating, 'near-duplicate')} among them)" if repeating else ""),
        f"{total(*(f'{names.STAT_SKIPPED}/{reason.value}' for reason in Reason))} skipped,"
        f" {counted(total(names.ERRORS_COMPARE, names.ERRORS_STORE), 'error')}",
    ]
    stat = names.STAT_DROPPED
    unchanged = {noun: total(f"{stat}/{noun}s/unchanged") for noun in ("page", "item", "request")}
    near = {noun: total(f"{stat}/{noun}s") - unchanged[noun] for noun in unchanged}
    protected = {reason.value: total(f"{names.STAT_PROTECTED}/{reason.value}") for reason in Protection}
    for what, numbers in (("near-duplicates", near), ("unchanged", unchanged)):
        if any(numbers.values()):
            dropped = ", ".join(counted(number, noun) for noun, number in numbers.items() if number)
            parts.append(f"dropped as {what}: {dropped}")
    if may_drop and not any((*near.values(), *unchanged.values())):
        parts.append("nothing dropped")
    if any(protected.values()):
        reasons = ", ".join(f"{number} {reason}" for reason, number in protected.items() if number)
        parts.append(f"protected: {reasons}")
    return "; ".join(parts)


def _total(stats: StatsCollector, *counts: str) -> int:
    return sum(stats.get_value(name, 0) for name in counts)


def summary_of_items(stats: StatsCollector) -> str:
    """Return the counts of items and of dropped items."""
    total = partial(_total, stats)
    return (
        f"Items: {total(names.ITEMS_NEW)} new,"
        f" {counted(total(names.ITEMS_NEAR_DUPLICATES), 'near-duplicate')},"
        f" {counted(total(names.ITEMS_REVISITS), 'revisit')}; {total(names.STAT_ITEMS_DROPPED)} dropped,"
        f" {total(names.ITEMS_SKIPPED)} skipped,"
        f" {counted(total(names.ITEMS_ERRORS), 'error')}"
    )
