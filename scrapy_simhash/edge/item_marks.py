"""ItemMarks: what was found about an item, or about its page, in a field of the item itself."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from scrapy_simhash.edge.stats import stats_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ItemMarks:
    """Writes into one field of items. An item that cannot hold it goes on without: counted, and warned of once."""

    def __init__(self, crawler: Crawler, field: str, setting: str, stat: str) -> None:
        """*setting* is the one that names *field*; *stat* counts the items that cannot hold it."""
        self._crawler = crawler
        self._field = field
        self._setting = setting
        self._stat = stat
        self._has_warned = False

    def write(self, item: Any, values: Mapping[str, Any]) -> None:
        """Put *values* into *item*."""
        try:
            ItemAdapter(item)[self._field] = dict(values)
        except Exception:  # an undeclared field, a frozen item, an object that is no item
            stats_of(self._crawler).inc_value(self._stat)
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "%(item)s has no field %(field)r (%(setting)s): items go on unmarked",
                    {"item": type(item).__qualname__, "field": self._field, "setting": self._setting},
                    extra={"spider": self._crawler.spider},
                )
