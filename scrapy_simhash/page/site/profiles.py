"""The profiles of the hosts of a crawl, the latest used ones, shared with the notes of its store."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import suppress
from itertools import islice
from threading import Lock

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import SITE, Noted, Notes, fetch, share
from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import finished

logger = logging.getLogger(__name__)

#: Hosts of which profiles are kept in memory: at most 64 MiB. As many more wait for the store while it does not work.
MOST_HOSTS = 1_000
#: Profiles that are written at once: a megabyte at most.
_AT_ONCE = 16


class KeptProfile(SiteProfile, Noted):
    """A profile, part of which is in a note."""

    def __init__(self) -> None:
        super().__init__()
        #: How many of the pages are counted in the note, as of now and as of the last to_bytes().
        self.shared_pages = self._written_pages = 0

    @property
    def has_news(self) -> bool:
        """See `Noted.has_news`: each page that it learned from is counted."""
        return self.pages != self.shared_pages and not self.is_pinned

    def take(self, data: bytes | None) -> None:
        """See `Noted.take`."""
        new_pages = self.pages if data is None else self.pages - self.shared_pages
        self.pages = new_pages
        if data is not None:
            with suppress(ValueError):
                self.join(data)
        self.shared_pages = self.pages if self.is_pinned else self.pages - new_pages

    def to_bytes(self) -> bytes:
        """See `SiteProfile.to_bytes`."""
        self._written_pages = self.pages
        return super().to_bytes()

    def was_kept(self) -> None:
        """See `Noted.was_kept`."""
        self.shared_pages = self._written_pages


class SiteProfiles:
    """A profile for each host. When there are too many, the one that was not used for longest goes.

    Trouble with the store raises nothing: what cannot be loaded is taken for an unknown site, and is asked for again
    at the next page; what cannot be written is written later. One thread may learn and share while others read.
    """

    def __init__(self, notes: Notes | None = None) -> None:
        """*notes* keep the profiles; with None they are gone with this object."""
        self._notes = notes
        self._profiles: OrderedDict[str, KeptProfile] = OrderedDict()
        # What the store was not given yet, also of hosts that are not among the above any more.
        self._changed: dict[str, KeptProfile] = {}
        self._lock = Lock()
        self._loading: dict[str, asyncio.Task[KeptProfile | None]] = {}
        self._sharing = asyncio.Lock()
        self._has_warned = False

    def of(self, url: str) -> SiteProfile:
        """Return the profile of the host of *url*, an empty one at its first page.

        Notes elsewhere are not asked: there, a host is unknown until load() has come back.
        """
        host = host_of(url)
        with self._lock:
            profile = self._profiles.get(host)
            if profile is not None:
                self._profiles.move_to_end(host)
                return profile
        return self._find(host) or SiteProfile()

    async def load(self, url: str) -> None:
        """Have the profile of the host of *url* in memory; pages that ask at once share one question."""
        host = host_of(url)
        if self._find(host) is not None:
            return
        task = self._loading.get(host)
        is_first = task is None
        if task is None:
            task = self._loading[host] = asyncio.create_task(self._load(host))
            task.add_done_callback(lambda _: self._loading.pop(host, None))
        # Who stops waiting does not stop it for the others.
        await asyncio.wait([task])
        if is_first:
            # An error of ours is told once; the others go on with an unknown site.
            task.result()

    def learn(self, url: str, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from the page at *url*; see `SiteProfile.learn`."""
        host = host_of(url)
        # What waits to be written goes on, though a thread that reads may have loaded the host once more.
        profile = self._changed.get(host) or self._profiles.get(host) or self._find(host)
        if profile is None or profile.is_pinned:
            return
        profile.learn(keys, sketch, seen)
        if self._notes is not None:
            self._changed[host] = profile
            if len(self._changed) > MOST_HOSTS:
                del self._changed[next(iter(self._changed))]

    async def share(self) -> None:
        """Write what was learned since the last call, joined with what other crawlers have written."""
        async with self._sharing:
            waiting = iter(sorted(self._changed.items()))
            while self._notes is not None and (some := dict(islice(waiting, _AT_ONCE))):
                try:
                    await share(self._notes, SITE, some)
                except StoreError as error:
                    self._warn(error)
                    return
                for host, profile in some.items():
                    # Meanwhile it may have learned more, or have gone since there were too many.
                    if not profile.has_news:
                        self._changed.pop(host, None)

    def _find(self, host: str) -> KeptProfile | None:
        """Return a profile; None if it is to be waited for, or the store does not work."""
        profile = self._profiles.get(host)
        if profile is None and (self._notes is None or not self._notes.is_remote):
            profile = finished(self._load(host))
        return profile

    async def _load(self, host: str) -> KeptProfile | None:
        """Put a profile into memory and return it, None if the store does not work."""
        profile = self._changed.get(host) or KeptProfile()
        if self._notes is not None and not profile.pages:
            try:
                await fetch(self._notes, SITE, host, profile)
            except StoreError as error:
                self._warn(error)
                return None
        with self._lock:
            # Another thread may have been faster; another one may push it out again at once.
            profile = self._profiles.setdefault(host, profile)
            if len(self._profiles) > MOST_HOSTS:
                self._profiles.popitem(last=False)
            return profile

    def _warn(self, error: StoreError) -> None:
        """Say once what does not pass by itself. Of a store that is away the pages tell."""
        if not self._has_warned and not isinstance(error, StoreUnavailable):
            self._has_warned = True
            logger.warning("What was learned about sites is not kept: %s", error)
