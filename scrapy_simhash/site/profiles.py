"""SiteProfiles: the profiles of the hosts of a crawl, the latest used ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

from scrapy_simhash.site.profile import SiteProfile

#: Hosts of which profiles are kept: at most 64 MiB.
MOST_HOSTS = 1_000


class Keeper(Protocol):
    """Keeps the bytes of profiles: a :class:`~scrapy_simhash.store.base.KeepsSites`."""

    def load_site(self, host: str) -> bytes | None:
        """Return the profile of *host*, None if there is none."""
        ...

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        """Keep the profiles of hosts."""
        ...


class SiteProfiles:
    """A profile for each host. When there are too many, the one that was not used for longest goes."""

    def __init__(self, keeper: Keeper | None = None) -> None:
        """*keeper* is the store that keeps profiles; with None they are gone with this object."""
        self._profiles: OrderedDict[str, SiteProfile] = OrderedDict()
        self._keeper = keeper
        self._changed: set[str] = set()

    def of(self, url: str) -> SiteProfile:
        """Return the profile of the host of *url*, an empty one at its first page."""
        host = host_of(url)
        profile = self._profiles.get(host)
        if profile is None:
            profile = self._profiles[host] = self._kept(host)
            if len(self._profiles) > MOST_HOSTS:
                self.keep()
                self._profiles.popitem(last=False)
        else:
            self._profiles.move_to_end(host)
        return profile

    def learn(self, url: str, keys: bytes, sketch: bytes) -> None:
        """Learn from the page at *url*; see `SiteProfile.learn`."""
        self.of(url).learn(keys, sketch)
        self._changed.add(host_of(url))

    def keep(self) -> None:
        """Give the store what was learned since the last call. Raises StoreUnavailable; the next call tries again."""
        if self._keeper is not None and self._changed:
            self._keeper.keep_sites(
                [(host, self._profiles[host].to_bytes()) for host in sorted(self._changed)]
            )
        self._changed.clear()

    def _kept(self, host: str) -> SiteProfile:
        data = None if self._keeper is None else self._keeper.load_site(host)
        return SiteProfile() if data is None else SiteProfile.from_bytes(data)


def host_of(url: str) -> str:
    """Return the host of *url* in lower case, empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
