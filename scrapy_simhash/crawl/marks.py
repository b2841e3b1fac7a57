"""Marks: the verdict in the meta of a request, which a disk queue can pickle, and in a field of items."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from scrapy_simhash import names
from scrapy_simhash.crawling import Once, asks_again, stats_of
from scrapy_simhash.judge.policy import Decision
from scrapy_simhash.verdict import Status, Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


def write_marks(verdict: Verdict, decision: Decision, request: Request) -> None:
    """Put *verdict* and *decision* into the meta of *request*; what is None is left out."""
    meta = request.meta
    meta[names.META_STATUS] = _STATUS[verdict.status]
    if verdict.cluster is not None:
        meta[names.META_CLUSTER] = verdict.cluster
    if verdict.fingerprint is not None:
        meta[names.META_VALUE] = verdict.fingerprint.value
    if verdict.rank is not None:
        meta[names.META_RANK] = verdict.rank
    # Most pages are new and have no more to say.
    if verdict.status is not Status.NEW or verdict.hints or verdict.elsewhere:
        meta.update({name: value for name, value in _more(verdict).items() if value is not None})
    if verdict.is_by_learning:
        meta[names.META_BY_LEARNING] = True
    if decision.action is not None:
        meta[names.META_DONE] = str(decision.action)
    if decision.exemption is not None:
        meta[names.META_EXEMPTION] = decision.exemption.value


#: To ask an enumeration for a value takes two calls of Python functions.
_STATUS = {status: status.value for status in Status}


def _more(verdict: Verdict) -> dict[str, Any]:
    """Return what only a page has that is not new, or that has hints or a copy elsewhere."""
    row = verdict.to_dict()
    marks = {name: row[name.removeprefix(_PREFIX)] for name in _MORE}
    return marks | {names.META_HINTS: list(verdict.hints) or None}


#: Marks that are values of `Verdict.to_dict()`, by its names.
_PREFIX = f"{names.META_ENABLED}_"
_MORE = (
    names.META_REASON,
    names.META_DUPLICATE_OF,
    names.META_DISTANCE,
    names.META_SIMILARITY,
    names.META_LAST_SEEN,
    names.META_SETTLED,
    names.META_EXACT,
    names.META_ELSEWHERE,
)


def erase_marks(request: Request) -> None:
    """Take out the marks that *request* came with: its parent's, or those of an earlier visit."""
    for name in names.META_OUT.intersection(request.meta):
        del request.meta[name]


def note_parent(request: Request, response: Response) -> None:
    """Write into the meta of *request* which page led to it: that of *response*, whose callback yielded it.

    The meta goes with it through queues, redirects and retries; a ``Referer`` may be cut to the host, or missing.
    """
    asked = response.request
    if asked is None:
        return
    # What asks for the same page again was led to by what led to that page.
    parent = asked.meta.get(names.META_PARENT) if asks_again(request, response) else asked.url
    if parent is None:
        request.meta.pop(names.META_PARENT, None)
    else:
        request.meta[names.META_PARENT] = parent


#: What every mark has, of a page or of an item. A dictionary with all of it is a mark of an earlier pass.
KEYS = frozenset(("status", "duplicate_of", "distance", "similarity", "cluster"))


class ItemMarks:
    """Writes marks into one field of items, and never over a value that is not a mark.

    An item that cannot be marked goes on without: counted, and each reason is warned of once per crawl.
    """

    def __init__(self, crawler: Crawler, field: str, setting: str, stat: str) -> None:
        """*setting* is the one that names *field*; *stat* counts the marks that could not be written."""
        self._crawler = crawler
        self._field = field
        self._setting = setting
        self._stat = stat
        self._once = Once(crawler, logger)

    def write(self, item: Any, values: Mapping[str, Any] | None) -> None:
        """Put *values* into *item*; None, for an item with nothing to say about it, so that all have the field.

        Scrapy's CSV feeds take their columns from the first item: without the field it would cost all others theirs.
        The field is written if it is missing, None, an empty dictionary (the default of a class), or has a mark.
        """
        try:
            adapter = ItemAdapter(item)
            if self._field in iter(adapter):  # to look it up would add it to a defaultdict
                value = adapter[self._field]
                if value is not None and not _is_mark(value):
                    self._complain(item, _TAKEN, values)
                    return
                if (
                    values is None and not value
                ):  # as good as unmarked: nothing to write, even if it is frozen
                    return
            adapter[self._field] = None if values is None else dict(values)
        except Exception:  # an undeclared field, a frozen item, an object that is no item
            self._complain(item, _UNFIT, values)

    def _complain(self, item: Any, message: str, lost: Mapping[str, Any] | None) -> None:
        if lost is not None:
            stats_of(self._crawler).inc_value(self._stat)
        if self._once.is_first(message):
            logger.warning(
                message,
                {
                    "setting": self._setting,
                    "field": self._field,
                    "item": type(item).__qualname__,
                    "stat": self._stat,
                },
                extra={"spider": self._crawler.spider},
            )


_TAKEN = (
    "%(setting)s is %(field)r, but items (%(item)s) already have a value in this field. The value is kept and the"
    " items are not marked (stat %(stat)s): set %(setting)s to a field that your items do not have"
)
_UNFIT = (
    "%(setting)s is %(field)r, but %(item)s has no such field or is frozen. These items are not marked (stat"
    " %(stat)s): declare the field in the class, and do not freeze it"
)


def _is_mark(value: object) -> bool:
    return isinstance(value, Mapping) and (not value or value.keys() >= KEYS)
