"""TrustedHosts: what hosts of a crawl are trusted with, kept in its store, so that later crawls know."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from scrapy_simhash.notes import TRUST, change
from scrapy_simhash.observers.recrawl import Trust, Trusts
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import awaited

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.observers.recrawl import Answer, Host
    from scrapy_simhash.store import Store

logger = logging.getLogger(__name__)

#: Hosts of which the last lines tell.
MOST_TOLD = 5
#: Pages that came by 304, the latest, which are fetched in full if their host turns out to be wrong.
MOST_BELIEVED = 5_000
_WHY = {
    Trust.LIED: "it answered 304 for a page that had changed, %(url)s: its pages are fetched in full",
    Trust.BLIND: "it answers 304 to an ETag that no page has, such as for %(url)s: its pages are fetched in full",
    Trust.ETAGS: "it sends the same ETag for different texts, such as that of %(url)s: its pages are fetched in full",
    Trust.NONE: "its pages come in full although they have not changed, such as %(url)s: no validators are sent",
    Trust.DATES: "its ETags change although its pages do not, such as that of %(url)s: only dates are sent",
}


class TrustedHosts:
    """The hosts of one crawl, by what the store knows of them and what is found out."""

    def __init__(self, store: Store, crawler: Crawler) -> None:
        self._notes = store
        self._trusts = Trusts()
        self._crawler = crawler
        #: By the keys of pages that came by 304 in this crawl, requests that fetch them in full.
        self.believed: Recent[bytes, Request] = Recent(MOST_BELIEVED)
        #: Hosts of which they were sent.
        self._doubted: set[str] = set()

    async def meet(self, site: str) -> None:
        """Load what the store knows of a host, if it was not met before. Raises StoreUnavailable."""
        if self._trusts.find(site) is not None:
            return
        _, data = await awaited(self._notes.note(TRUST, site))
        # Another request may have been faster.
        host = self._trusts.find(site) or self._trusts.add(site)
        _joined(host, data)

    def to_send(self, site: str, answer: Answer) -> tuple[bytes, bytes]:
        """Return the ETag and the date that are to be sent for a page, empty for none."""
        host = self._trusts.find(site)
        if host is None or host.trust.is_lost:
            return b"", b""
        return b"" if host.trust is Trust.DATES else answer.etag, answer.modified

    def is_lost(self, site: str) -> bool:
        """Tell whether every page of a host is to be fetched in full."""
        host = self._trusts.find(site)
        return host is not None and host.trust.is_lost

    def lower(self, url: str, trust: Trust) -> None:
        """Note that a host is to be trusted no more than this, by what its page at *url* has shown."""
        site = host_of(url)
        self._trusts.lower(site, trust, url, int(time.time()))
        self._fetch_believed(site)

    def chance_of_check(self, site: str, answer: Answer) -> float:
        """Return the chance with which a 304 should be checked at least, of a page that had *answer* before."""
        return self._trusts.answered_304(site, answer.visits == 1)

    def came_in_full(
        self,
        url: str,
        came_with: tuple[bytes, bytes],
        text_hash: int,
        former: tuple[Answer, int | None],
        was_asked: bool,
    ) -> None:
        """Learn from a page that came in full, the ETag and date it *came_with*, and the hash of its text.

        *former* are answer and hash of the last visit; *was_asked* tells whether the server was asked with them.
        """
        site, now, (etag, modified), (answer, former_hash) = host_of(url), int(time.time()), came_with, former
        self._trusts.came_in_full(site, url, etag, text_hash, (answer.etag, former_hash), now)
        if was_asked and text_hash == former_hash:
            self._trusts.came_in_vain(site, url, bool(modified) and modified == answer.modified, now)
        self._fetch_believed(site)

    async def tell(self) -> None:
        """Join what was found out with what the store has. Raises StoreUnavailable; it is told the next time then."""
        news = self._trusts.news
        while news:
            site, host = news.popitem()
            try:
                await change(self._notes, TRUST, site, partial(_joined, host))
            except BaseException:
                news.setdefault(site, host)
                raise

    def _fetch_believed(self, site: str) -> None:
        """Request in full what came by 304 from a host that is not trusted any more."""
        if site in self._doubted or not self.is_lost(site):
            return
        self._doubted.add(site)
        for key, request in list(self.believed.items()):
            if host_of(request.url) == site and self._crawler.engine is not None:
                del self.believed[key]
                self._crawler.engine.crawl(request)

    def spider_closed(self, spider: Spider) -> None:
        """Log which hosts are not trusted."""
        lost = self._trusts.lost()
        for site, host in lost[:MOST_TOLD]:
            logger.warning(
                "Conditional requests: %(site)s is not trusted: " + _WHY[host.trust],
                {"site": site, "url": host.url},
                extra={"spider": spider},
            )
        if len(lost) > MOST_TOLD:
            logger.warning(
                "Conditional requests: %(number)d more hosts are not trusted",
                {"number": len(lost) - MOST_TOLD},
                extra={"spider": spider},
            )


def _joined(host: Host, data: bytes | None) -> bytes:
    """Return *host* as it is to be kept in the place of *data*, which it has joined."""
    if data is not None:
        with suppress(ValueError):
            host.join(data, int(time.time()))
    return host.to_bytes()
