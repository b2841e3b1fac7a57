"""SiteProfile: the boilerplate model of a site, learned from its pages."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from scrapy_simhash import kernel
from scrapy_simhash.page.fingerprint import title_key_number

# PieceTable counts the title keys of the pages that contain a text block, in bounded memory.
#
# The C extension has the same table. A bucket holds eight text blocks; if a ninth is added, the table grows. If the
# table cannot grow, the ninth replaces the text block with the fewest title keys, or the oldest of these, but never
# known boilerplate.

#: Flags of a text block: boilerplate, and possible boilerplate, which has at least half the required title keys.
SITE = 1
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
        """Return a byte for each of *keys*: `SITE`, `DOUBTFUL`, or 0; empty if all are 0. O(keys).

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
                return SITE if count >= least else DOUBTFUL if 2 * count >= least else 0
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
