"""Tally: how many pages there are of each kind, and how many of them repeat another one, with an example."""

from __future__ import annotations

from heapq import nlargest
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K")


class Example(NamedTuple):
    """A page, and the one that it repeats or nearly did."""

    url: str
    other: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """Return it as JSON has it."""
        return {"url": self.url, "other": self.other}


class Row:
    """The pages of one kind."""

    __slots__ = ("example", "pages", "repeats")

    def __init__(self) -> None:
        self.pages = 0
        self.repeats = 0
        #: Of those that repeat another one, the first.
        self.example: Example | None = None


class Tally(Generic[K]):
    """Rows by key, of a limited number: one more, and the half with the fewest pages goes.

    >>> tally = Tally(most=2)
    >>> for host in ("a", "b", "a", "c"):
    ...     tally.add(host, "http://a.example/2", "http://a.example/1")
    >>> [(key, row.pages) for key, row in tally.largest(10)], tally.forgotten
    ([('a', 2)], 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: dict[K, Row] = {}
        #: Rows that went; one that comes again counts anew, and may go again.
        self.forgotten = 0

    def __len__(self) -> int:
        """Return how many kinds there are, as far as they are remembered."""
        return len(self._rows)

    def add(self, key: K, url: str, other: str | None) -> None:
        """Count the page at *url*, which repeats *other*, None for none."""
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = Row()
        row.pages += 1
        if other is not None:
            row.repeats += 1
            if row.example is None:
                row.example = Example(url, other)
        if len(self._rows) > self._most:
            kept = nlargest(self._most // 2, self._rows.items(), key=lambda item: item[1].pages)
            self.forgotten += len(self._rows) - len(kept)
            self._rows = dict(kept)

    def largest(self, most: int) -> list[tuple[K, Row]]:
        """Return the rows with the most pages that repeat another one, then those with the most pages."""
        return nlargest(most, self._rows.items(), key=lambda item: (item[1].repeats, item[1].pages))
