"""Rescue: all postings of a file, in order, and of a damaged one those that are left."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from scrapy_simhash.store.base import Page, Posting
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.sqlite import rows
from scrapy_simhash.store.sqlite.failures import KINDS, is_damage
from scrapy_simhash.store.sqlite.rows import RowDamaged
from scrapy_simhash.store.sqlite.statements import MOST_NUMBER

#: Pages that are asked for together.
PAGES = 256
#: Ways to all numbers: the table, and the index of keys, which is kept elsewhere in the file. What one has lost the
#: other may have.
_NUMBERS = (
    "SELECT number FROM pages NOT INDEXED ORDER BY number",
    "SELECT number FROM pages INDEXED BY sqlite_autoindex_pages_1",
)


def pages_of(connection: sqlite3.Connection, damage: Damage) -> Iterator[tuple[Page, list[Sequence[Any]]]]:
    """Yield the pages of a store with their rows, in order; *damage* gets what had to be left out.

    8 bytes of memory a page, for the order.
    """
    # All as it is now, whatever is written meanwhile.
    connection.execute("BEGIN")
    numbers = numbers_of(connection, damage)
    for start in range(0, len(numbers), PAGES):
        for group in _groups(connection, numbers[start : start + PAGES], damage):
            try:
                page = rows.page_of(group[0])
            except RowDamaged as error:
                damage.note(str(error))
            else:
                yield page, group


def postings_of(connection: sqlite3.Connection, damage: Damage) -> Iterator[Posting]:
    """Yield the postings of a store, see ``Store.__iter__``: of earlier contents, and the latest of each page."""
    for page, group in pages_of(connection, damage):
        for row in group:
            try:
                first = rows.first_of(row, page)
            except RowDamaged as error:
                damage.note(str(error))
                continue
            if first is not None:
                yield first
        yield page.posting


def numbers_of(connection: sqlite3.Connection, damage: Damage) -> Sequence[int]:
    """Return the numbers of all pages that can be read, in their order."""
    found: array[int] = array("q")
    for way in _NUMBERS:
        try:
            for (number,) in connection.execute(way):
                if 0 <= number < MOST_NUMBER:
                    found.append(number)
                else:
                    damage.note(f"page {number}: no page can have this number")
        except KINDS as error:
            if not is_damage(error):
                raise
            damage.note(f"the table of pages: {error}")
        else:
            return found if way is _NUMBERS[0] else array("q", sorted(set(found)))
    return array("q", sorted(set(found)))


def _groups(
    connection: sqlite3.Connection, numbers: Sequence[int], damage: Damage
) -> Iterator[list[Sequence[Any]]]:
    """Yield the rows of each page; of those whose part of the file is damaged, what can be read one by one."""
    try:
        found = connection.execute(rows.SOME_PAGES, (numbers[0], numbers[-1])).fetchall()
    except KINDS as error:
        if not is_damage(error):
            raise
        if len(numbers) == 1:
            damage.note(f"page {numbers[0]}: {error}")
            return
        middle = len(numbers) // 2
        yield from _groups(connection, numbers[:middle], damage)
        yield from _groups(connection, numbers[middle:], damage)
    else:
        for _, group in groupby(found, itemgetter(0)):
            yield list(group)
