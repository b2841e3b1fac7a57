"""Crawling or looking: who asks for one page wants to see it, whatever was seen before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
