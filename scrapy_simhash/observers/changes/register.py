"""Register: what was told of each page, and by which crawl it was asked for, in a file of SQLite beside the store."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

#: States of a row: no page, only something with links; a page; one that was told as gone or moved; a new one whose
#: text is known under another URL, so that it is told at the end of the crawl.
OTHER, PRESENT, GONE, WAITING = range(4)
#: What the last request for it came to: no answer that says anything; any other; a redirect; 404 or 410.
FAILED, ANSWERED, REDIRECTED, MISSING = range(4)
#: Bytes of a key by which a link is kept: of a million links, one in a million is taken for another one.
LINK = 5


#: Pages with one text that are looked at for a new page; where there are more, it waits for the end of the crawl.
_MOST_LOOKED_AT = 100
#: Of pages that a store knew before there was a register: key, URL, text hash, time.
FormerPage = tuple[bytes, str, "int | None", int]


class Row(NamedTuple):
    """A page, or anything else with links, as the register knows it."""

    key: bytes
    url: str
    state: int
    crawl: int
    """Number of the crawl that asked for it last; 0 for none since there is a register."""
    answer: int
    text_hash: int | None = None
    seen: int = 0
    was_read: int | None = 0
    """Number of the last crawl in which its callback came to its end; 0 for none, None if that may have been before
    there was a register."""
    told: str | None = None
    """The last `Change` that was told of it."""
    told_in: int | None = None
    """Number of the run that told it."""
    paragraphs: bytes | None = None
    links: bytes | None = None
    """The first `LINK` bytes of the keys of what its callback asked for; None if nobody knows."""
    number: int | None = None
    """None for a row that is not there yet."""


class Run(NamedTuple):
    """A process that wrote here. A crawl has several if it was stopped and resumed."""

    number: int
    crawl: int
    """The number of its first run."""
    feed: str
    reason: str | None
    """Why it ended; None if it was killed."""


_COLUMNS = (
    "key, url, state, crawl, answer, text_hash, seen, was_read, told, told_in, paragraphs, links, number"
)


class Register:
    """Rows of pages, runs, and the lines that are not known to be in the feed. What fails raises sqlite3.Error."""

    def __init__(self, path: Path, *, reset: bool = False, former: Iterable[FormerPage] = ()) -> None:
        """Open the register at *path*, and make it if there is none; see open_register()."""
        # Only here: a crawl without changes needs no SQLite.
        from scrapy_simhash.observers.changes.schema import open_register

        self._connection = open_register(path, reset, former)
        self._execute = self._connection.execute

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that is written inside, or nothing."""
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
            self._execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._execute("ROLLBACK")

    def get(self, key: bytes) -> Row | None:
        """Return the row of a key."""
        return next(self._rows("key = ?", key), None)

    def put(self, row: Row) -> None:
        """Write a row, in place of the former one if it has a number."""
        values = (*row[:5], signed(row.text_hash), *row[6:])
        self._execute(f"INSERT OR REPLACE INTO pages ({_COLUMNS}) VALUES ({', '.join('?' * 13)})", values)

    def remove(self, row: Row) -> None:
        """Forget a row."""
        self._execute("DELETE FROM pages WHERE number = ?", (row.number,))

    def may_have_moved(self, text_hash: int, crawl: int) -> bool:
        """Tell whether a page with this text may be gone: whether *crawl* has not seen all of those that had it."""
        query = "SELECT state = ? AND (crawl <> ? OR answer <> ?) FROM pages WHERE text_hash = ? LIMIT ?"
        values = (PRESENT, crawl, ANSWERED, signed(text_hash), _MOST_LOOKED_AT)
        found = [bool(may) for (may,) in self._execute(query, values)]
        return any(found) or len(found) == _MOST_LOOKED_AT

    def redirected_to(self, row: Row) -> Row | None:
        """Return a page with the text of *row* that is redirected to it now."""
        same = f"(SELECT * FROM pages WHERE text_hash = ? LIMIT {_MOST_LOOKED_AT})"
        query = f"SELECT {_COLUMNS} FROM {same} WHERE state = ? AND answer = ?"
        for other in self._found(query, signed(row.text_hash), PRESENT, REDIRECTED):
            if row.key[:LINK] in each_link(other.links or b""):
                return other
        return None

    def in_state(self, state: int) -> list[Row]:
        """Return the rows in a state, in the order in which they were seen first."""
        return list(self._rows("state = ? ORDER BY number", state))

    def missing(self) -> list[Row]:
        """Return the pages that answered 404 or 410 and were not told as gone yet."""
        return list(self._rows("state = ? AND answer = ? ORDER BY number", PRESENT, MISSING))

    def links_of_asked(self, crawl: int) -> Iterator[bytes | None]:
        """Yield the links of everything that *crawl* has asked for and that is there."""
        query = "SELECT links FROM pages WHERE crawl = ? AND answer <> ?"
        return (links for (links,) in self._execute(query, (crawl, MISSING)))

    def not_asked(self, crawl: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield key, number and state of everything that *crawl* has not asked for and that is there."""
        query = "SELECT key, number, state FROM pages WHERE crawl <> ? AND answer <> ? ORDER BY number"
        return iter(self._execute(query, (crawl, MISSING)))

    def links(self, number: int) -> bytes | None:
        """Return the links of a row."""
        (links,) = self._execute("SELECT links FROM pages WHERE number = ?", (number,)).fetchone()
        return links if links is None else bytes(links)

    def row(self, number: int) -> Row:
        """Return the row with this number."""
        return next(self._rows("number = ?", number))

    def note_no_links(self, crawl: int) -> None:
        """Note that what *crawl* has asked for and never was read leads to no known page: it never did."""
        self._execute(
            "UPDATE pages SET links = x'' WHERE crawl = ? AND links IS NULL AND was_read = 0", (crawl,)
        )

    def last_run(self) -> Run | None:
        """Return the latest run."""
        found = self._execute("SELECT number, crawl, feed, reason FROM runs ORDER BY number DESC").fetchone()
        return None if found is None else Run(*found)

    def begin_run(self, feed: str, crawl: int | None) -> Run:
        """Note a new run of *crawl*, or of a new crawl, and return it."""
        (number,) = self._execute("SELECT coalesce(max(number), 0) + 1 FROM runs").fetchone()
        run = Run(number, number if crawl is None else crawl, feed, None)
        self._execute("INSERT INTO runs (number, crawl, feed) VALUES (?, ?, ?)", run[:3])
        return run

    def was_killed(self, since: int, until: int) -> bool:
        """Tell whether one of the runs from number *since* on, before *until*, did not end in order."""
        query = "SELECT count(*) FROM runs WHERE number >= ? AND number < ? AND reason IS NULL"
        return bool(self._execute(query, (since, until)).fetchone()[0])

    def end_run(self, number: int, reason: str) -> None:
        """Note that a run has ended in order."""
        values = (int(time.time()), reason, number)
        self._execute("UPDATE runs SET ended = ?, reason = ? WHERE number = ?", values)

    def add_line(self, line: dict[str, Any]) -> None:
        """Keep a line of the feed until written_to() says that it is in there."""
        self._execute("INSERT INTO lines (line) VALUES (?)", (json.dumps(line),))

    @property
    def newest_line(self) -> int:
        """Number of the latest line; 0 if there was none."""
        found = self._execute("SELECT seq FROM sqlite_sequence WHERE name = 'lines'").fetchone()
        return int(found[0]) if found else 0

    def lines(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines behind number *after*, each with its number, in their order."""
        for number, line in self._execute(
            "SELECT number, line FROM lines WHERE number > ? ORDER BY number", (after,)
        ):
            yield number, f'{{"number": {number}, {line[1:]}\n'.encode("ascii")

    def written_to(self, number: int) -> None:
        """Forget the lines up to *number*: they are in the feed."""
        self._execute("DELETE FROM lines WHERE number <= ?", (number,))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _rows(self, condition: str, *values: object) -> Iterator[Row]:
        return self._found(f"SELECT {_COLUMNS} FROM pages WHERE {condition}", *values)

    def _found(self, query: str, *values: object) -> Iterator[Row]:
        for row in self._execute(query, values):
            yield Row(*row)._replace(text_hash=unsigned(row[5]))


def signed(number: int | None) -> int | None:
    """Return an integer of 64 bits as SQLite keeps it."""
    return number if number is None or number < 2**63 else number - 2**64


def unsigned(number: int | None) -> int | None:
    """Return what signed() took."""
    return number if number is None or number >= 0 else number + 2**64


def each_link(links: bytes) -> Iterator[bytes]:
    """Yield the beginnings of keys of which *links* is made."""
    return (links[start : start + LINK] for start in range(0, len(links), LINK))
