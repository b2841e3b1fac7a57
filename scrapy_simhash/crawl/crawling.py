"""What components of a crawl have in common: whether it crawls, what they share, log once, count and sum up."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from scrapy_simhash import names
from scrapy_simhash.judge.policy import Exemption
from scrapy_simhash.page.fingerprint import is_part
from scrapy_simhash.verdict import Reason, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from scrapy_simhash.judge.policy import Decision

T = TypeVar("T")


def is_crawl(crawler: Crawler) -> bool:
    """Return whether *crawler* crawls: False under ``scrapy shell``, ``fetch``, ``parse`` and ``check``.

    To be asked while components are built: a crawl that is being stopped no longer counts as one.
    """
    # The shell drives the engine itself, it never calls crawl().
    if not crawler.crawling:
        return False
    # The other commands put a start() of their own into the spider class.
    start = getattr(type(crawler.spider), "start", None)
    return not getattr(start, "__module__", "").startswith("scrapy.commands.")


#: The attribute of a crawler that has what its components share, by class: it ends when the crawler does.
_SHARED = "_simhash_shared"


def share(crawler: Crawler, part: T) -> T:
    """Have `shared` find *part* for all components of *crawler*, and return it."""
    vars(crawler).setdefault(_SHARED, {})[type(part)] = part
    return part


def shared(crawler: Crawler, kind: type[T]) -> T | None:
    """Return what a component of *crawler* shares that is a *kind*; None if none does."""
    found: T | None = vars(crawler).get(_SHARED, {}).get(kind)
    return found


#: What the record of a thing says that is shown once.
NO_MORE = " - no more will be shown (see SIMHASH_DEBUG to show all)"


class Once:
    """Logs what may come with every page: of each kind the first record aloud, further ones quietly or not at all."""

    def __init__(self, crawler: Crawler, logger: logging.Logger, stat: str = "") -> None:
        """*stat* is where whoever handles exceptions counts them."""
        self._crawler = crawler
        self._logger = logger
        self._stat = stat
        self._told: set[str] = set()

    def is_first(self, kind: str) -> bool:
        """Tell whether this is the first of its *kind*; the next one is not."""
        is_first = kind not in self._told
        self._told.add(kind)
        return is_first

    def warn(
        self, kind: str, message: str, values: dict[str, object], error: bool | Exception | None = None
    ) -> None:
        """Log *message* with *values*: at level WARNING if it is the first of its *kind*, else at DEBUG."""
        self._logger.log(
            logging.WARNING if self.is_first(kind) else logging.DEBUG,
            message,
            values,
            exc_info=error,
            extra={"spider": self._crawler.spider},
        )

    def tell(self, message: str, about: object) -> None:
        """Warn of an exception: *message* names what it is *about* as ``%(about)s``; call it in its handler."""
        self.warn(
            "exception",
            f"{message}. Further failures are logged at level DEBUG and counted in the stat %(stat)s",
            {"about": about, "stat": self._stat},
            error=True,
        )


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
