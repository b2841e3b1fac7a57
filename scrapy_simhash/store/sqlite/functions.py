"""SQL functions for any database with fingerprints: distance, and near-duplicate search."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from scrapy_simhash.index import SimhashIndex, hamming_distance
from scrapy_simhash.store.sqlite.schema import unsigned

#: The query for the pages of a store that have a fingerprint, for add_functions().
PAGES = "SELECT number, value FROM pages WHERE NOT is_short"


def add_functions(connection: sqlite3.Connection, rows: str = PAGES) -> None:
    """Add two SQL functions to *connection*; a fingerprint is a signed or unsigned number, or hexadecimal text.

    ``simhash_distance(a, b)``
        Number of bits in which two fingerprints differ, 0 to 64; NULL if one of them is NULL. Takes a microsecond.
    ``simhash_near(value, k)``
        The numbers of the rows whose fingerprint is within *k* bits of *value*, nearest first, as a JSON array for
        SQLite's ``json_each``. *rows* is the query for all rows: an identifying integer and a fingerprint. They are
        read into an index in memory at the first call with a *k*, and again after a change of the database; further
        calls take about ten microseconds. Close the connection to free the index.

    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE signatures (id INTEGER, signature INTEGER)")
    >>> _ = connection.executemany("INSERT INTO signatures VALUES (?, ?)", [(1, 0b1111), (2, -1), (3, 0b1000)])
    >>> add_functions(connection, "SELECT id, signature FROM signatures")
    >>> connection.execute("SELECT simhash_distance(15, 8), simhash_distance(-1, '0')").fetchone()
    (3, 64)
    >>> connection.execute("SELECT simhash_near(15, 3)").fetchone()
    ('[1, 3]',)
    """
    connection.create_function("simhash_distance", 2, _distance, deterministic=True)
    connection.create_function("simhash_near", 2, _near(connection, rows))


def _distance(a: object, b: object) -> int | None:
    if a is None or b is None:
        return None
    return hamming_distance(_number(a), _number(b))


def _near(connection: sqlite3.Connection, rows: str) -> Callable[[object, object], str | None]:
    """Return the function of *connection*."""
    state: object = None
    indexes: dict[int, SimhashIndex] = {}

    def near(value: object, k: object) -> str | None:
        nonlocal state
        if value is None or k is None:
            return None
        if not isinstance(k, int) or not 0 <= k <= 64:
            raise ValueError(f"k must be 0 to 64 bits, got {k!r}")
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if state != (version, connection.total_changes):
            state = version, connection.total_changes
            indexes.clear()
        if k not in indexes:
            index = indexes[k] = SimhashIndex(k, "auto")
            for key, held in connection.execute(rows):
                if held is not None:
                    index.add(_number(held), key)
        return json.dumps([match.key for match in indexes[k].find(_number(value))])

    return near


def _number(value: object) -> int:
    """Return a fingerprint as an unsigned number. Raises TypeError or ValueError for anything else."""
    if isinstance(value, str):
        value = int(value, 16)
    if not isinstance(value, int):
        raise TypeError(f"a fingerprint is a whole number or hexadecimal text, got {value!r}")
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"a fingerprint has 64 bits, got {value}")
    return unsigned(value)
