"""Outage: one warning when the store stops answering, one line when it answers again, whatever is in between."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash import names

if TYPE_CHECKING:
    from scrapy import Spider

logger = logging.getLogger(__name__)


class Outage:
    """Told of every answer and every failure; says only what changes."""

    def __init__(self) -> None:
        self._pages = 0

    def failed(self, error: Exception, spider: Spider | None) -> None:
        """Note that a page goes on without an answer."""
        self._pages += 1
        if self._pages == 1:
            logger.warning(
                "Pages go on unmarked (status unknown), counted in the stat %(stat)s, until the store answers"
                " again: %(error)s",
                {"stat": names.STAT_STORE_ERRORS, "error": error},
                extra={"spider": spider},
            )

    def answered(self, spider: Spider | None) -> None:
        """Note an answer."""
        if self._pages:
            logger.info(
                "The store answers again; %(pages)d pages went on unmarked meanwhile",
                {"pages": self._pages},
                extra={"spider": spider},
            )
            self._pages = 0
