"""What components of a crawl have in common: whether it crawls, what they share, and what is logged once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

T = TypeVar("T")


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


#: The attribute of a crawler that has what its components share, by class: it ends when the crawler does.
_SHARED = "_simhash_shared"


def share(crawler: Crawler, part: T) -> T:
    """Have `shared` find *part* for all components of *crawler*, and return it."""
    vars(crawler).setdefault(_SHARED, {})[type(part)] = part
    return part


def shared(crawler: Crawler, kind: type[T]) -> T | None:
    """Return what a component of *crawler* shares that is a *kind*; None if none does."""
    found: T | None = vars(crawler).get(_SHARED, {}).get(kind)
    return found


#: What the record of a thing says that is shown once.
NO_MORE = " - no more will be shown (see SIMHASH_DEBUG to show all)"


class Once:
    """Logs what may come with every page: of each kind the first record aloud, further ones quietly or not at all."""

    def __init__(self, crawler: Crawler, logger: logging.Logger, stat: str = "") -> None:
        """*stat* is where whoever handles exceptions counts them."""
        self._crawler = crawler
        self._logger = logger
        self._stat = stat
        self._told: set[str] = set()

    def is_first(self, kind: str) -> bool:
        """Tell whether this is the first of its *kind*; the next one is not."""
        is_first = kind not in self._told
        self._told.add(kind)
        return is_first

    def warn(
        self, kind: str, message: str, values: dict[str, object], error: bool | Exception | None = None
    ) -> None:
        """Log *message* with *values*: at level WARNING if it is the first of its *kind*, else at DEBUG."""
        self._logger.log(
            logging.WARNING if self.is_first(kind) else logging.DEBUG,
            message,
            values,
            exc_info=error,
            extra={"spider": self._crawler.spider},
        )

    def tell(self, message: str, about: object) -> None:
        """Warn of an exception: *message* names what it is *about* as ``%(about)s``; call it in its handler."""
        self.warn(
            "exception",
            f"{message}. Further failures are logged at level DEBUG and counted in the stat %(stat)s",
            {"about": about, "stat": self._stat},
            error=True,
        )
