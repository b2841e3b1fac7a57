"""FloodNotices: tells of groups of URLs that bring nothing new, in the log, in the stats, and by a signal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_simhash import names
from scrapy_simhash.crawling import stats_of, tree_of
from scrapy_simhash.observers.floods import WALLS, Flood
from scrapy_simhash.observers.floods.kinds import kind_by_urls, kind_of
from scrapy_simhash.signals import flood_found
from scrapy_simhash.verdict import Reason

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_simhash.fingerprinter import PageFingerprinter
    from scrapy_simhash.observers.floods import Kind
    from scrapy_simhash.observers.url_rules.novelty import Row
    from scrapy_simhash.verdict import Verdict

logger = logging.getLogger(__name__)

#: Floods that are told at level WARNING; any more at DEBUG.
MOST_WARNINGS = 20
#: Bytes of a page up to which its text is read again, to tell what kind of page a flood sends.
LARGEST_TOLD = 256 * 1024


class FloodNotices:
    """What is told of floods."""

    def __init__(self, crawler: Crawler, fingerprinter: PageFingerprinter, *, skips: bool) -> None:
        """*skips* says that the groups are stopped of which is told."""
        self._crawler = crawler
        self._fingerprinter = fingerprinter
        self._skips = skips
        self._told = 0

    def tell(
        self, host: str, group: str, row: Row, verdict: Verdict, response: Response, *, is_silent: bool
    ) -> bool:
        """Tell that the URLs of *group* bring nothing new, the latest of them *response*.

        Return whether the group is to be stopped: not where pages may stand behind the one that came, and not if
        these are pages without text, which may well differ; nothing is told of those.
        """
        kind = self._kind_of(verdict, response, group, is_silent=is_silent)
        if kind is None:
            return False
        flood = Flood(kind, host, group, row.length, verdict.cluster, verdict.duplicate_of, tuple(row.urls))
        stats_of(self._crawler).inc_value(f"{names.STAT_FLOODS}/{kind.value}")
        self._log(flood)
        self._crawler.signals.send_catch_log(flood_found, flood=flood, spider=self._crawler.spider)
        return kind not in WALLS

    def _kind_of(self, verdict: Verdict, response: Response, group: str, *, is_silent: bool) -> Kind | None:
        if verdict.reason is Reason.NOT_HTML or len(response.body) > LARGEST_TOLD:
            return None if is_silent else kind_by_urls(group)
        root = tree_of(response)
        return kind_of(self._fingerprinter.extract(root), root, says_nothing=is_silent, group=group)

    def _log(self, flood: Flood) -> None:
        if flood.kind in WALLS:
            action = "they are still requested, because other pages may come after it"
        elif self._skips:
            action = "no more are requested"
        else:
            action = "SIMHASH_URL_RULES = 'skip' would request no more"
        self._told += 1
        end = " - further ones are logged at level DEBUG" if self._told == MOST_WARNINGS else ""
        logger.log(
            logging.WARNING if self._told <= MOST_WARNINGS else logging.DEBUG,
            "%(what)s (%(kind)s): %(size)d URLs in a row of %(group)s on %(host)s brought nothing new, the latest"
            " %(page)s; %(action)s. Some of the URLs: %(urls)s%(end)s",
            {
                "what": "Interstitial" if flood.kind in WALLS else "Trap",
                "kind": flood.kind.value,
                "size": flood.size,
                "group": flood.group,
                "host": flood.host,
                "page": "a page without text"
                if flood.original is None
                else f"the same page as {flood.original}",
                "action": action,
                "urls": ", ".join(flood.urls),
                "end": end,
            },
            extra={"spider": self._crawler.spider},
        )
