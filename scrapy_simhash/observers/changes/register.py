"""Register: what was told of each page, and by which crawl it was asked for, in a file of SQLite beside the store.

notes/sqlite-file.rst says what its tables hold.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.exceptions import StoreDamaged

#: States of a row: no page, only something with links; a page; one that was told as gone or moved; a new one whose
#: text is known under another URL, so that it is told at the end of the crawl.
OTHER, PRESENT, GONE, WAITING = range(4)
#: What the last request for it came to: no answer that says anything; any other; a redirect; 404 or 410.
FAILED, ANSWERED, REDIRECTED, MISSING = range(4)
#: Bytes of a key by which a link is kept: of a million links, one in a million is taken for another one.
_LINK = 5
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
    """The beginnings of the keys of what its callback asked for; None if nobody knows."""
    number: int | None = None
    """None for a row that is not there yet."""

    def links_with(self, keys: Iterable[bytes]) -> bytes:
        """Return its links, and those to what has *keys*."""
        return b"".join(sorted({*_each_link(self.links), *(key[:_LINK] for key in keys)}))


class Run(NamedTuple):
    """A process that wrote here. A crawl has several if it was stopped and resumed."""

    number: int
    crawl: int
    """The number of its first run."""
    feed: str
    reason: str | None
    """Why it ended; None if it was killed."""


#: A line of the feed, with its number.
Line: TypeAlias = tuple[int, bytes]
#: "SIMC"; and the version of the tables.
APPLICATION_ID, VERSION = 0x53494D43, 1
_TABLES = (
    """CREATE TABLE pages (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    url TEXT NOT NULL,
    state INTEGER NOT NULL,
    text_hash INTEGER,
    seen INTEGER NOT NULL,
    crawl INTEGER NOT NULL,
    answer INTEGER NOT NULL,
    was_read INTEGER,
    told TEXT,
    told_in INTEGER,
    paragraphs BLOB,
    links BLOB
)""",
    "CREATE INDEX pages_by_text ON pages (text_hash)",
    """CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL,
    feed TEXT NOT NULL,
    ended INTEGER,
    reason TEXT
)""",
    """CREATE TABLE lines (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    line TEXT NOT NULL
)""",
)


class Register:
    """Rows of pages, runs, and the lines that are not known to be in the feed. What fails raises sqlite3.Error."""

    def __init__(self, path: Path, *, reset: bool = False, former: Iterable[FormerPage] = ()) -> None:
        """Open the register at *path*; a new one begins with the pages in *former*.

        *reset* forgets what the file holds. Raises StoreDamaged if the file is none or cannot be read.
        """
        # Only here: a crawl without changes needs no SQLite.
        import sqlite3

        from scrapy_simhash.store.sqlite.files import words_of

        if reset:
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    path.with_name(path.name + suffix).unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._execute = self._connection.execute
        try:
            self._execute("PRAGMA journal_mode = WAL")
            # A kill takes nothing back. What a power failure takes is found again by the next crawl.
            self._execute("PRAGMA synchronous = NORMAL")
            found = self._value("PRAGMA user_version"), self._value("PRAGMA application_id")
            if not self._value("SELECT count(*) FROM sqlite_master"):
                self._create(former)
            elif found != (VERSION, APPLICATION_ID):
                raise sqlite3.DatabaseError("written by another program or release")
        except sqlite3.Error as error:
            self.close()
            raise StoreDamaged(
                f"{path} cannot be used for SIMHASH_CHANGES ({words_of(error)}). Nothing was changed. Move it, and"
                " the next crawl begins with what its store knows"
            ) from error

    def _create(self, former: Iterable[FormerPage]) -> None:
        with self.transaction():
            self._execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._execute(f"PRAGMA user_version = {VERSION}")
            for statement in _TABLES:
                self._execute(statement)
            self._connection.executemany(
                "INSERT INTO pages (key, url, state, text_hash, seen, crawl, answer) VALUES (?, ?, 1, ?, ?, 0, 1)",
                ((key, url, _signed(text_hash), seen) for key, url, text_hash, seen in former),
            )

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

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # --- Pages.

    def get(self, key: bytes) -> Row | None:
        """Return the row of a key."""
        found = self._rows("key = ?", key)
        return found[0] if found else None

    def put(self, row: Row, **changes: Any) -> Row:
        """Write *row* with its *changes*, or of one that is there only these; return it as it is now."""
        row = row._replace(**changes)
        if row.number is None:
            values = (*row[:5], _signed(row.text_hash), *row[6:])
            self._execute(f"INSERT INTO pages ({_COLUMNS}) VALUES ({', '.join('?' * 13)})", values)
        else:
            if "text_hash" in changes:
                changes["text_hash"] = _signed(row.text_hash)
            names = ", ".join([f"{name} = ?" for name in changes])
            self._execute(f"UPDATE pages SET {names} WHERE number = ?", (*changes.values(), row.number))
        return row

    def put_links(self, key: bytes, crawl: int, links: bytes) -> bool:
        """Note where a page leads to, whose callback came to its end in *crawl*; return whether it is there."""
        values = crawl, crawl, links, key
        query = "UPDATE pages SET crawl = ?, was_read = ?, links = ? WHERE key = ?"
        return self._execute(query, values).rowcount > 0

    def remove(self, row: Row) -> None:
        """Forget a row."""
        self._execute("DELETE FROM pages WHERE number = ?", (row.number,))

    def may_have_moved(self, text_hash: int, crawl: int) -> bool:
        """Tell whether a page with this text may be gone: whether *crawl* has not seen all of those that had it."""
        query = "SELECT state = ? AND (crawl <> ? OR answer <> ?) FROM pages WHERE text_hash = ? LIMIT ?"
        values = (PRESENT, crawl, ANSWERED, _signed(text_hash), _MOST_LOOKED_AT)
        found = [bool(may) for (may,) in self._execute(query, values)]
        return any(found) or len(found) == _MOST_LOOKED_AT

    def redirected_to(self, row: Row) -> Row | None:
        """Return a page with the text of *row* that is redirected to it now."""
        same = f"(SELECT * FROM pages WHERE text_hash = ? LIMIT {_MOST_LOOKED_AT})"
        values = _signed(row.text_hash), PRESENT, REDIRECTED
        for other in self._rows("state = ? AND answer = ?", *values, table=same):
            if row.key[:_LINK] in _each_link(other.links):
                return other
        return None

    def waiting(self) -> list[Row]:
        """Return the new pages that are to be told at the end, in the order in which they were seen first."""
        return self._rows("state = ? ORDER BY number", WAITING)

    def missing(self) -> list[Row]:
        """Return the pages that answered 404 or 410 and were not told as gone yet."""
        return self._rows("state = ? AND answer = ? ORDER BY number", PRESENT, MISSING)

    def unlinked(self, crawl: int, starts: Collection[bytes]) -> tuple[list[Row], int]:
        """Return the pages that *crawl* has not asked for and that nothing leads to, in their order.

        A page that was read in this crawl leads to what it asks for now. Any other, such as one that timed out, that
        robots.txt forbids or that a rule has skipped, leads to what it asked for when it was read last; and what is
        reached by that is followed in turn. *starts* are the keys of the start requests.

        Also return how many pages were not read whose links nobody knows: what they lead to would be among the pages,
        so that none is returned then.
        """
        there = (crawl, MISSING)
        not_asked = "SELECT key, number, state FROM pages WHERE crawl <> ? AND answer <> ? ORDER BY number"
        left = {key[:_LINK]: (number, state) for key, number, state in self._execute(not_asked, there)}
        reached = [key[:_LINK] for key in starts]
        unknown = 0
        for (links,) in self._execute("SELECT links FROM pages WHERE crawl = ? AND answer <> ?", there):
            unknown += links is None
            reached += [link for link in _each_link(links) if link in left]
        while reached:
            found = left.pop(reached.pop(), None)
            if found is not None:
                links = self._value("SELECT links FROM pages WHERE number = ?", found[0])
                unknown += links is None
                reached += [link for link in _each_link(links) if link in left]
        gone = [] if unknown else [number for number, state in left.values() if state == PRESENT]
        return [row for number in gone for row in self._rows("number = ?", number)], unknown

    def note_no_links(self, crawl: int) -> None:
        """Note that what *crawl* has asked for and never was read leads to no known page: it never did."""
        self._execute(
            "UPDATE pages SET links = x'' WHERE crawl = ? AND links IS NULL AND was_read = 0", (crawl,)
        )

    # --- Runs.

    def last_run(self) -> Run | None:
        """Return the latest run."""
        found = self._execute("SELECT number, crawl, feed, reason FROM runs ORDER BY number DESC").fetchone()
        return None if found is None else Run(*found)

    def begin_run(self, feed: str, crawl: int | None) -> Run:
        """Note a new run of *crawl*, or of a new crawl, and return it."""
        number = self._value("SELECT coalesce(max(number), 0) + 1 FROM runs")
        run = Run(number, number if crawl is None else crawl, feed, None)
        self._execute("INSERT INTO runs (number, crawl, feed) VALUES (?, ?, ?)", run[:3])
        return run

    def was_killed(self, since: int, until: int) -> bool:
        """Tell whether one of the runs from number *since* on, before *until*, did not end in order."""
        query = "SELECT count(*) FROM runs WHERE number >= ? AND number < ? AND reason IS NULL"
        return bool(self._value(query, since, until))

    def end_run(self, number: int, reason: str) -> None:
        """Note that a run has ended in order."""
        values = (int(time.time()), reason, number)
        self._execute("UPDATE runs SET ended = ?, reason = ? WHERE number = ?", values)

    # --- Lines.

    def add_line(self, line: dict[str, Any]) -> Line:
        """Keep a line of the feed until written_to() says that it is in there, and return it."""
        text = json.dumps(line)
        return _numbered(self._execute("INSERT INTO lines (line) VALUES (?)", (text,)).lastrowid or 0, text)

    @property
    def newest_line(self) -> int:
        """Number of the latest line; 0 if there was none."""
        return int(self._value("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'lines'"))

    def lines(self, after: int) -> list[Line]:
        """Return the lines behind number *after*, in their order."""
        query = "SELECT number, line FROM lines WHERE number > ? ORDER BY number"
        return [_numbered(*found) for found in self._execute(query, (after,))]

    def written_to(self, number: int) -> None:
        """Forget the lines up to *number*: they are in the feed."""
        self._execute("DELETE FROM lines WHERE number <= ?", (number,))

    def _rows(self, condition: str, *values: object, table: str = "pages") -> list[Row]:
        found = self._execute(f"SELECT {_COLUMNS} FROM {table} WHERE {condition}", values)
        return [Row._make((*row[:5], _unsigned(row[5]), *row[6:])) for row in found]

    def _value(self, query: str, *values: object) -> Any:
        return self._execute(query, values).fetchone()[0]


_COLUMNS = ", ".join(Row._fields)


def _numbered(number: int, line: str) -> Line:
    return number, f'{{"number": {number}, {line[1:]}\n'.encode("ascii")


def _signed(number: int | None) -> int | None:
    """Return an integer of 64 bits as SQLite keeps it."""
    return number if number is None or number < 2**63 else number - 2**64


def _unsigned(number: int | None) -> int | None:
    """Return what _signed() took."""
    return number if number is None or number >= 0 else number + 2**64


def _each_link(links: bytes | None) -> Iterator[bytes]:
    """Yield the beginnings of keys of which *links* is made."""
    return (links[start : start + _LINK] for start in range(0, len(links), _LINK)) if links else iter(())
