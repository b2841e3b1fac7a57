"""SiteProfile: what the pages of one site share, learned from the pages as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from struct import Struct

from scrapy_simhash import kernel
from scrapy_simhash.page.fingerprint import subject_number

# PieceTable: on how many pages of different subject a piece of text stood, in bounded memory.
#
# The definition in pure Python; the kernel has its twin. Eight pieces share a bucket. When a ninth comes, the table
# grows; when it cannot, the piece with the fewest subjects goes, of several the one that came first; none goes that
# is known to be the site's.

#: What a piece is: the site's; perhaps the site's, since it stood on half as many subjects as that takes.
SITE = 1
DOUBTFUL = 2
#: Pieces in a bucket.
BUCKET = 8
#: Buckets of a new table, and of the largest: 64 KiB with 16 bytes a piece.
FIRST_BUCKETS = 16
MOST_BUCKETS = 512
_FILLED = 6
_PIECE = Struct("<QQ")
_KEY = Struct("<Q")


class PieceTable:
    """Pieces by key, each with 64 bits for the subjects of the pages that it stood on.

    A key is an unsigned 64-bit number, odd for short pieces. Many keys are passed as bytes: 8 each, lowest byte
    first.
    """

    def __init__(self, least: int, least_short: int) -> None:
        """A piece is the site's from *least* subjects on, a short one from *least_short*; 1 to 64 each."""
        #: A bit for each subject of which a page was learned.
        self.subjects = 0
        self._least = (least, least_short)
        self._buckets: list[list[tuple[int, int]]] = [[] for _ in range(FIRST_BUCKETS)]
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def is_known(self) -> bool:
        """Whether there were pages of enough subjects to tell what the site repeats."""
        return self.subjects.bit_count() >= self._least[0]

    def flags(self, keys: bytes) -> bytes | None:
        """Return for each of *keys* a byte: `SITE`, `DOUBTFUL`, or 0; empty if all are 0. O(keys).

        None if too little is known.
        """
        if not self.is_known:
            return None
        flags = bytes(map(self._flag, [key for (key,) in _KEY.iter_unpack(keys)]))
        return flags if any(flags) else b""

    def learn(self, keys: bytes, subject: int) -> None:
        """Note that the pieces *keys* stood on a page of *subject*, a bit from 0 to 63. O(keys)."""
        self.subjects |= 1 << subject
        for (key,) in _KEY.iter_unpack(keys):
            self._note(key, 1 << subject)

    def to_bytes(self) -> bytes:
        """Return all pieces, 16 bytes each."""
        return b"".join(_PIECE.pack(*piece) for bucket in self._buckets for piece in bucket)

    def load(self, data: bytes) -> None:
        """Add the pieces that another table's to_bytes() gave; the subjects of a known one are joined.

        An empty table becomes what the other one was, with the same order in each bucket. O(data).
        """
        pieces = list(_PIECE.iter_unpack(data))
        # As large as the other table before anything is added: in fewer buckets there may be no room.
        while len(pieces) > _FILLED * len(self._buckets) and len(self._buckets) < MOST_BUCKETS:
            self._grow()
        for key, subjects in reversed(pieces):
            if subjects:
                self._note(key, subjects)

    def known(self) -> list[tuple[int, int]]:
        """Return the pieces that are the site's: key, and on how many subjects."""
        return [
            (key, subjects.bit_count())
            for bucket in self._buckets
            for key, subjects in bucket
            if subjects.bit_count() >= self._least[key & 1]
        ]

    def _bucket(self, key: int) -> list[tuple[int, int]]:
        return self._buckets[(key >> 1) & (len(self._buckets) - 1)]

    def _flag(self, key: int) -> int:
        least = self._least[key & 1]
        for known, subjects in self._bucket(key):
            if known == key:
                count = subjects.bit_count()
                return SITE if count >= least else DOUBTFUL if 2 * count >= least else 0
        return 0

    def _note(self, key: int, subjects: int) -> None:
        bucket = self._bucket(key)
        for place, (known, former) in enumerate(bucket):
            if known == key:
                bucket[place] = key, former | subjects
                return
        while len(bucket) == BUCKET and len(self._buckets) < MOST_BUCKETS:
            self._grow()
            bucket = self._bucket(key)
        if len(bucket) == BUCKET:
            # The oldest stands last.
            place = min(reversed(range(BUCKET)), key=lambda place: bucket[place][1].bit_count())
            if bucket[place][1].bit_count() >= self._least[0]:
                return
            del bucket[place]
            self._size -= 1
        bucket.insert(0, (key, subjects))
        self._size += 1
        if self._size > _FILLED * len(self._buckets) and len(self._buckets) < MOST_BUCKETS:
            self._grow()

    def _grow(self) -> None:
        former = self._buckets
        self._buckets = [[] for _ in range(2 * len(former))]
        for bucket in former:
            for piece in bucket:
                self._bucket(piece[0]).append(piece)


