"""RuleKeeper: the rules of a crawl's hosts in its store, so that later crawls and other crawlers have them."""

from __future__ import annotations

from contextlib import suppress

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.observers.url_rules.host import HostRules
from scrapy_simhash.observers.url_rules.kept import KeptRules, place_of_site
from scrapy_simhash.page.site.profiles import Keeper, SharedKeeper

#: How often another crawler may be faster before rules wait for the next time.
_LOSSES = 10


class RuleKeeper:
    """Loads and keeps the rules of hosts in a store. Trouble with the store raises nothing: it is tried again later.

    What a store elsewhere has of a host comes with the next exchange(): until then the host begins from nothing.
    """

    def __init__(self, store: object) -> None:
        self._local = store if isinstance(store, Keeper) and not isinstance(store, SharedKeeper) else None
        self._shared = store if isinstance(store, SharedKeeper) else None
        self._hosts: dict[str, KeptRules] = {}
        #: Hosts of which the store was not asked yet.
        self._new: set[str] = set()

    @property
    def is_shared(self) -> bool:
        """Whether the store is elsewhere: exchange() is to be awaited."""
        return self._shared is not None

    @property
    def has_new(self) -> bool:
        """Whether there are hosts of which the store is to be asked by exchange()."""
        return bool(self._new)

    def add(self, site: str, host: HostRules, now: int) -> None:
        """Take note of a host whose rules are used from now on, and join what the store has of it."""
        if self._local is None and self._shared is None:
            return
        kept = self._hosts[site] = KeptRules(host)
        if self._local is None:
            self._new.add(site)
            return
        # What is damaged is learned anew.
        with suppress(ValueError, StoreUnavailable):
            kept.join(self._local.load_site(place_of_site(site)), now)

    def drop(self, site: str) -> None:
        """Forget a host; what the store was not told of it is lost."""
        self._hosts.pop(site, None)
        self._new.discard(site)

    def keep(self) -> None:
        """Give the store what was learned since the last call."""
        if self._local is not None:
            changed = [(site, kept) for site, kept in self._hosts.items() if kept.has_news]
            with suppress(StoreUnavailable):
                self._local.keep_sites([(place_of_site(site), kept.to_bytes()) for site, kept in changed])

    async def exchange(self, now: int) -> None:
        """Do what keep() does; with a store that crawlers share, join what others have learned."""
        self.keep()
        if self._shared is None:
            return
        waiting = [(site, kept) for site, kept in self._hosts.items() if site in self._new or kept.has_news]
        for site, kept in waiting:
            with suppress(StoreError):
                await self._exchange_one(self._shared, site, kept, now)
                self._new.discard(site)

    async def _exchange_one(self, store: SharedKeeper, site: str, kept: KeptRules, now: int) -> None:
        for _ in range(_LOSSES):
            version, data = await store.load_site(place_of_site(site), kept.version)
            if version != kept.version:
                with suppress(ValueError):
                    kept.join(data, now)
                kept.version = version
            if not kept.has_news:
                return
            written = await store.replace_site(place_of_site(site), version, kept.to_bytes())
            if written is not None:
                kept.version = written
                return
