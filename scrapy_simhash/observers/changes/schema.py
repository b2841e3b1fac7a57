"""The tables of a register; docs/reference/changes.rst says what they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.observers.changes.register import FormerPage, signed
from scrapy_simhash.store.sqlite.files import words_of

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


def open_register(path: Path, reset: bool, former: Iterable[FormerPage]) -> sqlite3.Connection:
    """Return a connection to the register at *path*; a new one begins with the pages in *former*.

    *reset* forgets what the file holds. Raises StoreDamaged if the file is none or cannot be read.
    """
    if reset:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + suffix).unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A kill takes nothing back. What a power failure takes is found again by the next crawl.
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            _create(connection, former)
        elif (version, *connection.execute("PRAGMA application_id").fetchone()) != (VERSION, APPLICATION_ID):
            raise sqlite3.DatabaseError("written by another program or release")
    except sqlite3.Error as error:
        connection.close()
        raise StoreDamaged(
            f"{path} cannot be used for SIMHASH_CHANGES ({words_of(error)}). Nothing was changed. Move it, and the"
            " next crawl begins with what its store knows"
        ) from error
    return connection


def _create(connection: sqlite3.Connection, former: Iterable[FormerPage]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for statement in _TABLES:
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO pages (key, url, state, text_hash, seen, crawl, answer) VALUES (?, ?, 1, ?, ?, 0, 1)",
        ((key, url, signed(text_hash), seen) for key, url, text_hash, seen in former),
    )
    connection.execute("COMMIT")
