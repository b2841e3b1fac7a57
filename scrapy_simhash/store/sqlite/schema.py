"""Schema: the tables of a store's file, their values, and what claims say to them.

``notes/sqlite-file.rst`` says what every column means. Integers of SQLite have a sign: a 64-bit number from
2**63 on is stored as that number less 2**64. Its texts are Unicode: a URL with lone surrogates is stored as a BLOB.

Nothing in here is newer than SQLite 3.22, the oldest that can read a WAL file it may not write.
"""

from __future__ import annotations

import sqlite3

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.store.candidates import BY_OWN_PART, BY_SUBJECT, FIRST_COPIES
from scrapy_simhash.store.header import Header

#: "SIMH": by it ``file`` and other programs tell whose database this is.
APPLICATION_ID = 0x53494D48
#: Of the tables: raise it with every change of them. A file of another version is refused.
VERSION = 9

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
    """CREATE TABLE texts (
    scope INTEGER NOT NULL,
    text_hash INTEGER NOT NULL,
    content INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    PRIMARY KEY (scope, text_hash)
) WITHOUT ROWID""",
    """CREATE TABLE notes (
    kind TEXT NOT NULL,
    name NOT NULL,
    version INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID""",
    """CREATE TABLE removed (
    page INTEGER PRIMARY KEY
)""",
)

INDEXES = (
    "CREATE INDEX contents_of_page ON contents (page)",
    f"CREATE INDEX first_copies ON pages (content) WHERE rank BETWEEN 1 AND {FIRST_COPIES}",
    "CREATE UNIQUE INDEX short_contents ON contents (scope, value) WHERE is_short AND found_by",
)

# SQLite has no exclusive or, and no function that counts bits: those of each half of a byte are looked up.
VIEWS = (
    """CREATE VIEW duplicates AS
WITH RECURSIVE
places (place) AS (SELECT 0 UNION ALL SELECT place + 4 FROM places WHERE place < 60),
differing AS (
    SELECT (pages.value | contents.value) - (pages.value & contents.value) AS bits,
        pages.url, originals.url AS original, pages.value, pages.seen
    FROM pages
    JOIN contents ON contents.number = pages.content
    JOIN pages AS originals ON originals.number = contents.page
    WHERE contents.page <> pages.number
)
SELECT
    url,
    original,
    (SELECT sum(0 + substr('0112122312232334', 1 + (bits >> place & 15), 1)) FROM places) AS distance,
    printf('%016x', value) AS fingerprint,
    datetime(seen, 'unixepoch') AS seen
FROM differing""",
)

#: Pages and contents have smaller numbers. Larger ones are damage, and are not counted on from.
MOST_NUMBER = 1 << 40

ENDS = f"""SELECT
    (SELECT count(*) FROM pages),
    (SELECT 1 + max(ifnull((SELECT max(number) FROM pages WHERE number < {MOST_NUMBER}), -1),
        ifnull((SELECT max(page) FROM removed WHERE page < {MOST_NUMBER}), -1))),
    (SELECT 1 + ifnull(max(number), -1) FROM contents WHERE number < {MOST_NUMBER})"""
FIND = "SELECT number FROM pages WHERE key = ?"
#: What a page says is a content's where ``pages.sketch`` is NULL.
PAGE = """SELECT key, url, value, coalesce(pages.sketch, sketches.sketch),
    CASE WHEN pages.sketch IS NULL THEN sketches.own ELSE pages.own END, text_hash, seen, pages.content, rank, joined,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND ended IS NOT NULL)
FROM pages LEFT JOIN sketches ON sketches.content = pages.content
WHERE number = ?"""
CONTENT = """SELECT page, scopes.scope, is_short, value, sketch, own, text_hash, seen
FROM contents
LEFT JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON content = contents.number
WHERE contents.number = ?"""
CONTENTS_OF = "SELECT number FROM contents WHERE page = ? ORDER BY number"
FIRST_COPIES_OF = f"""SELECT pages.number
FROM contents JOIN pages ON pages.content = contents.number
WHERE contents.page = ? AND rank BETWEEN 1 AND {FIRST_COPIES}"""
NEXT = "SELECT min(number) FROM pages WHERE number >= ?"
FINDABLE = f"""SELECT scope, number, value, sketch, own, found_by
FROM contents LEFT JOIN sketches ON content = number AND found_by & {BY_SUBJECT | BY_OWN_PART}
WHERE found_by AND NOT is_short"""
SHORT = "SELECT number FROM contents WHERE scope = ? AND value = ? AND is_short AND found_by"
WITH_TEXT = "SELECT content FROM texts WHERE scope = ? AND text_hash = ?"
TAKE_TEXT = """INSERT INTO texts VALUES (?, ?, ?, 1) ON CONFLICT (scope, text_hash) DO UPDATE
SET pages = CASE content WHEN excluded.content THEN pages + 1 ELSE 1 END, content = excluded.content"""
LEAVE_TEXT = "UPDATE texts SET pages = pages - 1 WHERE scope = ? AND text_hash = ? AND content = ?"
FORGET_TEXT = "DELETE FROM texts WHERE scope = ? AND text_hash = ? AND pages < 1"
NEW_CONTENT = "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
NEW_SKETCH = "INSERT INTO sketches VALUES (?, ?, ?)"
NEW_PAGE = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)"
CHANGED_PAGE = """UPDATE pages
SET url = ?, value = ?, text_hash = ?, seen = ?, run = coalesce(?, run), content = ?, rank = ?, sketch = ?,
    own = ?
WHERE number = ?"""
UNSETTLED = "UPDATE pages SET run = 0 WHERE key = ? AND run = ?"
JOINED_CLUSTER = "UPDATE pages SET joined = ? WHERE number = ?"

TOUCHED = "UPDATE pages SET seen = ? WHERE key = ?"
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
    # Last: what has no version is no store.
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def check(connection: sqlite3.Connection, place: str) -> None:
    """Raise StoreDamaged unless the database is a store that this release can read."""
    if not is_store(connection):
        raise StoreDamaged(
            f"{place} is a database of another program. Nothing was changed. Move it, or set SIMHASH_STORE to "
            "another folder"
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise StoreDamaged(
            f"{place} was written by {age} release of scrapy-simhash: its tables have version {version}, "
            f"this release reads version {VERSION}. Nothing was changed. Set SIMHASH_RESET = True to begin anew, "
            "or set SIMHASH_STORE to another folder"
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


def signed(number: int) -> int:
    """Return an unsigned 64-bit number as SQLite keeps it.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """Return the number that signed() took.

    >>> unsigned(-1)
    18446744073709551615
    """
    return number & 2**64 - 1


def signed_hash(number: int | None) -> int | None:
    """Return a hash, known or not, as SQLite keeps it."""
    return None if number is None else signed(number)


def stored(text: str) -> str | bytes:
    r"""Return *text* as SQLite can keep it.

    >>> stored("/caf\u00e9"), stored("/\udce9")
    ('/café', b'/\xed\xb3\xa9')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def told(text: str | bytes) -> str:
    """Return the text that stored() took."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