#: Pages of so many different subjects must hold a piece of text before it is the site's, and not their own; pieces
#: of fewer than five tokens, which are labels and names, must be on twice as many.
LEAST_SUBJECTS = 6
LEAST_SUBJECTS_SHORT = 12
_HEAD = Struct("<QII?")
_LATEST = 2**32 - 1


class SiteProfile:
    """Pieces of text, and on pages of how many subjects they stood. At most 64 KiB.

    Pages are told apart by their subjects, not counted: versions of one page repeat their own text.
    """

    flags: Callable[[bytes], bytes | None]
    """See :class:`~scrapy_simhash.page.reading.KnownSite`. That of the table: compiled where the kernel is."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._table: PieceTable = getattr(kernel.native, "PieceTable", PieceTable)(
            LEAST_SUBJECTS, LEAST_SUBJECTS_SHORT
        )
        self.flags = self._table.flags
        #: How many pages were learned from.
        self.pages = 0
        #: When the first of them came, in seconds of Unix time; 0 if nobody knows.
        self.since = 0
        #: Whether it stays as it is: it is used, and learns nothing.
        self.is_pinned = False

    @property
    def is_known(self) -> bool:
        """Whether there were pages of enough subjects to tell what the site repeats."""
        return self._table.is_known

    @property
    def subjects(self) -> int:
        """Subjects that are told apart, at most 64."""
        return self.subject_bits.bit_count()

    def learn(self, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from a page with the pieces *keys*, whose subject is in *sketch*. Some 5 µs with the kernel.

        *seen* is when it came, in seconds of Unix time. A pinned profile stays as it is.
        """
        if self.is_pinned:
            return
        if not self.pages:
            self.since = seen
        self.pages += 1
        self._table.learn(keys, subject_number(sketch) & 63)

    def known(self) -> list[tuple[int, int]]:
        """Return the pieces that are the site's: key, and on pages of how many subjects, at most 64."""
        return self._table.known()

    def to_bytes(self) -> bytes:
        """Return all that was learned: 17 bytes, and 16 for each piece."""
        return (
            _HEAD.pack(self.subject_bits, self.pages, min(max(self.since, 0), _LATEST), self.is_pinned)
            + self._table.to_bytes()
        )

    @property
    def subject_bits(self) -> int:
        """A bit for each subject, 64 bits."""
        return self._table.subjects

    def pieces(self) -> list[tuple[int, int]]:
        """Return all pieces: key, and a bit for each subject of the pages that it stood on; at most 4,096."""
        return list(_PIECE.iter_unpack(self._table.to_bytes()))

    @classmethod
    def of_pieces(cls, subjects: int, pieces: Iterable[tuple[int, int]]) -> SiteProfile:
        """Return a profile with what subject_bits and pieces() gave."""
        profile = cls()
        profile._table.subjects = subjects
        profile._table.load(b"".join(_PIECE.pack(*piece) for piece in pieces))
        return profile

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteProfile:
        """Return a profile like the one whose to_bytes() gave *data*. Raises ValueError for anything else."""
        profile = cls()
        profile.join(data)
        return profile

    def join(self, data: bytes) -> None:
        """Add what another profile learned, whose to_bytes() gave *data*; a pinned one takes the place of this.

        Raises ValueError for anything else.
        """
        if len(data) < _HEAD.size or (len(data) - _HEAD.size) % 16:
            raise ValueError(f"a profile takes 17 bytes and 16 for each piece, got {len(data)}")
        subjects, pages, since, is_pinned = _HEAD.unpack_from(data)
        if is_pinned:
            self._forget()
        self._table.subjects |= subjects
        self.pages += pages
        self.since = min(filter(None, (self.since, since)), default=0)
        self.is_pinned = is_pinned
        self._table.load(data[_HEAD.size :])
