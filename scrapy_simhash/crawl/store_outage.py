"""StoreOutage: one warning when the store stops answering, one line when it answers again, whatever is in between."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.crawl.summary import counted

if TYPE_CHECKING:
    from scrapy import Spider

logger = logging.getLogger(__name__)


class StoreOutage:
    """Logs when the store stops answering, and when it answers again."""

    def __init__(self, what: str = "page", stat: str = names.STAT_STORE_ERRORS) -> None:
        """*what* is ``page`` or ``item``; those that are not compared are counted in *stat*."""
        self._what = what
        self._stat = stat
        #: Pages or items that were not compared since the store has answered last.
        self.missed = 0

    def failed(self, error: Exception, spider: Spider | None) -> None:
        """Note that the store did not answer for one page or item."""
        self.missed += 1
        if self.missed == 1:
            logger.warning(
                "%(what)s are not compared (status unknown, counted in the stat %(stat)s) until the store answers"
                " again: %(error)s",
                {"what": f"{self._what.capitalize()}s", "stat": self._stat, "error": error},
                extra={"spider": spider},
            )

    def answered(self, spider: Spider | None) -> None:
        """Note an answer."""
        if self.missed:
            logger.info(
                "The store answers again; %(missed)s not compared in the meantime",
                {"missed": counted(self.missed, self._what)},
                extra={"spider": spider},
            )
            self.missed = 0
