"""SiteProfiles: the profiles of the hosts of a crawl, the latest used ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import Protocol, runtime_checkable

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.scope import host_of

#: Hosts of which profiles are kept in memory: at most 64 MiB. As many more wait for the store while it does not work.
MOST_HOSTS = 1_000


@runtime_checkable
class Keeper(Protocol):
    """Keeps the bytes of profiles: a :class:`~scrapy_simhash.store.base.KeepsSites`."""

    def load_site(self, host: str) -> bytes | None:
        """Return the profile of *host*, None if there is none."""
        ...

    def keep_sites(self, profiles: Iterable[tuple[str, bytes]]) -> None:
        """Keep the profiles of hosts."""
        ...


class SiteProfiles:
    """A profile for each host. When there are too many, the one that was not used for longest goes.

    Trouble with the store raises nothing but in keep(): what cannot be loaded is taken for an unknown site, and is
    asked for again at the next page. One thread may learn and keep while others read.
    """

    def __init__(self, keeper: Keeper | None = None) -> None:
        """*keeper* is the store that keeps profiles; with None they are gone with this object."""
        self._profiles: OrderedDict[str, SiteProfile] = OrderedDict()
        self._keeper = keeper
        self._notes_changes = keeper is not None
        # What the store was not given yet, also of hosts that are not among the above any more.
        self._changed: dict[str, SiteProfile] = {}
        self._lock = Lock()

    @property
    def known(self) -> int:
        """How many of the hosts in memory are known. O(hosts), at most `MOST_HOSTS`."""
        return sum(profile.is_known for profile in self._profiles.values())

    def of(self, url: str) -> SiteProfile:
        """Return the profile of the host of *url*, an empty one at its first page."""
        return self._find(host_of(url)) or SiteProfile()

    def learn(self, url: str, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from the page at *url*; see `SiteProfile.learn`."""
        host = host_of(url)
        profile = self._find(host)
        if profile is None or profile.is_pinned:
            return
        profile.learn(keys, sketch, seen)
        if self._notes_changes:
            self._changed[host] = profile
            if len(self._changed) > MOST_HOSTS:
                del self._changed[next(iter(self._changed))]

    def keep(self) -> None:
        """Give the store what was learned since the last call. Raises StoreUnavailable; the next call tries again."""
        if self._keeper is not None and self._changed:
            self._keeper.keep_sites(
                [(host, profile.to_bytes()) for host, profile in sorted(self._changed.items())]
            )
            self._changed.clear()

    async def load(self, url: str) -> None:
        """Have the profile of the host of *url* ready, where a store must be waited for: not here."""

    async def share(self) -> None:
        """Give the store what was learned, and raise nothing; where crawlers share one, join what others learned."""
        with suppress(StoreUnavailable):
            self.keep()

    def _find(self, host: str) -> SiteProfile | None:
        """Return a profile from memory or from the store, or an empty one; None if the store does not work."""
        with self._lock:
            profile = self._profiles.get(host)
            if profile is not None:
                self._profiles.move_to_end(host)
                return profile
            try:
                profile = self._changed.get(host) or self._kept(host)
            except StoreUnavailable:
                return None
            self._put(host, profile)
            return profile

    def _put(self, host: str, profile: SiteProfile) -> None:
        self._profiles[host] = profile
        if len(self._profiles) > MOST_HOSTS:
            self._profiles.popitem(last=False)

    def _kept(self, host: str) -> SiteProfile:
        data = None if self._keeper is None else self._keeper.load_site(host)
        if data is not None:
            # A damaged profile is learned anew.
            with suppress(ValueError):
                return SiteProfile.from_bytes(data)
        return SiteProfile()
