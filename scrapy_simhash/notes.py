"""Notes: data that features keep in a store, each with a kind, a name and a version.

Crawlers that write concurrently do not overwrite each other (optimistic locking): each write changes the version of a
note. On a version conflict, a crawler merges its data with the stored note and retries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.waiting import MaybeAwaitable, maybe_await

#: Boilerplate of a host: see :class:`~scrapy_simhash.page.site.SiteProfile`.
SITE = "site"
#: URL rules of a site.
RULES = "url-rules"
#: Reported state of a page, named by the page's key; removed with the page.
PAGE = "page"
KINDS = (SITE, RULES, PAGE)

#: The name of a note: text, or bytes for the key of a page.
Name: TypeAlias = str | bytes
#: Max attempts to write a note after version conflicts.
_MAX_ATTEMPTS = 50


class Note(NamedTuple):
    """A note to write."""

    name: Name
    version: int | None
    """Required version of the stored note; 0 if there must be no note, None for any version."""
    data: bytes


class Notes(Protocol):
    """Storage of notes. All methods raise StoreUnavailable."""

    @property
    def is_remote(self) -> bool:
        """Whether methods may return awaitables, and other crawlers may write concurrently."""
        ...

    def note(self, kind: str, name: Name) -> MaybeAwaitable[tuple[int, bytes | None]]:
        """Return version and bytes of a note; ``(0, None)`` if there is no such note."""
        ...

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]] | AsyncIterator[tuple[Name, bytes]]:
        """Yield name and bytes of each note of a kind, sorted by name."""
        ...

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> MaybeAwaitable[list[int | None]]:
        """Write notes and return their new versions; None for a note that did not have the required version.

        Each write is atomic.
        """
        ...


async def change(
    notes: Notes, kind: str, name: Name, changed: Callable[[bytes | None], bytes | None]
) -> None:
    """Replace a note by the result of *changed*, called with the stored note or None; retry on version conflicts.

    *changed* is called again after each conflict; it returns None to leave the note unchanged. Two round trips per
    attempt. Raises StoreUnavailable, also after too many conflicts.
    """
    for _ in range(_MAX_ATTEMPTS):
        version, kept = await maybe_await(notes.note(kind, name))
        data = changed(kept)
        if (
            data is None
            or (await maybe_await(notes.replace_notes(kind, [Note(name, version, data)])))[0] is not None
        ):
            return
    raise StoreUnavailable(f"other crawlers changed the {kind} data of {name!r} in {_MAX_ATTEMPTS} attempts")
