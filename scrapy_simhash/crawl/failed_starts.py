"""Unstarted: a crawl that never starts says why in a sentence, and a store that it has opened is closed.

An engine that has started says when it stops. Before that, something else of the crawl may fail: a component that
cannot be built, of which nobody is told, or a pipeline that cannot be opened. The next crawl in the same process
needs the file.
"""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler

from scrapy_simhash.detector import is_async
from scrapy_simhash.exceptions import SimhashError, StoreError
from scrapy_simhash.store import AsyncStore, Store

logger = logging.getLogger(__name__)


class _Sentence(logging.Filter):
    """Takes the traceback off what is logged of a crawl that was refused: the message says all that helps."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        # Scrapy 2.13 raises an error of its own while it handles ours.
        while error is not None and not isinstance(error, SimhashError):
            error = error.__context__
        if error is not None:
            kind = type(error)
            record.msg, record.exc_info = "The crawl was not started: %s.%s: %s", None
            record.args = (kind.__module__, kind.__qualname__, error)
        return True


_SENTENCE = _Sentence()

_opened: list[tuple[Crawler, Store | AsyncStore]] = []


def told_in_a_sentence() -> None:
    """Have the loop that runs a crawl say in a sentence why it was refused, if it is, and without a traceback."""
    for name in ("asyncio", "twisted"):
        logging.getLogger(name).addFilter(_SENTENCE)


def note(crawler: Crawler, store: Store | AsyncStore) -> None:
    """Remember that *crawler*, whose engine has not started, opened *store*."""
    _opened.append((crawler, store))


def forget(crawler: Crawler) -> None:
    """Forget what *crawler* opened."""
    _opened[:] = [entry for entry in _opened if entry[0] is not crawler]


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
