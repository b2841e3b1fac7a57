"""Boilerplate models: text that a site repeats on its pages, learned during the crawl.

SiteProfile is the model of one site. SiteProfiles is an LRU cache of the models of all hosts, stored as notes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from threading import Lock

from scrapy_simhash import kernel
from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import SITE, Notes, change
from scrapy_simhash.page.fingerprint import title_key_number
from scrapy_simhash.scope import host_of
from scrapy_simhash.waiting import maybe_await, run_sync

logger = logging.getLogger(__name__)

# PieceTable counts the title keys of the pages that contain a text block, in bounded memory.
#
# The C extension has the same table. A bucket holds eight text blocks; if a ninth is added, the table grows. If the
# table cannot grow, the ninth replaces the text block with the fewest title keys, or the oldest of these, but never
# known boilerplate.

#: Flags of a text block: boilerplate, and possible boilerplate, which has at least half the required title keys.
BOILERPLATE = 1
DOUBTFUL = 2
#: Text blocks per bucket.
BUCKET = 8
#: Buckets of a new table, and max buckets: 4,096 text blocks of 16 bytes, 64 KiB.
FIRST_BUCKETS = 16
MAX_BUCKETS = 512
_FILLED = 6
_PIECE = Struct("<QQ")
_KEY = Struct("<Q")


class PieceTable:
    """Text blocks by key, each with 64 bits for the title keys of its pages.

    A key is an unsigned 64-bit number, odd for short text blocks. Several keys are passed as bytes: 8 bytes each,
    little endian.
    """

    def __init__(self, min_title_keys: int, min_title_keys_short: int) -> None:
        """Set the minimum title keys, 1 to 64, of a text block, and of a short text block, that is boilerplate."""
        #: A bit for each title key of the learned pages.
        self.title_keys = 0
        self._least = (min_title_keys, min_title_keys_short)
        self._buckets: list[list[tuple[int, int]]] = [[] for _ in range(FIRST_BUCKETS)]
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def is_known(self) -> bool:
        """Whether the learned pages have enough different title keys to recognise boilerplate."""
        return self.title_keys.bit_count() >= self._least[0]

    def flags(self, keys: bytes) -> bytes | None:
        """Return a byte for each of *keys*: `BOILERPLATE`, `DOUBTFUL`, or 0; empty if all are 0. O(keys).

        None if too little is known.
        """
        if not self.is_known:
            return None
        flags = bytes(map(self._flag, [key for (key,) in _KEY.iter_unpack(keys)]))
        return flags if any(flags) else b""

    def learn(self, keys: bytes, title_key: int) -> None:
        """Add the text blocks *keys* of a page with *title_key*, a number from 0 to 63. O(keys)."""
        self.title_keys |= 1 << title_key
        for (key,) in _KEY.iter_unpack(keys):
            self._note(key, 1 << title_key)

    def to_bytes(self) -> bytes:
        """Return all text blocks, 16 bytes each."""
        return b"".join(_PIECE.pack(*piece) for bucket in self._buckets for piece in bucket)

    def load(self, data: bytes) -> None:
        """Add the text blocks in *data*, a result of to_bytes(). The title keys of equal blocks are merged.

        An empty table becomes equal to the other table, with the same order in each bucket. O(data).
        """
        pieces = list(_PIECE.iter_unpack(data))
        # First grow to the size of the other table, whose text blocks may not fit into fewer buckets.
        while len(pieces) > _FILLED * len(self._buckets) and len(self._buckets) < MAX_BUCKETS:
            self._grow()
        for key, title_keys in reversed(pieces):
            if title_keys:
                self._note(key, title_keys)

    def known(self) -> list[tuple[int, int]]:
        """Return the text blocks that are boilerplate: key and number of title keys."""
        return [
            (key, title_keys.bit_count())
            for bucket in self._buckets
            for key, title_keys in bucket
            if title_keys.bit_count() >= self._least[key & 1]
        ]

    def _bucket(self, key: int) -> list[tuple[int, int]]:
        return self._buckets[(key >> 1) & (len(self._buckets) - 1)]

    def _flag(self, key: int) -> int:
        least = self._least[key & 1]
        for known, title_keys in self._bucket(key):
            if known == key:
                count = title_keys.bit_count()
                return BOILERPLATE if count >= least else DOUBTFUL if 2 * count >= least else 0
        return 0

    def _note(self, key: int, title_keys: int) -> None:
        bucket = self._bucket(key)
        for place, (known, former) in enumerate(bucket):
            if known == key:
                bucket[place] = key, former | title_keys
                return
        while len(bucket) == BUCKET and len(self._buckets) < MAX_BUCKETS:
            self._grow()
            bucket = self._bucket(key)
        if len(bucket) == BUCKET:
            # The oldest text block is last.
            place = min(reversed(range(BUCKET)), key=lambda place: bucket[place][1].bit_count())
            if bucket[place][1].bit_count() >= self._least[0]:
                return
            del bucket[place]
            self._size -= 1
        bucket.insert(0, (key, title_keys))
        self._size += 1
        if self._size > _FILLED * len(self._buckets) and len(self._buckets) < MAX_BUCKETS:
            self._grow()

    def _grow(self) -> None:
        former = self._buckets
        self._buckets = [[] for _ in range(2 * len(former))]
        for bucket in former:
            for piece in bucket:
                self._bucket(piece[0]).append(piece)


#: Number of different title keys with which a text block must occur to be boilerplate. Text blocks of fewer than five
#: tokens, such as labels and names, need twice as many.
MIN_TITLE_KEYS = 6
MIN_TITLE_KEYS_SHORT = 12
_HEAD = Struct("<QII?")
_LATEST = 2**32 - 1


class SiteProfile:
    """Text blocks, with the title keys of the pages that contain them. At most 64 KiB.

    Title keys are counted rather than pages, because versions of one page have the same text.
    """

    flags: Callable[[bytes], bytes | None]
    """The method of the table, which may be compiled; see :class:`~scrapy_simhash.page.reading.KnownSite`."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._table: PieceTable = getattr(kernel.native, "PieceTable", PieceTable)(
            MIN_TITLE_KEYS, MIN_TITLE_KEYS_SHORT
        )
        self.flags = self._table.flags
        #: Number of learned pages.
        self.pages = 0
        #: Time of the first learned page, in seconds of Unix time; 0 if unknown.
        self.since = 0
        #: Whether the profile is used, but no longer changed.
        self.is_pinned = False

    @property
    def is_known(self) -> bool:
        """Whether the learned pages have enough different title keys to recognise boilerplate."""
        return self._table.is_known

    @property
    def title_keys(self) -> int:
        """Number of different title keys, at most 64."""
        return self.title_key_bits.bit_count()

    def learn(self, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from a page with the text blocks *keys* and the title key in *sketch*, in 5 µs with the C extension.

        *seen* is the time of the visit, in seconds of Unix time. A pinned profile does not change.
        """
        if self.is_pinned:
            return
        if not self.pages:
            self.since = seen
        self.pages += 1
        self._table.learn(keys, title_key_number(sketch) & 63)

    def known(self) -> list[tuple[int, int]]:
        """Return the text blocks that are boilerplate: key and number of title keys, at most 64."""
        return self._table.known()

    def to_bytes(self) -> bytes:
        """Return the profile as bytes: 17, and 16 for each text block."""
        return (
            _HEAD.pack(self.title_key_bits, self.pages, min(max(self.since, 0), _LATEST), self.is_pinned)
            + self._table.to_bytes()
        )

    @property
    def title_key_bits(self) -> int:
        """A bit for each title key, 64 bits."""
        return self._table.title_keys

    def pieces(self) -> list[tuple[int, int]]:
        """Return all text blocks: key, and a bit for each title key of its pages; at most 4,096."""
        return list(_PIECE.iter_unpack(self._table.to_bytes()))

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteProfile:
        """Return the profile for *data*, a result of to_bytes(). Raises ValueError for other bytes."""
        profile = cls()
        profile.join(data)
        return profile

    def join(self, data: bytes) -> None:
        """Merge another profile, given as a result of to_bytes(); a pinned profile replaces this one.

        Raises ValueError for other bytes.
        """
        if len(data) < _HEAD.size or (len(data) - _HEAD.size) % 16:
            raise ValueError(f"a boilerplate model has 17 bytes plus 16 per text block, got {len(data)}")
        title_keys, pages, since, is_pinned = _HEAD.unpack_from(data)
        if is_pinned:
            self._forget()
        self._table.title_keys |= title_keys
        self.pages += pages
        self.since = min(filter(None, (self.since, since)), default=0)
        self.is_pinned = is_pinned
        self._table.load(data[_HEAD.size :])


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
            logger.warning(
                "Boilerplate models cannot be read or stored, so pages may be compared without them: %s",
                error,
            )
