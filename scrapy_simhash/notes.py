"""Notes: data of features in a store beside the pages, each under a kind and a name, with a version.

The version changes whenever somebody writes the note, and is compared when it is replaced: so of crawlers that write
at once none takes away what another one has written. Who was too late joins the other's note with its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.waiting import Answer, awaited

#: Boilerplate of a host: see :class:`~scrapy_simhash.page.site.SiteProfile`.
SITE = "site"
#: URL rules of a site.
RULES = "url-rules"
#: The reported state of a page, whose key is the name; removed with the page.
PAGE = "page"
KINDS = (SITE, RULES, PAGE)

#: Text, or bytes for the key of a page.
Name: TypeAlias = str | bytes
#: Max attempts to write a note while other crawlers write it.
_LOSSES = 50


class Note(NamedTuple):
    """A note as it is to be written."""

    name: Name
    version: int | None
    """Version of the note that it replaces, 0 if there must be none; None to replace any."""
    data: bytes


class Notes(Protocol):
    """Keeps notes. All methods raise StoreUnavailable."""

    @property
    def is_remote(self) -> bool:
        """Whether methods may return awaitables, and others may write at the same time."""
        ...

    def note(self, kind: str, name: Name) -> Answer[tuple[int, bytes | None]]:
        """Return version and bytes of a note; ``(0, None)`` if there is none."""
        ...

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]] | AsyncIterator[tuple[Name, bytes]]:
        """Yield name and bytes of each note of a kind, in the order of names."""
        ...

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> Answer[list[int | None]]:
        """Write notes, and return for each its new version, None if its former version was not the given one.

        Each is one step.
        """
        ...


class Noted(ABC):
    """Data that one crawler has learned under one name, part of which is in a note."""

    #: Of the note that was read or written last; 0 for none.
    version = 0

    @property
    @abstractmethod
    def has_news(self) -> bool:
        """Whether something was learned that the note does not have."""

    @abstractmethod
    def take(self, data: bytes | None) -> None:
        """Merge the stored note with everything learned since the last `take` or `was_kept`.

        None if there is no note any more: all is news. A damaged note is as good as none.
        """

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return all of it, as the note is to have it."""

    @abstractmethod
    def was_kept(self) -> None:
        """Take it that the note has what `to_bytes` returned last; more may have been learned since."""


async def fetch(notes: Notes, kind: str, name: str, learned: Noted) -> None:
    """Join *learned* with its note. One question. Raises StoreUnavailable."""
    version, data = await awaited(notes.note(kind, name))
    if version != learned.version or not version:
        learned.take(data)
        learned.version = version


async def share(notes: Notes, kind: str, learned: Mapping[str, Noted]) -> None:
    """Write what was learned, by name, joined with what others have written meanwhile.

    One round trip for all; two more for each note that another crawler has written. Raises StoreUnavailable, also if
    others keep being faster; what has no news then was written.
    """
    waiting = dict(learned)
    for _ in range(_LOSSES):
        if not waiting:
            return
        changes = [Note(name, one.version, one.to_bytes()) for name, one in waiting.items()]
        versions = await awaited(notes.replace_notes(kind, changes))
        for change, version in zip(changes, versions, strict=True):
            if version is not None:
                one = waiting.pop(str(change.name))
                one.was_kept()
                one.version = version
        for name, one in list(waiting.items()):
            await fetch(notes, kind, name, one)
            if not one.has_news:
                del waiting[name]
    raise StoreUnavailable(f"other crawlers kept changing what is known of {', '.join(sorted(waiting)[:3])}")


async def change(
    notes: Notes, kind: str, name: Name, changed: Callable[[bytes | None], bytes | None]
) -> None:
    """Replace a note by the result of *changed*, which gets the note or None; retry if another crawler writes it.

    *changed* is called again after each conflict; it returns None for a note that stays as it is. Two
    questions each time. Raises StoreUnavailable, also if others keep being faster.
    """
    for _ in range(_LOSSES):
        version, kept = await awaited(notes.note(kind, name))
        data = changed(kept)
        if (
            data is None
            or (await awaited(notes.replace_notes(kind, [Note(name, version, data)])))[0] is not None
        ):
            return
    raise StoreUnavailable(f"other crawlers kept changing what is known of {name!r}")
