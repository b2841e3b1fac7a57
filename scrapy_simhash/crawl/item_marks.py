"""ItemMarks: what was found about an item, or about its page, in a field of the item itself."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler

from scrapy_simhash.crawl.stats import stats_of

logger = logging.getLogger(__name__)

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
        self._warned: set[str] = set()

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
        if message not in self._warned:
            self._warned.add(message)
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
