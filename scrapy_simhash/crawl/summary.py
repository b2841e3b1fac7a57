"""Summary: the last line of the log, which counts what was found and what was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.judge.policy import Exemption
from scrapy_simhash.verdict import Reason

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

#: What is dropped, the stat of all of it, and that of the part whose page is unchanged.
_DROPPED = (
    ("page", names.STAT_PAGES_DROPPED, names.STAT_PAGES_DROPPED_UNCHANGED),
    ("item", names.STAT_ITEMS_DROPPED, names.STAT_ITEMS_DROPPED_UNCHANGED),
    ("request", names.STAT_REQUESTS_DROPPED, names.STAT_REQUESTS_DROPPED_UNCHANGED),
)


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun*, in the plural unless there is one.

    >>> counted(1, "revisit"), counted(0, "near-duplicate")
    ('1 revisit', '0 near-duplicates')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary_of_pages(stats: StatsCollector, may_drop: bool) -> str:
    """Return the counts of pages, and of what was dropped; with *may_drop* also that nothing was dropped."""

    def total(*counts: str) -> int:
        return sum(stats.get_value(name, 0) for name in counts)

    parts = [
        f"Near-duplicates: {counted(total(names.STAT_PROCESSED), 'page')} compared, {total(names.STAT_NEW)} new,"
        f" {counted(total(names.STAT_NEAR_DUPLICATES), 'near-duplicate')},"
        f" {counted(total(names.STAT_REVISITS), 'revisit')}{_repeating(total(names.STAT_REVISITS_REPEATING))}",
        f"{total(*(f'{names.STAT_SKIPPED}/{reason.value}' for reason in Reason))} skipped,"
        f" {counted(total(names.STAT_ERRORS, names.STAT_STORE_ERRORS), 'error')}",
    ]
    near, unchanged = [], []
    for noun, stat, stat_unchanged in _DROPPED:
        of_unchanged = total(stat_unchanged)
        if of_unchanged:
            unchanged.append(counted(of_unchanged, noun))
        if total(stat) > of_unchanged:
            near.append(counted(total(stat) - of_unchanged, noun))
    if near:
        parts.append(f"dropped as near-duplicates: {', '.join(near)}")
    if unchanged:
        parts.append(f"dropped as unchanged: {', '.join(unchanged)}")
    if may_drop and not near and not unchanged:
        parts.append("nothing dropped")
    exemption = [(reason.value, total(f"{names.STAT_EXEMPTED}/{reason.value}")) for reason in Exemption]
    if any(number for _, number in exemption):
        parts.append("exempted: " + ", ".join(f"{number} {reason}" for reason, number in exemption if number))
    return "; ".join(parts)


def _repeating(number: int) -> str:
    return f" ({counted(number, 'near-duplicate')} among them)" if number else ""


def summary_of_items(stats: StatsCollector) -> str:
    """Return the counts of items, and of those that were dropped."""

    def total(*counts: str) -> int:
        return sum(stats.get_value(name, 0) for name in counts)

    return (
        f"Items: {total(names.STAT_ITEM_NEW)} new,"
        f" {counted(total(names.STAT_ITEM_NEAR_DUPLICATES), 'near-duplicate')},"
        f" {counted(total(names.STAT_ITEM_REVISITS), 'revisit')}; {total(names.STAT_ITEM_DROPPED)} dropped,"
        f" {total(names.STAT_ITEM_SKIPPED)} skipped,"
        f" {counted(total(names.STAT_ITEM_ERRORS, names.STAT_ITEM_STORE_ERRORS), 'error')}"
    )
