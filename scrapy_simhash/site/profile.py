"""SiteProfile: what the pages of one site share, learned from the pages as they come."""

from __future__ import annotations

from struct import Struct

from scrapy_simhash import kernel
from scrapy_simhash.page.fingerprint import subject_number
from scrapy_simhash.site.table import PieceTable

#: Pages of so many different subjects must hold a piece of text before it is the site's, and not their own; pieces
#: of fewer than five tokens, which are labels and names, must be on twice as many.
LEAST_SUBJECTS = 6
LEAST_SUBJECTS_SHORT = 12
_HEAD = Struct("<QI")


class SiteProfile:
    """Pieces of text, and on pages of how many subjects they stood. At most 64 KiB.

    Pages are told apart by their subjects, not counted: versions of one page repeat their own text.
    """

    def __init__(self) -> None:
        self._table: PieceTable = getattr(kernel.native, "PieceTable", PieceTable)(
            LEAST_SUBJECTS, LEAST_SUBJECTS_SHORT
        )
        self._subjects = 0
        #: How many pages were learned from.
        self.pages = 0

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

    def learn(self, keys: bytes, sketch: bytes) -> None:
        """Learn from a page with the pieces *keys*, whose subject is in *sketch*. Some 5 µs with the kernel."""
        subject = subject_number(sketch) & 63
        self._subjects |= 1 << subject
        self.pages += 1
        self._table.learn(keys, subject)

    def known(self) -> list[tuple[int, int]]:
        """Return the pieces that are the site's: key, and on pages of how many subjects, at most 64."""
        return self._table.known()

    def to_bytes(self) -> bytes:
        """Return all that was learned: 12 bytes, and 16 for each piece."""
        return _HEAD.pack(self._subjects, self.pages) + self._table.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteProfile:
        """Return a profile like the one whose to_bytes() gave *data*. Raises ValueError for anything else."""
        profile = cls()
        profile.join(data)
        return profile

    def join(self, data: bytes) -> None:
        """Add what another profile learned, whose to_bytes() gave *data*. Raises ValueError for anything else."""
        if len(data) < _HEAD.size or (len(data) - _HEAD.size) % 16:
            raise ValueError(f"a profile takes 12 bytes and 16 for each piece, got {len(data)}")
        subjects, pages = _HEAD.unpack_from(data)
        self._subjects |= subjects
        self.pages += pages
        self._table.load(data[_HEAD.size :])
