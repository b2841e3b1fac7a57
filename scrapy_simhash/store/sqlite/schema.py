"""Schema: the tables of a store, their values, and the statements of claims.

``notes/sqlite-file.rst`` describes every column. SQLite's integers are signed, so 2**64 is subtracted from a number
of 2**63 or more. SQLite's texts are Unicode, so a URL with lone surrogates is stored as a BLOB.

All statements work with SQLite 3.22, the oldest version that can read a WAL file without write permission.
"""

from __future__ import annotations

import sqlite3

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.store.base import Touch
from scrapy_simhash.store.candidates import FIRST_COPIES
from scrapy_simhash.store.header import Header

#: "SIMH", by which ``file`` and other programs recognise the database.
APPLICATION_ID = 0x53494D48
#: Version of the tables. Increase it with every change; files of other versions are refused.
VERSION = 13

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
    """CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
)""",
    """CREATE TABLE pages (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    url TEXT NOT NULL,
    scope INTEGER NOT NULL,
    is_short INTEGER NOT NULL,
    value INTEGER NOT NULL,
    fingerprint BLOB,
    found_by INTEGER NOT NULL,
    page_hash INTEGER,
    text_hash INTEGER,
    original INTEGER,
    rank INTEGER NOT NULL,
    joined INTEGER NOT NULL,
    delivered INTEGER,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    last_visit INTEGER NOT NULL,
    visits INTEGER NOT NULL,
    changes INTEGER NOT NULL
)""",
    """CREATE TABLE notes (
    kind TEXT NOT NULL,
    name NOT NULL,
    version INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID""",
    """CREATE TABLE removed (
    number INTEGER NOT NULL
)""",
)

INDEXES = (
    "CREATE INDEX pages_by_hash ON pages (page_hash, scope) WHERE page_hash IS NOT NULL",
    f"CREATE INDEX first_copies ON pages (original) WHERE rank BETWEEN 1 AND {FIRST_COPIES}",
)

# SQLite has no XOR and no bit count, so the bits of each half byte are looked up.
VIEWS = (
    """CREATE VIEW duplicates AS
WITH RECURSIVE
places (place) AS (SELECT 0 UNION ALL SELECT place + 4 FROM places WHERE place < 60),
differing AS (
    SELECT (pages.value | originals.value) - (pages.value & originals.value) AS bits,
        pages.url, originals.url AS original, pages.value, pages.last_seen AS seen
    FROM pages
    JOIN pages AS originals ON originals.number = pages.original
)
SELECT
    url,
    original,
    (SELECT sum(0 + substr('0112122312232334', 1 + (bits >> place & 15), 1)) FROM places) AS distance,
    printf('%016x', value) AS fingerprint,
    datetime(seen, 'unixepoch') AS seen
FROM differing""",
)

#: Number of pages, and the number of the next page.
ENDS = """SELECT
    (SELECT count(*) FROM pages NOT INDEXED),
    1 + max(ifnull((SELECT max(number) FROM pages), -1), ifnull((SELECT max(number) FROM removed), -1))"""
#: The row of an original, see ``Original`` in ``store/base.py``.
ORIGINAL = (
    "SELECT number, key, url, value, fingerprint, page_hash, joined, found_by FROM pages WHERE number = ?"
)
#: Each row has two columns: 1 and the number of the page; or 0 and the number of the original of a page with its
#: text, for each of the latest of these. Near-duplicates of a removed or replaced page have no original; LIMIT keeps
#: a claim fast if there are many of them. This is a single query, because most pages are new.
KNOWN = """SELECT 1, number FROM pages WHERE key = ?
UNION ALL SELECT 0, * FROM (
    SELECT ifnull(original, number) FROM pages
    WHERE page_hash = ? AND scope = ? AND is_short = ? ORDER BY number DESC LIMIT 16
)"""
#: The first copies of several originals.
FIRST_COPIES_OF = f"""SELECT number, original, value, fingerprint FROM pages
WHERE rank BETWEEN 1 AND {FIRST_COPIES} AND original IN """
_POSTING = """pages.key, pages.url, pages.scope, pages.value, pages.fingerprint, pages.is_short, pages.page_hash,
    pages.last_seen, pages.delivered, pages.text_hash, pages.first_seen, pages.last_visit, pages.visits,
    pages.changes"""
