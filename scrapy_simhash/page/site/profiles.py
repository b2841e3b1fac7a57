"""The profiles of the hosts of a crawl, the latest used ones; also with a store that other crawlers share."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import Protocol, runtime_checkable

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
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
