"""PieceTable: on how many pages of different subject a piece of text stood, in bounded memory.

The definition in pure Python; the kernel has its twin. Eight pieces share a bucket. When a ninth comes, the table
grows; when it cannot, the piece with the fewest subjects goes, of several the one that came first; none goes that is
known to be the site's.
"""

from __future__ import annotations

from struct import Struct

#: What a piece is: the site's; perhaps the site's, since it stood on half as many subjects as that takes.
SITE = 1
DOUBTFUL = 2
#: Pieces in a bucket.
BUCKET = 8
#: Buckets of a new table, and of the largest: 64 KiB with 16 bytes a piece.
FIRST_BUCKETS = 16
MOST_BUCKETS = 512
_FILLED = 6
_PAIR = Struct("<QQ")
_KEY = Struct("<Q")


class PieceTable:
    """Pieces by key, each with 64 bits for the subjects of the pages that it stood on.

    A key is an unsigned 64-bit number, odd for short pieces. Many keys are passed as bytes: 8 each, lowest byte
    first.
    """

    def __init__(self, least: int, least_short: int) -> None:
        """A piece is the site's from *least* subjects on, a short one from *least_short*; 1 to 64 each."""
        self._least = (least, least_short)
        self._buckets: list[list[tuple[int, int]]] = [[] for _ in range(FIRST_BUCKETS)]
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def flags(self, keys: bytes) -> bytes | None:
        """Return for each of *keys* a byte: `SITE`, `DOUBTFUL`, or 0; None if all are 0. O(keys)."""
        flags = bytes(map(self._flag, [key for (key,) in _KEY.iter_unpack(keys)]))
        return flags if any(flags) else None

    def learn(self, keys: bytes, subject: int) -> None:
        """Note that the pieces *keys* stood on a page of *subject*, a bit from 0 to 63. O(keys)."""
        for (key,) in _KEY.iter_unpack(keys):
            self._note(key, 1 << subject)

    def to_bytes(self) -> bytes:
        """Return all pieces, 16 bytes each."""
        return b"".join(_PAIR.pack(*piece) for bucket in self._buckets for piece in bucket)

    def load(self, data: bytes) -> None:
        """Add the pieces that another table's to_bytes() gave; the subjects of a known one are joined.

        An empty table becomes what the other one was, with the same order in each bucket. O(data).
        """
        pieces = list(_PAIR.iter_unpack(data))
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
