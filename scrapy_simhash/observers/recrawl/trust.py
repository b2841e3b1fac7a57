"""Trust: what hosts say of their pages without sending them, and whether that has turned out to be true.

What is found out of a host is kept in the store of the crawl, so that later crawls know.
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from scrapy_simhash.notes import TRUST, change
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import awaited

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_simhash.observers.recrawl.answers import Answer
    from scrapy_simhash.store import Store

logger = logging.getLogger(__name__)

#: Pages of a host that came in full, with the text that they had, although their validators were sent: then these are
#: of no use. Without one answer of 304 in between.
IN_VAIN = 10
#: Pages whose ETag had come with another text before, if they are one in four: then ETags say nothing.
SHARED = 3
#: ETags of a host that are compared, the latest. Files of one size and one second may share theirs, by chance.
MOST_ETAGS = 16
#: Where pages are asked conditionally for the first time, or a host was not trusted once, the chance that an answer
#: of 304 is checked is this over this plus the number of those before it: the first is checked in any case, then
#: about 19 of 72, 39 of 1,000.
EARLY = 8
#: Seconds until a host is trusted again, if it was not in the meantime: it may have been repaired, or lie once more.
FORGIVEN = 30 * 86_400
#: Hosts that are remembered; the oldest goes.
MOST_HOSTS = 20_000
#: Hosts of which the last lines tell.
MOST_TOLD = 5
#: Pages that came by 304, the latest, which are fetched in full if their host turns out to be wrong.
MOST_BELIEVED = 5_000


class Trust(Enum):
    """What is sent to a host. The later, the worse."""

    FULL = "full"
    DATES = "dates"
    """Only dates: its ETags are new at each visit."""
    NONE = "none"
    """Nothing: its validators are of no use."""
    ETAGS = "etags"
    """Nothing: it has sent the same ETag for different texts."""
    BLIND = "blind"
    """Nothing: it answers 304 whatever it is sent."""
    LIED = "lied"
    """Nothing: it has said of a page that had changed that it had not."""

    @property
    def is_lost(self) -> bool:
        """Whether every page of the host is fetched in full."""
        return self.rank >= Trust.NONE.rank

    @property
    def rank(self) -> int:
        """How little the host is trusted: 0 for fully."""
        return list(Trust).index(self)


_WHY = {
    Trust.LIED: "it answered 304 for a page that had changed, %(url)s: its pages are fetched in full",
    Trust.BLIND: "it answers 304 to an ETag that no page has, such as for %(url)s: its pages are fetched in full",
    Trust.ETAGS: "it sends the same ETag for different texts, such as that of %(url)s: its pages are fetched in full",
    Trust.NONE: "its pages come in full although they have not changed, such as %(url)s: no validators are sent",
    Trust.DATES: "its ETags change although its pages do not, such as that of %(url)s: only dates are sent",
}


class Host:
    """One host."""

    __slots__ = ("etags", "in_vain", "is_forgiven", "shared", "since", "tagged", "trust", "unmodified", "url")

    def __init__(self) -> None:
        self.trust = Trust.FULL
        self.in_vain = 0
        #: Answers of 304 in this crawl.
        self.unmodified = 0
        #: Hashes of the latest ETags, each with that of the text that came with it.
        self.etags: Recent[int, int] = Recent(MOST_ETAGS)
        #: Pages with an ETag, and those of them whose ETag had come with another text.
        self.tagged, self.shared = 0, 0
        #: When it was trusted less, and a page by which that was found out.
        self.since, self.url = 0, ""
        #: Whether it was trusted less once, so long ago that it is trusted again.
        self.is_forgiven = False

    def to_bytes(self) -> bytes:
        """Return it as it is to be kept."""
        return json.dumps([self.trust.value, self.since, self.url]).encode()

    def joined(self, data: bytes | None) -> bytes:
        """Return it as it is to be kept in the place of *data*, None for none, which it has joined before.

        The worst that was found holds, until it is forgiven; damaged data is as good as none.
        """
        with suppress(TypeError, ValueError):
            name, since, url = json.loads(data or b"")
            kept = Trust(name)
            is_worse = (kept.rank, since) > (self.trust.rank, self.since)
            self.is_forgiven = is_worse and time.time() - since >= FORGIVEN
            if is_worse and not self.is_forgiven:
                self.trust, self.since, self.url = kept, int(since), str(url)
        return self.to_bytes()


class TrustedHosts:
    """The hosts of one crawl, by what *store* knows of them and what is found out."""

    def __init__(self, store: Store, crawler: Crawler) -> None:
        self._notes = store
        self._crawler = crawler
        self._hosts: Recent[str, Host] = Recent(MOST_HOSTS)
        #: The hosts that the store is to be told of.
        self._news: dict[str, Host] = {}
        #: By the keys of pages that came by 304 in this crawl, requests that fetch them in full.
        self.believed: Recent[bytes, Request] = Recent(MOST_BELIEVED)
        #: Hosts of which they were sent.
        self._doubted: set[str] = set()

    def find(self, site: str) -> Host | None:
        """Return what is known of a host, None if it was never met, or was forgotten."""
        return self._hosts.get(site)

    async def meet(self, site: str) -> None:
        """Load what the store knows of a host, if it was not met before. Raises StoreUnavailable."""
        if site in self._hosts:
            return
        _, data = await awaited(self._notes.note(TRUST, site))
        # Another request may have been faster.
        self._host(site).joined(data)

    def to_send(self, site: str, answer: Answer) -> tuple[bytes, bytes]:
        """Return the ETag and the date that are to be sent for a page, empty for none."""
        host = self.find(site)
        if host is None or host.trust.is_lost:
            return b"", b""
        return b"" if host.trust is Trust.DATES else answer.etag, answer.modified

    def is_lost(self, site: str) -> bool:
        """Tell whether every page of a host is to be fetched in full."""
        host = self.find(site)
        return host is not None and host.trust.is_lost

    def lower(self, url: str, trust: Trust) -> None:
        """Note that a host is to be trusted no more than this, by what its page at *url* has shown."""
        site = host_of(url)
        host = self._host(site)
        if trust.rank > host.trust.rank:
            host.trust, host.since, host.url = trust, int(time.time()), url
            self._news[site] = host
        self._fetch_believed(site)

    def chance_of_check(self, site: str, answer: Answer) -> float:
        """Note a 304 for a page that had *answer* before, and return the least chance with which it is checked.

        There is one only where the page was asked for conditionally for the first time, or its host is forgiven.
        """
        host = self.find(site)
        if host is None:
            return 0.0
        host.in_vain = 0
        host.unmodified += 1
        is_new = answer.visits == 1 or host.is_forgiven
        return EARLY / (EARLY + host.unmodified - 1) if is_new else 0.0

    def came_in_full(
        self,
        url: str,
        etag: bytes,
        modified: bytes,
        text_hash: int,
        former: tuple[Answer, int | None],
        was_asked: bool,
    ) -> None:
        """Learn from a page that came in full, with this ETag and this date, empty for none, and its text's hash.

        *former* are answer and hash of the last visit; *was_asked* tells whether the server was asked with them.
        """
        site, (answer, former_hash) = host_of(url), former
        host = self.find(site)
        if host is None:
            return
        if etag:
            key = hash(etag)
            is_shared = host.etags.get(key, text_hash) != text_hash
            host.tagged += 1
            host.shared += is_shared or (etag == answer.etag and text_hash != former_hash)
            host.etags[key] = text_hash
            if host.shared >= SHARED and 4 * host.shared >= host.tagged:
                self.lower(url, Trust.ETAGS)
        if was_asked and text_hash == former_hash:
            host.in_vain += 1
            if host.in_vain >= IN_VAIN:
                host.in_vain = 0
                has_date = bool(modified) and modified == answer.modified
                self.lower(url, Trust.DATES if has_date and host.trust is Trust.FULL else Trust.NONE)
        self._fetch_believed(site)

    async def tell(self) -> None:
        """Join what was found out with what the store has. Raises StoreUnavailable; it is told the next time then."""
        while self._news:
            site, host = self._news.popitem()
            try:
                await change(self._notes, TRUST, site, host.joined)
            except BaseException:
                self._news.setdefault(site, host)
                raise

    def spider_closed(self, spider: Spider) -> None:
        """Log which hosts are not trusted."""
        lost = [(site, host) for site, host in self._hosts.items() if host.trust is not Trust.FULL]
        warn = partial(logger.warning, extra={"spider": spider})
        for site, host in lost[:MOST_TOLD]:
            why = _WHY[host.trust]
            warn("Conditional requests: %(site)s is not trusted: " + why, {"site": site, "url": host.url})
        if len(lost) > MOST_TOLD:
            more = {"number": len(lost) - MOST_TOLD}
            warn("Conditional requests: %(number)d more hosts are not trusted", more)

    def _host(self, site: str) -> Host:
        host = self.find(site)
        if host is None:
            host = self._hosts[site] = Host()
        return host

    def _fetch_believed(self, site: str) -> None:
        """Request in full what came by 304 from a host that is not trusted any more."""
        if site in self._doubted or not self.is_lost(site):
            return
        self._doubted.add(site)
        for key, request in list(self.believed.items()):
            if host_of(request.url) == site and self._crawler.engine is not None:
                del self.believed[key]
                self._crawler.engine.crawl(request)
