"""ClusterReporter: which page of a cluster is to be preferred, in meta, stats and by a signal at the end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_simhash import names
from scrapy_simhash.crawling import Listener, stats_of
from scrapy_simhash.judge.clusters import ClusterBook
from scrapy_simhash.judge.hints import read_canonical
from scrapy_simhash.signals import cluster_closed

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.crawling import Page

logger = logging.getLogger(__name__)


class ClusterReporter(Listener):
    """Keeps the book of one crawl's clusters."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self.book = ClusterBook(config.prefer)
        # Whether the preferred URL depends on the canonical URLs that pages name.
        self._asks_for_canonical = "canonical" in config.prefer
        self._crawler = crawler
        self._is_verbose = config.debug
        self._stats = stats_of(crawler)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    def page_compared(self, page: Page) -> None:
        """Take note of a page, and write into its result which URL of its cluster is to be preferred so far."""
        verdict, book = page.verdict, self.book
        if verdict.cluster is None:
            return
        canonical: str | None = None
        if "hints" in vars(page):  # they were read, for a copy
            canonical = page.hints.canonical
        elif self._asks_for_canonical and page.reading is not None and page.reading.may_name_canonical:
            canonical = read_canonical(page.tree, page.response.url)
        largest = book.largest
        page.preferred = book.note(verdict, page.response.url, canonical)
        if page.preferred is not None:
            page.request.meta[names.META_RESULT]["preferred"] = page.preferred
        # At once, and not at the end, where others may have read the stats already.
        if book.largest != largest:
            self._stats.set_value(names.STAT_LARGEST_CLUSTER, book.largest)

    def spider_closed(self, spider: Spider) -> None:
        """Tell of every cluster that had copies: by the signal, and with ``SIMHASH_DEBUG`` in the log."""
        for cluster in self.book.clusters():
            if self._is_verbose:
                logger.debug(
                    "Cluster %(number)d: %(pages)d pages, first %(first)s, preferred %(preferred)s",
                    {
                        "number": cluster.number,
                        "pages": cluster.pages,
                        "first": cluster.first,
                        "preferred": cluster.preferred,
                    },
                    extra={"spider": spider},
                )
            self._crawler.signals.send_catch_log(cluster_closed, cluster=cluster, spider=spider)
        if self._is_verbose and self.book.forgotten:
            logger.debug(
                "%(forgotten)d more clusters with copies were forgotten: they had no new page for a long time",
                {"forgotten": self.book.forgotten},
                extra={"spider": spider},
            )
