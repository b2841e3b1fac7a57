"""Damage: which records of a store could not be read. One of them costs one page, and is told once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from struct import error as StructError
from typing import TypeVar

from scrapy_simhash.exceptions import RecordDamaged

logger = logging.getLogger(__name__)
Read = TypeVar("Read")

#: Records that are named in the log; of a store in ruins a few hundred thousand could be.
MOST_LOGGED = 100


class Damage:
    """Which records of the store at *place* could not be read.

    >>> damage = Damage("shop.sqlite")
    >>> damage.note("page 7 (https://example.com/)"), damage.note("page 7"), damage.named
    (None, None, ['page 7 (https://example.com/)'])
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._named: dict[str, str] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._named)

    @property
    def named(self) -> list[str]:
        """All of them, as messages name them."""
        return list(self._named.values())

    def note(self, record: str) -> None:
        """Take note of *record*, and name it in the log, once: what follows its name in brackets does not count."""
        name = record.partition(" (")[0]
        if name in self._named:
            return
        self._named[name] = record
        if len(self) <= MOST_LOGGED:
            logger.warning(
                "%s: a damaged record is left out: %s. All other pages are compared as before. scrapy-simhash info"
                " --check reads all records",
                self._place,
                record,
            )
        elif len(self) == MOST_LOGGED + 1:
            logger.warning("%s: more records are damaged; scrapy-simhash info --check names all", self._place)

    def found(self, record: str) -> RecordDamaged:
        """Take note of *record*, and return the error for whoever asked for it."""
        self.note(record)
        return RecordDamaged(f"{self._place} is damaged: {record}")

    def read(self, read: Callable[[bytes], Read], record: bytes, name: str) -> Read | None:
        """Return what *read* makes of *record*; None, and *name* is noted, if these bytes are no record."""
        try:
            return read(record)
        except (IndexError, ValueError, StructError):
            self.note(name)
            return None


def shown(value: object) -> str:
    r"""Return *value* as messages show it, whatever damage has made of it: printable ASCII, at most 200 characters.

    >>> shown("https://example.com/é"), shown(b"a\n"), shown(7)
    ('https://example.com/\\xe9', 'a\\n', '7')
    """
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return ascii(text)[1:-1][:200]
