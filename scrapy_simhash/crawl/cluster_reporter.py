"""ClusterReporter: what a crawl tells of its clusters, in stats, in the log and by a signal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.crawl.stats import stats_of
from scrapy_simhash.crawl.warn_once import WarnOnce
from scrapy_simhash.judge.clusters import ClusterBook
from scrapy_simhash.signals import cluster_closed

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.config import Config
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)


class ClusterReporter:
    """Keeps the book of one crawl's clusters. What goes wrong in here costs a stat and a warning, never the page."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self.book = ClusterBook(config.prefer)
        #: Whether the preferred URL depends on the canonical URLs that pages name.
        self.asks_for_canonical = "canonical" in config.prefer
        self._crawler = crawler
        self._is_verbose = config.debug
        self._warn_once = WarnOnce(crawler, logger, names.STAT_CONSEQUENCE_ERRORS)

    def note_verdict(self, verdict: Verdict, url: str, canonical: str | None) -> str | None:
        """Take note of the verdict on the page at *url*, which names *canonical* as its URL.

        Return the URL of its cluster that is to be preferred so far, see :meth:`ClusterBook.note`.
        """
        book = self.book
        largest, later = book.largest, book.preferred_later
        try:
            preferred = book.note(verdict, url, canonical)
        except Exception:
            stats_of(self._crawler).inc_value(names.STAT_CONSEQUENCE_ERRORS)
            self._warn_once.tell(
                "Error while updating the cluster of %(about)s: the page is kept, without a preferred URL",
                url,
            )
            return None
        # At once, and not at the end, where others may have read the stats already.
        if book.largest != largest:
            stats_of(self._crawler).set_value(names.STAT_LARGEST_CLUSTER, book.largest)
        if book.preferred_later != later:
            stats_of(self._crawler).set_value(names.STAT_PREFERRED_LATER, book.preferred_later)
        return preferred

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
