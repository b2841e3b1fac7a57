"""What the components of a crawl ask: whether it crawls or looks at single pages; and how a failure is logged."""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler


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


class WarnOnce:
    """Tells of the exceptions that one module handles: the first at level WARNING, further ones at DEBUG."""

    def __init__(self, crawler: Crawler, logger: logging.Logger, stat: str) -> None:
        """*stat* is where whoever handles them counts them."""
        self._crawler = crawler
        self._logger = logger
        self._stat = stat
        self._has_warned = False

    def tell(self, message: str, about: object) -> None:
        """Log *message*, which names what it is *about* as ``%(about)s``; call it where the exception is handled."""
        self._logger.log(
            logging.DEBUG if self._has_warned else logging.WARNING,
            f"{message}. Further failures are logged at level DEBUG and counted in the stat %(stat)s",
            {"about": about, "stat": self._stat},
            exc_info=True,
            extra={"spider": self._crawler.spider},
        )
        self._has_warned = True
