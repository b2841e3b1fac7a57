"""Schema: the tables of a store's file. ``docs/reference/sqlite-file.rst`` says what every column means.

Nothing in here is newer than SQLite 3.22, the oldest that can read a WAL file it may not write.
"""

from __future__ import annotations

import sqlite3

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.store.header import Header

#: "SIMH": by it ``file`` and other programs tell whose database this is.
APPLICATION_ID = 0x53494D48
#: Of the tables: raise it with every change of them. A file of another version is refused.
VERSION = 6

TABLES = (
    """CREATE TABLE header (
    name TEXT PRIMARY KEY NOT NULL,
    value NOT NULL
)""",
    """CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    started INTEGER NOT NULL,
    ended INTEGER,
    reason TEXT
)""",
    """CREATE TABLE scopes (
    number INTEGER PRIMARY KEY,
    scope TEXT NOT NULL UNIQUE
)""",
    """CREATE TABLE pages (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    url TEXT NOT NULL,
    value INTEGER NOT NULL,
    text_hash INTEGER,
    seen INTEGER NOT NULL,
    run INTEGER NOT NULL,
    content INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    joined INTEGER NOT NULL,
    sketch BLOB,
    own BLOB
)""",
    """CREATE TABLE contents (
    number INTEGER PRIMARY KEY,
    page INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    value INTEGER NOT NULL,
    text_hash INTEGER,
    seen INTEGER NOT NULL,
    is_short INTEGER NOT NULL,
    found_by INTEGER NOT NULL
)""",
    """CREATE TABLE sketches (
    content INTEGER PRIMARY KEY,
    sketch BLOB NOT NULL,
    own BLOB
)""",
    """CREATE TABLE sites (
    host TEXT PRIMARY KEY,
    profile BLOB NOT NULL
)""",
    """CREATE TABLE removed (
    page INTEGER PRIMARY KEY
)""",
)

INDEXES = (
    "CREATE INDEX contents_of_page ON contents (page)",
    "CREATE UNIQUE INDEX short_contents ON contents (scope, value) WHERE is_short AND found_by",
)

# SQLite has no exclusive or, and no function that counts bits. So they are counted the old way, side by side in two
# halves: at 64 bits a sum could leave the range of its integers, which have a sign.
VIEWS = (
    """CREATE VIEW duplicates AS
WITH
differing AS (
    SELECT (pages.value | contents.value) - (pages.value & contents.value) AS bits,
        pages.url, originals.url AS original, pages.value, pages.seen
    FROM pages
    JOIN contents ON contents.number = pages.content
    JOIN pages AS originals ON originals.number = contents.page
    WHERE contents.page <> pages.number
),
halves AS (
    SELECT url, original, value, seen, bits & 0xFFFFFFFF AS low, (bits >> 32) & 0xFFFFFFFF AS high FROM differing
),
pairs AS (
    SELECT url, original, value, seen,
        low - ((low >> 1) & 0x55555555) AS low, high - ((high >> 1) & 0x55555555) AS high
    FROM halves
),
fours AS (
    SELECT url, original, value, seen,
        (low & 0x33333333) + ((low >> 2) & 0x33333333) AS low,
        (high & 0x33333333) + ((high >> 2) & 0x33333333) AS high
    FROM pairs
),
eights AS (
    SELECT url, original, value, seen,
        (low + (low >> 4)) & 0x0F0F0F0F AS low, (high + (high >> 4)) & 0x0F0F0F0F AS high
    FROM fours
)
SELECT
    url,
    original,
    ((low * 0x01010101 >> 24) & 0xFF) + ((high * 0x01010101 >> 24) & 0xFF) AS distance,
    printf('%016x', value) AS fingerprint,
    datetime(seen, 'unixepoch') AS seen
FROM eights""",
)


def create(connection: sqlite3.Connection, header: Header) -> None:
    """Make the tables of a new store in an empty database."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("BEGIN")
    for statement in (*TABLES, *INDEXES, *VIEWS):
        connection.execute(statement)
    connection.executemany("INSERT INTO header VALUES (?, ?)", header.to_dict().items())
    # Last: what has no version is no store.
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def check(connection: sqlite3.Connection, place: str) -> None:
    """Raise StoreDamaged unless the database is a store that this release can read."""
    if not is_store(connection):
        raise StoreDamaged(
            f"{place} is a database of another program. Nothing was changed. Move it, or set SIMHASH_DIR to "
            "another folder"
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise StoreDamaged(
            f"{place} was written by {age} release of scrapy-simhash: its tables have version {version}, "
            f"this release reads version {VERSION}. Nothing was changed. Set SIMHASH_RESET = True to begin anew, "
            "or set SIMHASH_DIR to another folder"
        )
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    wanted = {statement.split()[2] for statement in TABLES}
    if missing := sorted(wanted - there):
        raise sqlite3.DatabaseError(f"no table {', '.join(missing)}")


def is_store(connection: sqlite3.Connection) -> bool:
    """Tell whether the database says that it is a store."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(application_id == APPLICATION_ID)


def header_of(connection: sqlite3.Connection) -> Header:
    """Return the header of a store. Raises sqlite3.DatabaseError if it is not one."""
    try:
        return Header.from_dict(dict(connection.execute("SELECT name, value FROM header")))
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"cannot read the header: {error}") from error
