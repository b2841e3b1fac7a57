"""SiteProfiles: an LRU cache of the boilerplate models of hosts, stored as notes in the store."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import suppress
from threading import Lock

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import SITE, Notes, change
from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import maybe_await, run_sync

logger = logging.getLogger(__name__)

#: Max hosts in memory, which take at most 64 MiB. As many more may wait for an unavailable store.
MAX_HOSTS = 1_000


class KeptProfile(SiteProfile):
    """A profile and its stored note."""

    def __init__(self) -> None:
        super().__init__()
        # Number of pages in the note, and in the last result of merged().
        self._shared_pages = self._written_pages = 0

    @property
    def has_unwritten(self) -> bool:
        """Whether pages were learned since the note was written."""
        return self.pages != self._shared_pages and not self.is_pinned

    def take(self, data: bytes | None) -> None:
        """Merge *data*, the stored note, or None if there is none. A damaged note is ignored."""
        new_pages = self.pages if data is None else self.pages - self._shared_pages
        self.pages = new_pages
        if data is not None:
            with suppress(ValueError):
                self.join(data)
        self._shared_pages = self.pages if self.is_pinned else self.pages - new_pages

    def merged(self, data: bytes | None) -> bytes | None:
        """Merge *data*, the stored note, and return the new note; None if *data* already contains all pages."""
        self.take(data)
        self._written_pages = self.pages
        return self.to_bytes() if self.has_unwritten else None

    def was_kept(self) -> None:
        """Record that the last result of merged() was stored; more pages may have been learned since."""
        self._shared_pages = self._written_pages


class SiteProfiles:
    """A profile for each host. Beyond `MAX_HOSTS`, the least recently used profile is removed.

    Errors of the store are not raised. If a profile cannot be loaded, the site counts as unknown, and the next page
    tries again. Failed writes are retried later. One thread may learn and share while others read.
    """

    def __init__(self, notes: Notes | None = None) -> None:
        """*notes* store the profiles; with None, profiles are only kept in memory."""
        self._notes = notes
        self._profiles: OrderedDict[str, KeptProfile] = OrderedDict()
        # Profiles that are not written yet, including those that are no longer in `_profiles`.
        self._changed: dict[str, KeptProfile] = {}
        self._lock = Lock()
        self._loading: dict[str, asyncio.Task[KeptProfile | None]] = {}
        self._sharing = asyncio.Lock()
        self._has_warned = False

    def of(self, url: str) -> SiteProfile:
        """Return the profile of the host of *url*; an empty profile for the first page of the host.

        Does not read remote notes: with a remote store, a host is unknown until load() has finished.
        """
        host = host_of(url)
        with self._lock:
            profile = self._profiles.get(host)
            if profile is not None:
                self._profiles.move_to_end(host)
                return profile
        return self._find(host) or SiteProfile()

    async def load(self, url: str) -> None:
        """Load the profile of the host of *url* into memory; concurrent calls share one request."""
        host = host_of(url)
        if self._find(host) is not None:
            return
        task = self._loading.get(host)
        is_first = task is None
        if task is None:
            task = self._loading[host] = asyncio.create_task(self._load(host))
            task.add_done_callback(lambda _: self._loading.pop(host, None))
        # If one caller is cancelled, the request continues for the other callers.
        await asyncio.wait([task])
        if is_first:
            # An internal error is raised once; other callers continue with an unknown site.
            task.result()

    def learn(self, url: str, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from the page at *url*; see `SiteProfile.learn`."""
        host = host_of(url)
        # Continue with the profile that is waiting to be written, because a reading thread may have loaded the host
        # again.
        profile = self._changed.get(host) or self._profiles.get(host) or self._find(host)
        if profile is None or profile.is_pinned:
            return
        profile.learn(keys, sketch, seen)
        if self._notes is not None:
            self._changed[host] = profile
            if len(self._changed) > MAX_HOSTS:
                del self._changed[next(iter(self._changed))]

    async def share(self) -> None:
        """Write changed profiles, merged with those that other crawlers have written."""
        if self._notes is None:
            return
        async with self._sharing:
            for host, profile in sorted(self._changed.items()):
                try:
                    await change(self._notes, SITE, host, profile.merged)
                except StoreError as error:
                    self._warn(error)
                    return
                profile.was_kept()
                # During the write the profile may have learned more, or may have been removed from memory.
                if not profile.has_unwritten:
                    self._changed.pop(host, None)

    def _find(self, host: str) -> KeptProfile | None:
        """Return the profile of *host*; None if it must be loaded asynchronously, or if the store fails."""
        profile = self._profiles.get(host)
        if profile is None and (self._notes is None or not self._notes.is_remote):
            profile = run_sync(self._load(host))
        return profile

    async def _load(self, host: str) -> KeptProfile | None:
        """Load the profile of *host* into memory and return it; None if the store fails."""
        profile = self._changed.get(host) or KeptProfile()
        if self._notes is not None and not profile.pages:
            try:
                profile.take((await maybe_await(self._notes.note(SITE, host)))[1])
            except StoreError as error:
                self._warn(error)
                return None
        with self._lock:
            # Another thread may have loaded the profile first, or may remove it again.
            profile = self._profiles.setdefault(host, profile)
            if len(self._profiles) > MAX_HOSTS:
                self._profiles.popitem(last=False)
            return profile

    def _warn(self, error: StoreError) -> None:
        """Log permanent errors once. An unavailable store is logged when a page is compared."""
        if not self._has_warned and not isinstance(error, StoreUnavailable):
            self._has_warned = True
            logger.warning("Boilerplate models were not stored: %s", error)
