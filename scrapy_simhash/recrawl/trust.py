"""Trust: what hosts say of their pages without sending them, and whether that has turned out to be true."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from scrapy_simhash.recent import Recent

#: Pages of a host that came in full, with the text that they had, although their validators were sent: then these are
#: of no use. Without one answer of 304 in between.
IN_VAIN = 10
#: Seconds until a host is trusted again, if it was not in the meantime: it may have been repaired.
FORGIVEN = 30 * 86_400
#: Hosts that are remembered; the oldest goes.
MOST_HOSTS = 20_000


class Trust(Enum):
    """What is sent to a host."""

    FULL = "full"
    DATES = "dates"
    """Only dates: its ETags are new at each visit."""
    NONE = "none"
    """Nothing: its validators are of no use."""
    LIED = "lied"
    """Nothing: it has said of a page that had changed that it had not."""

    @property
    def is_lost(self) -> bool:
        """Whether every page of the host is fetched in full."""
        return self in (Trust.NONE, Trust.LIED)


class Host:
    """One host."""

    __slots__ = ("in_vain", "is_new", "since", "trust", "url")

    def __init__(self) -> None:
        self.trust = Trust.FULL
        self.in_vain = 0
        #: When it was trusted less, and a page by which that was found out.
        self.since, self.url = 0, ""
        #: Whether the store is to be told.
        self.is_new = False

    def to_bytes(self) -> bytes:
        """Return it as it is to be kept."""
        return json.dumps([self.trust.value, self.since, self.url]).encode()

    def join(self, data: bytes, now: int) -> None:
        """Take over what is kept, unless it is forgiven. Raises ValueError for what is no such data."""
        try:
            trust, since, url = json.loads(data)
            if now - since < FORGIVEN:
                self.trust, self.since, self.url = Trust(trust), int(since), str(url)
        except TypeError as error:
            raise ValueError(f"damaged trust: {error}") from error


class Trusts:
    """The hosts of a crawl."""

    def __init__(self) -> None:
        self._hosts: Recent[str, Host] = Recent(MOST_HOSTS)

    def find(self, site: str) -> Host | None:
        """Return what is known of a host, None if it was never met."""
        return self._hosts.get(site)

    def add(self, site: str) -> Host:
        """Return a host that is met for the first time."""
        host = self._hosts[site] = Host()
        return host

    def lied(self, site: str, url: str, now: int) -> None:
        """Note that the page at *url* had changed, although the host had answered 304."""
        self._lower(site, Trust.LIED, url, now)

    def kept_word(self, site: str) -> None:
        """Note an answer of 304."""
        host = self._hosts.get(site)
        if host is not None:
            host.in_vain = 0

    def came_in_vain(self, site: str, url: str, has_date: bool, now: int) -> None:
        """Note that a page came in full with the text that it had; *has_date* if it could be asked for by date."""
        host = self._hosts.get(site)
        if host is None or host.trust.is_lost:
            return
        host.in_vain += 1
        if host.in_vain >= IN_VAIN:
            host.in_vain = 0
            self._lower(site, Trust.DATES if has_date and host.trust is Trust.FULL else Trust.NONE, url, now)

    def news(self) -> list[tuple[str, Host]]:
        """Return the hosts that the store is to be told of."""
        return [(site, host) for site, host in self._items() if host.is_new]

    def lost(self) -> list[tuple[str, Host]]:
        """Return the hosts of which pages are fetched in full, or by date alone."""
        return [(site, host) for site, host in self._items() if host.trust is not Trust.FULL]

    def _lower(self, site: str, trust: Trust, url: str, now: int) -> None:
        host: Any = self._hosts.get(site) or self.add(site)
        host.trust, host.since, host.url, host.is_new = trust, now, url, True

    def _items(self) -> list[tuple[str, Host]]:
        return list(self._hosts.items())
