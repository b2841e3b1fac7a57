"""Damage: which records of a store could not be read. One of them costs one page, and is told once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from scrapy_simhash.exceptions import RecordDamaged

logger = logging.getLogger(__name__)
Read = TypeVar("Read")

#: Records that are named in the log; of a store in ruins a few hundred thousand could be.
MOST_NAMED = 100


class ContentDamaged(RecordDamaged):
    """A content that cannot be read, or whose page cannot: nobody repeats it. No store lets it out."""

    def __init__(self, content: int) -> None:
        super().__init__(f"content {content}")
        self.content = content


class Damage:
    """Which records of the store at *place* could not be read.

    >>> damage = Damage("shop.sqlite")
    >>> damage.note("page 7"), damage.note("page 7"), len(damage)
    (None, None, 1)
    """

    def __init__(self, place: str, is_logged: bool = True) -> None:
        """Without *is_logged* nothing is logged, and all records are named."""
        self._place = place
        self._is_logged = is_logged
        self._seen: set[int] = set()
        #: The first ones, as the log names them; all that are not logged.
        self.named: list[str] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._seen)

    def note(self, record: str) -> None:
        """Take note of *record*, and name it in the log unless it was before."""
        known = len(self._seen)
        self._seen.add(hash(record))
        if len(self._seen) == known:
            return
        if not self._is_logged:
            self.named.append(record)
            return
        if known > MOST_NAMED:
            return
        if known == MOST_NAMED:
            logger.warning("%s: more records are damaged; scrapy-simhash info --check names all", self._place)
            return
        self.named.append(record)
        logger.warning(
            "%s: a damaged record is left out: %s. All other pages are compared as before. scrapy-simhash info"
            " --check reads all records",
            self._place,
            record,
        )

    def read(self, read: Callable[[bytes], Read], record: bytes, name: str) -> Read | None:
        """Return what *read* makes of *record*; None if it raises ValueError, and then *name* is noted."""
        try:
            return read(record)
        except ValueError:
            self.note(name)
            return None


def shown(value: object) -> str:
    r"""Return *value* as messages show it, whatever damage has made of it: printable ASCII, at most 200 characters.

    >>> shown("https://example.com/é"), shown(b"a\n"), shown(7)
    ('https://example.com/\\xe9', 'a\\n', '7')
    """
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return ascii(text)[1:-1][:200]
