"""Unstarted: a store is closed though the crawl that opened it never starts.

An engine that has started says when it stops. Before that, something else of the crawl may fail: a component that
cannot be built, of which nobody is told, or a pipeline that cannot be opened. The next crawl in the same process
needs the file.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash.detector import is_async
from scrapy_simhash.exceptions import StoreError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_simhash.store import AsyncStore, Store

logger = logging.getLogger(__name__)

_opened: list[tuple[Crawler, Store | AsyncStore]] = []


def note(crawler: Crawler, store: Store | AsyncStore) -> None:
    """Remember that *crawler*, whose engine has not started, opened *store*."""
    _opened.append((crawler, store))


def forget(crawler: Crawler) -> bool:
    """Forget what *crawler* opened, and return whether something was noted."""
    others = [entry for entry in _opened if entry[0] is not crawler]
    was_noted = len(others) < len(_opened)
    _opened[:] = others
    return was_noted


def close_failed() -> None:
    """Close the stores of crawls that will never start. Asynchronous ones hold nothing before the first page."""
    for crawler, store in list(_opened):
        if not crawler.crawling:
            forget(crawler)
            if not is_async(store):
                try:
                    store.close("failed")
                except StoreError as error:
                    logger.warning("%s", error)
