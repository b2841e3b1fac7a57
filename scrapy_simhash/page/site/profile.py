"""SiteProfile: what the pages of one site share, learned from the pages as they come."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from scrapy_simhash import kernel
from scrapy_simhash.page.fingerprint import subject_number
from scrapy_simhash.page.site.table import PieceTable

#: Pages of so many different subjects must hold a piece of text before it is the site's, and not their own; pieces
#: of fewer than five tokens, which are labels and names, must be on twice as many.
LEAST_SUBJECTS = 6
LEAST_SUBJECTS_SHORT = 12
_PIECE = Struct("<QQ")
_HEAD = Struct("<QII?")
_LATEST = 2**32 - 1


class SiteProfile:
    """Pieces of text, and on pages of how many subjects they stood. At most 64 KiB.

    Pages are told apart by their subjects, not counted: versions of one page repeat their own text.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._table: PieceTable = getattr(kernel.native, "PieceTable", PieceTable)(
            LEAST_SUBJECTS, LEAST_SUBJECTS_SHORT
        )
        self._subjects = 0
        #: How many pages were learned from.
        self.pages = 0
        #: When the first of them came, in seconds of Unix time; 0 if nobody knows.
        self.since = 0
        #: Whether it stays as it is: it is used, and learns nothing.
        self.is_pinned = False

    @property
    def is_known(self) -> bool:
        """Whether there were pages of enough subjects to tell what the site repeats."""
        return self._subjects.bit_count() >= LEAST_SUBJECTS

    @property
    def subjects(self) -> int:
        """Subjects that are told apart, at most 64."""
        return self._subjects.bit_count()

    def flags(self, keys: bytes) -> bytes | None:
        """Return a byte for each piece, 1 if it is the site's, 2 if it may be; None if none is either."""
        return self._table.flags(keys)

    def learn(self, keys: bytes, sketch: bytes, seen: int = 0) -> None:
        """Learn from a page with the pieces *keys*, whose subject is in *sketch*. Some 5 µs with the kernel.

        *seen* is when it came, in seconds of Unix time. A pinned profile stays as it is.
        """
        if self.is_pinned:
            return
        if not self.pages:
            self.since = seen
        subject = subject_number(sketch) & 63
        self._subjects |= 1 << subject
        self.pages += 1
        self._table.learn(keys, subject)

    def known(self) -> list[tuple[int, int]]:
        """Return the pieces that are the site's: key, and on pages of how many subjects, at most 64."""
        return self._table.known()

    def to_bytes(self) -> bytes:
        """Return all that was learned: 17 bytes, and 16 for each piece."""
        return (
            _HEAD.pack(self._subjects, self.pages, min(max(self.since, 0), _LATEST), self.is_pinned)
            + self._table.to_bytes()
        )

    @property
    def subject_bits(self) -> int:
        """A bit for each subject, 64 bits."""
        return self._subjects

    def pieces(self) -> list[tuple[int, int]]:
        """Return all pieces: key, and a bit for each subject of the pages that it stood on; at most 4,096."""
        return list(_PIECE.iter_unpack(self._table.to_bytes()))

    @classmethod
    def of_pieces(cls, subjects: int, pieces: Iterable[tuple[int, int]]) -> SiteProfile:
        """Return a profile with what subject_bits and pieces() gave."""
        profile = cls()
        profile._subjects = subjects
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
        self._subjects |= subjects
        self.pages += pages
        self.since = min(filter(None, (self.since, since)), default=0)
        self.is_pinned = is_pinned
        self._table.load(data[_HEAD.size :])
