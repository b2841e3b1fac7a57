"""Loading: what of a file is in memory while it is open, read when that is opened."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Container, Iterator

from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.store.candidates import BY_TEXT, values_by
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.sqlite import statements
from scrapy_simhash.store.sqlite.statements import MOST_NUMBER

#: Rows of the table of contents that are in memory at a time while it is read.
CHUNK = 1 << 14


def findable(
    connection: sqlite3.Connection, scopes: Container[int], damage: Damage
) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Yield the contents that can be found, some thousands at a time: a scope, their values, their numbers.

    *damage* gets the rows that cannot be right; they are left out.
    """
    cursor = connection.execute(statements.FOUND_BY_TEXT)
    while chunk := cursor.fetchmany(CHUNK):
        by_scope: dict[int, tuple[array[int], array[int]]] = defaultdict(lambda: (array("q"), array("q")))
        for scope, value, number in chunk:
            if scope not in scopes or type(value) is not int or not 0 <= number < MOST_NUMBER:
                damage.note(f"content {number}")
                continue
            values, numbers = by_scope[scope]
            values.append(value)
            numbers.append(number)
        for scope, columns in by_scope.items():
            # The same 64 bits without their sign.
            values_, numbers_ = (memoryview(column).cast("B").cast("Q") for column in columns)
            yield scope, values_, numbers_


def findable_by_others(
    connection: sqlite3.Connection, scopes: Container[int], damage: Damage
) -> Iterator[tuple[int, tuple[int, ...], int, bool]]:
    """Yield scope, other values and number of each content that is found by more than its text, or not by that.

    And whether its text does not find it: it is in a crowd, see ``candidates``.
    """
    for scope, number, sketch, own, found_by in connection.execute(statements.SKETCHES):
        try:
            fingerprint = Fingerprint(0, sketch=sketch, own=own or b"")
            # What is found by its text is in the index already.
            values = values_by(fingerprint, found_by & ~BY_TEXT)
            if scope not in scopes or not 0 <= number < MOST_NUMBER:
                raise ValueError
        except (TypeError, ValueError):
            damage.note(f"content {number}")
        else:
            yield scope, values, number, not found_by & BY_TEXT