POSTINGS = f"SELECT {_POSTING}, pages.number FROM pages ORDER BY number"
_ROWS = f"""SELECT {_POSTING}, pages.number, ifnull(pages.original, pages.number), pages.rank, pages.joined,
    pages.found_by, originals.url
FROM pages LEFT JOIN pages AS originals ON originals.number = pages.original"""
ROWS = f"{_ROWS} ORDER BY pages.number"
ROW = f"{_ROWS} WHERE pages.key = ?"
FINDABLE = "SELECT number, scope, value, fingerprint, found_by FROM pages WHERE found_by"
#: Replaces the row with the same key, which may have a different number. Instead of None, whose binding takes longer,
#: an original is bound to its own number, and a page that was not delivered to run 0. The number of the page is bound
#: twice, because Python 3.12.0 to 3.12.3 warn of placeholders with numbers.
WRITE = f"""INSERT OR REPLACE INTO pages
VALUES ({"?, " * 10} nullif(?, ?), ?, ?, nullif(?, 0), {", ".join("?" * 5)})"""
JOINED = "UPDATE pages SET joined = joined + 1 WHERE number = ?"
#: Set the run that last delivered an item of a page with its current text.
DELIVERED = "UPDATE pages SET delivered = ? WHERE key = ? AND page_hash IS ?"
#: Max pages that are removed per transaction.
REMOVED_AT_ONCE = 500
#: The pages that meet a condition and whose numbers are greater than a given one.
REMOVABLE = f"""SELECT number, key, scope, found_by, value, fingerprint FROM pages
WHERE {{}} AND number > ? ORDER BY number LIMIT {REMOVED_AT_ONCE}"""
#: The end of the run before a given run, or its start if it was killed.
FORMER_RUN = "SELECT max(ifnull(ended, started)) FROM runs WHERE number < ?"
TOUCHED = {
    Touch.VISITED: "UPDATE pages SET last_seen = :seen, last_visit = :seen, visits = visits + 1 WHERE key = :key",
    Touch.SEEN: "UPDATE pages SET last_seen = :seen WHERE key = :key",
    Touch.GONE: "UPDATE pages SET last_visit = max(:seen, last_seen + 1) WHERE key = :key",
}
RUNS = "SELECT number, started, ended, reason FROM runs ORDER BY number"
NOTE = "SELECT version, data FROM notes WHERE kind = ? AND name = ?"
NOTES = "SELECT name, data FROM notes WHERE kind = ? ORDER BY name"
KEEP_NOTE = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"
FORGET_NOTE = "DELETE FROM notes WHERE kind = ? AND name = ?"


def create(connection: sqlite3.Connection, header: Header) -> None:
    """Make the tables of a new store in an empty database."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("BEGIN")
    for statement in (*TABLES, *INDEXES, *VIEWS):
        connection.execute(statement)
    connection.executemany("INSERT INTO header VALUES (?, ?)", header.to_dict().items())
    # The version comes last, because a database without a version is not a store.
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def in_memory(header: Header) -> sqlite3.Connection:
    """Return a connection to a new store in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    # SQLite adds about 300 bytes to each database page: with 4 KiB, a stored page would take 478 bytes instead of
    # 440.
    connection.execute("PRAGMA page_size = 8192")
    create(connection, header)
    return connection


def check(connection: sqlite3.Connection, place: str) -> None:
    """Raise StoreDamaged unless the database is a store that this release can read."""
    if not is_store(connection):
        raise StoreDamaged(
            f"{place} is a database of another program. Nothing was changed. Move it, or set SIMHASH_STORE to "
            "a different folder"
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise StoreDamaged(
            f"{place} was written by {age} release of scrapy-simhash: its tables have version {version}, "
            f"this release reads version {VERSION}. Nothing was changed. Set SIMHASH_RESET = True to delete the"
            " store, or set SIMHASH_STORE to a different folder"
        )
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    wanted = {statement.split()[2] for statement in TABLES}
    if missing := sorted(wanted - there):
        raise sqlite3.DatabaseError(f"no table {', '.join(missing)}")


def is_store(connection: sqlite3.Connection) -> bool:
    """Return whether the database is marked as a store."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(application_id == APPLICATION_ID)


def header_of(connection: sqlite3.Connection) -> Header:
    """Return the header of a store. Raises sqlite3.DatabaseError if the database is not a store."""
    try:
        return Header.from_dict(dict(connection.execute("SELECT name, value FROM header")))
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"cannot read the header: {error}") from error


def signed(number: int) -> int:
    """Convert an unsigned 64-bit number for SQLite.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """Return the number from the result of signed().

    >>> unsigned(-1)
    18446744073709551615
    """
    return number & 2**64 - 1


def signed_hash(number: int | None) -> int | None:
    """Convert a hash, or None, for SQLite."""
    return number - (1 << 64) if number and number >> 63 else number


def unsigned_hash(number: int | None) -> int | None:
    """Return the hash from the result of signed_hash()."""
    return None if number is None else number & 2**64 - 1


def compared_of(value: int, rest: bytes | None) -> bytes:
    """Return ``Fingerprint.compared_bytes()`` of the fingerprint in the columns ``value`` and ``fingerprint``."""
    return value.to_bytes(8, "big", signed=True) + (rest or b"")


def to_sql(text: str) -> str | bytes:
    r"""Convert *text* for SQLite.

    >>> to_sql("/caf\u00e9"), to_sql("/\udce9")
    ('/café', b'/\xed\xb3\xa9')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_sql(text: str | bytes) -> str:
    """Return the text from the result of to_sql()."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
