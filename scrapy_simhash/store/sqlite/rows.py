"""Rows: pages and postings as a file has them, read in order; of a damaged file those that are left."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from struct import error as StructError
from typing import Any

from scrapy_simhash.page.fingerprint import Fingerprint, is_own_part
from scrapy_simhash.store.base import Page, Posting
from scrapy_simhash.store.candidates import BY_TEXT, values_by
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.sqlite.files import FAULTS, RowDamaged, is_damage, words_of
from scrapy_simhash.store.sqlite.schema import (
    FOUND_BY_TEXT,
    MOST_NUMBER,
    SKETCHES,
    told,
    unsigned,
    unsigned_hash,
)

#: What of a posting is a content's. ``pages.sketch`` is NULL for a page that is as its content is.
_PAGES = """SELECT pages.number, pages.content, contents.page, pages.rank, pages.joined, originals.url, pages.key,
    pages.url, EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND runs.ended IS NOT NULL),
    scopes.scope, contents.is_short, pages.value, coalesce(pages.sketch, sketches.sketch),
    CASE WHEN pages.sketch IS NULL THEN sketches.own ELSE pages.own END, pages.text_hash,
    pages.seen"""
_FROM = """FROM pages
LEFT JOIN contents ON contents.number = pages.content
LEFT JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON sketches.content = contents.number
LEFT JOIN pages AS originals ON originals.number = contents.page AND originals.number <> pages.number"""
#: Whether what came from a page is more than the page as it is now.
_HAS_EARLIER = """EXISTS (SELECT 1 FROM contents AS firsts WHERE firsts.page = pages.number
    AND (firsts.number <> pages.content OR pages.sketch IS NOT NULL))"""

#: A row for page_of().
ONE_PAGE = f"{_PAGES} {_FROM} WHERE pages.key = ?"
_PAGES_FROM = f"{_PAGES}, {_HAS_EARLIER} {_FROM} WHERE pages.number >= ? ORDER BY pages.number"
#: The first of these, without a look at the index of contents; sqlite3 does not give the last row before an error.
_PAGE_FROM = f"{_PAGES}, 1 {_FROM} WHERE pages.number >= ? ORDER BY pages.number LIMIT 1"
#: Rows for own_of(): the contents that came from one page.
OWN_CONTENTS = """SELECT contents.number, scopes.scope, is_short, value, sketch, own, text_hash, seen
FROM contents
LEFT JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON sketches.content = contents.number
WHERE page = ? ORDER BY contents.number"""


def page_of(row: Sequence[Any]) -> Page:
    """Return the page of a row. Raises RowDamaged if that cannot be right, or its content cannot."""
    number, content, cluster, rank, joined, original, key, url, is_settled = row[:9]
    about = f"page {number} ({shown(url)}"
    if cluster is None:
        raise RowDamaged(f"{about}, its content {shown(content)} is missing)")
    with _damaged(f"{about})"):
        posting = _posting(key, told(url), is_settled, row[9:16])
        if not type(content) is type(cluster) is type(rank) is type(joined) is int:
            raise TypeError
    with suppress(AttributeError, UnicodeDecodeError):
        return Page(number, posting, content, cluster, told(original))
    return Page(number, posting, content, cluster, None)


def own_of(row: Sequence[Any], page: Page) -> tuple[int, Posting]:
    """Return a content that came from *page*: its number, and the posting that it came with.

    Raises RowDamaged if it cannot be right.
    """
    key, url = page.posting[:2]
    with _damaged(f"content {row[0]} (an earlier one of page {page.number}, {shown(url)})"):
        return row[0], _posting(key, url, page.posting.is_delivered, row[1:])


def _posting(key: bytes, url: str, is_settled: int, columns: Sequence[Any]) -> Posting:
    scope, is_short, value, sketch, own, text_hash, seen = columns
    if type(key) is not bytes or not type(seen) is type(is_short) is int:
        raise TypeError
    if own is not None and not is_own_part(own):
        raise ValueError
    fingerprint = Fingerprint(unsigned(value), sketch=sketch or b"", own=own or b"")
    if type(fingerprint.sketch) is not bytes:
        raise TypeError
    return Posting(
        key, url, told(scope), fingerprint, bool(is_short), unsigned_hash(text_hash), seen, bool(is_settled)
    )


@contextmanager
def _damaged(what: str) -> Iterator[None]:
    """Raise RowDamaged for values that cannot be in a row of *what*."""
    try:
        yield
    except (AttributeError, LookupError, StructError, TypeError, ValueError) as error:
        raise RowDamaged(what) from error


@contextmanager
def noted(damage: Damage, what: str = "") -> Iterator[None]:
    """Let *damage* have what is damaged inside: a row that says so itself, or *what* SQLite was asked for."""
    try:
        yield
    except FAULTS as error:
        if not is_damage(error):
            raise
        damage.note(str(error) if isinstance(error, RowDamaged) else f"{what} ({words_of(error)})")


#: Numbers of pages after each other that cannot be read, after which there are no more: a part of the tree that
#: SQLite cannot enter has fewer.
MOST_TORN = 30_000


def pages_of(connection: sqlite3.Connection, damage: Damage) -> Iterator[tuple[Page, bool]]:
    """Yield the pages of a store in order, and whether they have earlier contents; *damage* gets what is left out.

    Where SQLite cannot read on, each following number is tried until it can.
    """
    # All as it is now, whatever is written meanwhile.
    connection.execute("BEGIN")
    query, number, torn, why = _PAGES_FROM, -(1 << 63), 0, ""
    while torn < MOST_TORN:
        try:
            for row in connection.execute(query, (number,)):
                for lost in range(number - torn, number):
                    damage.note(f"page {lost} ({why})")
                number, torn = row[0] + 1, 0
                with noted(damage):
                    yield page_of(row), row[-1]
            if query is _PAGES_FROM:
                break
            query = _PAGES_FROM
        except FAULTS as error:
            if not is_damage(error):
                raise
            if query is _PAGE_FROM:
                number, torn, why = max(number, 0) + 1, torn + 1, words_of(error)
            query = _PAGE_FROM
    if torn:
        damage.note(f"all pages from {number - torn} on ({why})")


def postings_of(connection: sqlite3.Connection, damage: Damage) -> Iterator[Posting]:
    """Yield the postings of a store, see ``Store.__iter__``: of earlier contents, and the latest of each page."""
    for page, has_earlier in pages_of(connection, damage):
        if has_earlier:
            with noted(damage, f"earlier contents of page {page.number}"):
                for row in connection.execute(OWN_CONTENTS, (page.number,)):
                    with noted(damage):
                        number, posting = own_of(row, page)
                        # Of its present content only if it says something else now.
                        if (number, posting.fingerprint) != (page.content, page.posting.fingerprint):
                            yield posting
        yield page.posting


#: Rows of the table of contents that are in memory at a time while it is read.
CHUNK = 1 << 14


def findable(
    connection: sqlite3.Connection, scopes: Container[int], damage: Damage
) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Yield the contents that can be found, some thousands at a time: a scope, their values, their numbers.

    *damage* gets the rows that cannot be right; they are left out.
    """
    cursor = connection.execute(FOUND_BY_TEXT)
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
    for scope, number, sketch, own, found_by in connection.execute(SKETCHES):
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
