"""SharedSiteProfiles: the profiles of the hosts of a crawl, with a store that other crawlers share."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Protocol, runtime_checkable

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.page.site.profile import SiteProfile
from scrapy_simhash.page.site.profiles import Keeper, SiteProfiles
from scrapy_simhash.scope import host_of

logger = logging.getLogger(__name__)

#: Profiles that are written at once.
_AT_ONCE = 16
#: How often another crawler may be faster before a profile waits for the next time.
_LOSSES = 10


@runtime_checkable
class SharedKeeper(Protocol):
    """Keeps the bytes of profiles: a :class:`~scrapy_simhash.store.base.SharesSites`."""

    async def load_site(self, host: str, known: bytes = b"") -> tuple[bytes, bytes | None]:
        """Return the version of the profile of *host*, and the profile unless *known* is its version."""
        ...

    async def replace_site(self, host: str, former: bytes, profile: bytes) -> bytes | None:
        """Put *profile* in the place of version *former*, and return its version."""
        ...


class SharedProfile(SiteProfile):
    """A profile, and what the store has of it."""

    def __init__(self) -> None:
        super().__init__()
        #: Of what was last read from the store or written to it; empty if the store had none.
        self.version = b""
        #: How many of the pages are counted in that version.
        self.shared_pages = 0

    def take(self, version: bytes, data: bytes | None) -> None:
        """Join the version that the store has now; *data* is None if there is nothing new, or nothing at all."""
        if version == self.version:
            return
        # A store that has lost the profile gets all of it again.
        new_pages = self.pages - self.shared_pages if version else self.pages
        self.pages = new_pages
        if data is not None:
            # A damaged profile is learned anew.
            with suppress(ValueError):
                self.join(data)
        self.version = version
        self.shared_pages = self.pages if self.is_pinned else self.pages - new_pages


class SharedSiteProfiles(SiteProfiles):
    """`SiteProfiles` that are loaded from a store and joined with those in it, so that no crawler's are lost.

    A host is unknown until load() has come back. Call all methods but of() from the event loop's thread.
    """

    def __init__(self, keeper: SharedKeeper) -> None:
        super().__init__()
        self._notes_changes = True
        self._shared = keeper
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._sharing = asyncio.Lock()
        self._has_warned = False

    async def load(self, url: str) -> None:
        """Load the profile of the host of *url*, unless it is here; pages that ask at once share one question.

        Raises nothing: while the store does not work the host stays unknown, and the next page asks again.
        """
        host = host_of(url)
        if self._find(host) is not None:
            return
        task = self._loading.get(host)
        if task is None:
            task = self._loading[host] = asyncio.create_task(self._load(host))
            task.add_done_callback(lambda _: self._loading.pop(host, None))
        # Who stops waiting does not stop it for the others.
        await asyncio.wait([task])

    async def share(self) -> None:
        """Join what was learned since the last call with what is in the store, here and there.

        Raises nothing: what cannot be written is written by the next call that works.
        """
        async with self._sharing:
            waiting = sorted(self._changed)
            for start in range(0, len(waiting), _AT_ONCE):
                exchanges = map(self._exchange, waiting[start : start + _AT_ONCE])
                for error in filter(None, await asyncio.gather(*exchanges, return_exceptions=True)):
                    if not isinstance(error, StoreError):
                        raise error
                    self._warn(error)
                    return

    def _kept(self, host: str) -> SiteProfile:
        raise StoreUnavailable(f"the profile of {host} was not loaded")

    async def _load(self, host: str) -> None:
        try:
            version, data = await self._shared.load_site(host)
        except StoreError as error:
            self._warn(error)
            return
        profile = SharedProfile()
        profile.take(version, data)
        with self._lock:
            self._put(host, profile)

    async def _exchange(self, host: str) -> None:
        profile = self._changed.pop(host)
        assert isinstance(profile, SharedProfile)
        try:
            for _ in range(_LOSSES):
                profile.take(*await self._shared.load_site(host, profile.version))
                if profile.is_pinned:
                    return
                # What is learned while the store is asked is noted as changed, and written the next time.
                pages = profile.pages
                version = await self._shared.replace_site(host, profile.version, profile.to_bytes())
                if version is not None:
                    profile.version, profile.shared_pages = version, pages
                    return
            raise StoreUnavailable(f"other crawlers kept changing the profile of {host}")
        except BaseException:
            self._changed.setdefault(host, profile)
            raise

    def _warn(self, error: StoreError) -> None:
        """Say once what does not pass by itself. Of a store that is away the pages tell."""
        if not self._has_warned and not isinstance(error, StoreUnavailable):
            self._has_warned = True
            logger.warning("What was learned about sites is not shared with other crawlers: %s", error)


def profiles_with(store: object) -> SiteProfiles:
    """Return profiles that are kept in *store*, if it can keep any."""
    if isinstance(store, SharedKeeper):
        return SharedSiteProfiles(store)
    return SiteProfiles(store if isinstance(store, Keeper) else None)
