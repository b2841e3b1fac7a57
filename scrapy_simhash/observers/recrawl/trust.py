"""Trust: what hosts say of their pages without sending them, and whether that has turned out to be true."""

from __future__ import annotations

import json
from enum import Enum

from scrapy_simhash.recent import Recent

#: Pages of a host that came in full, with the text that they had, although their validators were sent: then these are
#: of no use. Without one answer of 304 in between.
IN_VAIN = 10
#: Pages whose ETag had come with another text before, if they are one in four: then ETags say nothing.
SHARED = 3
#: ETags of a host that are compared, the latest. Files of one size and one second may share theirs, by chance.
MOST_ETAGS = 16
#: Where pages are asked conditionally for the first time, the chance that an answer of 304 is checked is this over
#: this plus the number of those before it: the first is checked in any case, then about 19 of 72, 39 of 1,000.
EARLY = 8
#: Seconds until a host is trusted again, if it was not in the meantime: it may have been repaired.
FORGIVEN = 30 * 86_400
#: Hosts that are remembered; the oldest goes.
MOST_HOSTS = 20_000


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


class Host:
    """One host."""

    __slots__ = ("etags", "in_vain", "shared", "since", "tagged", "trust", "unmodified", "url")

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

    def to_bytes(self) -> bytes:
        """Return it as it is to be kept."""
        return json.dumps([self.trust.value, self.since, self.url]).encode()

    def join(self, data: bytes, now: int) -> None:
        """Join what is kept: the worst that was found holds, until it is forgiven. Raises ValueError otherwise."""
        try:
            name, since, url = json.loads(data)
            kept = Trust(name)
            is_worse = (kept.rank, since) > (self.trust.rank, self.since)
            if is_worse and now - since < FORGIVEN:
                self.trust, self.since, self.url = kept, int(since), str(url)
        except TypeError as error:
            raise ValueError(f"damaged trust: {error}") from error


class Trusts:
    """The hosts of a crawl."""

    def __init__(self) -> None:
        self._hosts: Recent[str, Host] = Recent(MOST_HOSTS)
        #: The hosts that the store is to be told of.
        self.news: dict[str, Host] = {}

    def find(self, site: str) -> Host | None:
        """Return what is known of a host, None if it was never met."""
        return self._hosts.get(site)

    def add(self, site: str) -> Host:
        """Return a host that is met for the first time."""
        host = self._hosts[site] = Host()
        return host

    def lower(self, site: str, trust: Trust, url: str, now: int) -> None:
        """Note that a host is to be trusted no more than this, by what the page at *url* has shown."""
        host = self._hosts.get(site) or self.add(site)
        if trust.rank > host.trust.rank:
            host.trust, host.since, host.url = trust, now, url
            self.news[site] = host

    def answered_304(self, site: str, is_first: bool) -> float:
        """Note an answer of 304, and return the chance with which it should be checked, at least.

        *is_first* says that the page was asked for conditionally for the first time.
        """
        host = self._hosts.get(site)
        if host is None:
            return 0.0
        host.in_vain = 0
        host.unmodified += 1
        return EARLY / (EARLY + host.unmodified - 1) if is_first else 0.0

    def came_in_full(
        self, site: str, url: str, etag: bytes, text_hash: int, former: tuple[bytes, int | None], now: int
    ) -> None:
        """Note the ETag of a page that came in full and its text's hash; *former* are those of its last visit."""
        host = self._hosts.get(site)
        if host is None or not etag:
            return
        key = hash(etag)
        host.tagged += 1
        host.shared += host.etags.get(key, text_hash) != text_hash or (
            etag == former[0] and text_hash != former[1]
        )
        host.etags[key] = text_hash
        if host.shared >= SHARED and 4 * host.shared >= host.tagged:
            self.lower(site, Trust.ETAGS, url, now)

    def came_in_vain(self, site: str, url: str, has_date: bool, now: int) -> None:
        """Note that a page came in full with the text that it had; *has_date* if it could be asked for by date."""
        host = self._hosts.get(site)
        if host is None or host.trust.is_lost:
            return
        host.in_vain += 1
        if host.in_vain >= IN_VAIN:
            host.in_vain = 0
            self.lower(site, Trust.DATES if has_date and host.trust is Trust.FULL else Trust.NONE, url, now)

    def lost(self) -> list[tuple[str, Host]]:
        """Return the hosts of which pages are fetched in full, or by date alone."""
        return [(site, host) for site, host in self._hosts.items() if host.trust is not Trust.FULL]
