"""Rows: pages and postings as a file has them, read in order; of a damaged file those that are left."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from struct import error as StructError
from typing import Any

from scrapy_simhash.page.fingerprint import SKETCH_BYTES, Fingerprint, is_own_part
from scrapy_simhash.store.base import Page, Posting
from scrapy_simhash.store.candidates import BY_TEXT, values_by
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.sqlite.files import KINDS, RowDamaged, is_damage
from scrapy_simhash.store.sqlite.schema import (
    FOUND_BY_TEXT,
    MOST_NUMBER,
    SKETCHES,
    told,
    unsigned,
    unsigned_hash,
)

#: What of a posting is a content's. ``pages.sketch`` is NULL for a page that is as its content is.
_PAGES = """SELECT pages.number, pages.content, contents.page, originals.url, pages.key, pages.url,
    EXISTS (SELECT 1 FROM runs WHERE runs.number = pages.run AND runs.ended IS NOT NULL),
    scopes.scope, contents.is_short, pages.value, coalesce(pages.sketch, sketches.sketch),
    CASE WHEN pages.sketch IS NULL THEN sketches.own ELSE pages.own END, pages.text_hash,
    pages.seen"""
_FROM = """FROM pages
LEFT JOIN contents ON contents.number = pages.content
LEFT JOIN scopes ON scopes.number = contents.scope
LEFT JOIN sketches ON sketches.content = contents.number
LEFT JOIN pages AS originals ON originals.number = contents.page AND originals.number <> pages.number"""
_FIRST = """firsts.number, first_scopes.scope, firsts.is_short, firsts.value, first_sketches.sketch,
    first_sketches.own, firsts.text_hash, firsts.seen"""
_FIRSTS = """LEFT JOIN scopes AS first_scopes ON first_scopes.number = firsts.scope
LEFT JOIN sketches AS first_sketches ON first_sketches.content = firsts.number"""
#: Where the columns of an earlier content begin; if there is none, they are NULL.
_FIRST_AT = 14

#: A row for page_of().
ONE_PAGE = f"{_PAGES} {_FROM} WHERE pages.key = ?"
#: Rows for page_of(), and own_of() from `_FIRST_AT` on: page by page, for each content it had before, one at least.
SOME_PAGES = f"""{_PAGES}, {_FIRST} {_FROM}
LEFT JOIN contents AS firsts ON firsts.page = pages.number
    AND (firsts.number <> pages.content OR pages.sketch IS NOT NULL)
{_FIRSTS}
WHERE pages.number BETWEEN ? AND ? ORDER BY pages.number, firsts.number"""
#: Rows for own_of(): the contents of one page that can be found.
OWN_CONTENTS = f"""SELECT {_FIRST}
FROM contents AS firsts
{_FIRSTS}
WHERE firsts.page = ? AND firsts.found_by ORDER BY firsts.number"""


def page_of(row: Sequence[Any]) -> Page:
    """Return the page of a row. Raises RowDamaged if that cannot be right, or its content cannot."""
    number, content, cluster, original, key, url, is_settled = row[:7]
    about = f"page {number} ({shown(url)})"
    if cluster is None:
        raise RowDamaged(f"{about}: its content {shown(content)} is missing")
    with _damaged(about):
        posting = _posting(key, told(url), is_settled, row[7:14])
        if not type(content) is type(cluster) is int:
            raise TypeError
    return Page(number, posting, content, cluster, _told(original))


def own_of(row: Sequence[Any], page: Page) -> tuple[int, Posting]:
    """Return a content that came from *page*: its number, and the posting that it came with.

    Raises RowDamaged if it cannot be right.
    """
    key, url = page.posting[:2]
    with _damaged(f"content {row[0]}, an earlier one of page {page.number} ({shown(url)})"):
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


def _told(original: Any) -> str | None:
    """Return the URL of the page that another one repeats, None if there is none that can be read."""
    with suppress(AttributeError, UnicodeDecodeError):
        return told(original)
    return None


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
    numbers = _numbers(connection, damage)
    for start in range(0, len(numbers), PAGES):
        for group in _groups(connection, numbers[start : start + PAGES], damage):
            with _noted(damage):
                yield page_of(group[0]), group


def postings_of(connection: sqlite3.Connection, damage: Damage) -> Iterator[Posting]:
    """Yield the postings of a store, see ``Store.__iter__``: of earlier contents, and the latest of each page."""
    for page, group in pages_of(connection, damage):
        for row in group:
            if row[_FIRST_AT] is not None:
                with _noted(damage):
                    yield own_of(row[_FIRST_AT:], page)[1]
        yield page.posting


@contextmanager
def _noted(damage: Damage, what: str = "") -> Iterator[None]:
    """Let *damage* have what is damaged inside: a row that says so itself, or *what* SQLite was asked for."""
    try:
        yield
    except KINDS as error:
        if not is_damage(error):
            raise
        damage.note(str(error) if isinstance(error, RowDamaged) else f"{what}: {error}")


def _numbers(connection: sqlite3.Connection, damage: Damage) -> Sequence[int]:
    """Return the numbers of all pages that can be read, in their order."""
    found: array[int] = array("q")
    for way in _NUMBERS:
        with _noted(damage, "the table of pages"):
            for (number,) in connection.execute(way):
                if 0 <= number < MOST_NUMBER:
                    found.append(number)
                else:
                    damage.note(f"page {number}: no page can have this number")
            if way is _NUMBERS[0]:
                return found
    return array("q", sorted(set(found)))


def _groups(
    connection: sqlite3.Connection, numbers: Sequence[int], damage: Damage
) -> Iterator[list[Sequence[Any]]]:
    """Yield the rows of each page; of those whose part of the file is damaged, what can be read one by one."""
    try:
        found = connection.execute(SOME_PAGES, (numbers[0], numbers[-1])).fetchall()
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


#: Lines of SQLite's own report.
MOST_LINES = 100


def _not_whole(*columns: str) -> str:
    return " OR ".join(f"typeof({column}) <> 'integer'" for column in columns)


#: Rows that cannot be right: what is said of them, and a query that returns the two values it needs.
_QUERIES = (
    (
        "page {} ({})",
        "SELECT number, url FROM pages WHERE typeof(key) <> 'blob' OR typeof(url) NOT IN ('text', 'blob') OR "
        + _not_whole("value", "seen", "run", "content", "rank", "joined")
        + f" OR number NOT BETWEEN 0 AND {MOST_NUMBER - 1}",
    ),
    (
        "content {}, of page {}",
        "SELECT number, page FROM contents WHERE scope NOT IN (SELECT number FROM scopes) OR "
        + _not_whole("page", "scope", "value", "seen", "is_short", "found_by")
        + f" OR number NOT BETWEEN 0 AND {MOST_NUMBER - 1}",
    ),
    (
        "content {}: its page {} is missing",
        "SELECT number, page FROM contents WHERE page NOT IN (SELECT number FROM pages)"
        " AND page NOT IN (SELECT page FROM removed)",
    ),
    (
        "the sketch of content {} has {} bytes",
        f"SELECT content, length(sketch) FROM sketches WHERE length(sketch) <> {SKETCH_BYTES}",
    ),
    (
        "the sketch of content {}, which is missing{}",
        "SELECT content, '' FROM sketches WHERE content NOT IN (SELECT number FROM contents)",
    ),
    (
        "run {}, begun {}",
        "SELECT number, started FROM runs WHERE typeof(started) <> 'integer'"
        " OR typeof(ended) NOT IN ('integer', 'null') OR typeof(reason) NOT IN ('text', 'null')",
    ),
    (
        "the profile of {} has {} bytes",
        # What has a space in its name is no host: other things that were learned, checked by who reads them.
        "SELECT host, length(profile) FROM sites WHERE instr(host, ' ') = 0"
        " AND (length(profile) < 17 OR (length(profile) - 17) % 16)",
    ),
)


def audit(connection: sqlite3.Connection, tell: Callable[[int], None]) -> list[str]:
    """Read everything, and return the names of damaged rows; *tell* hears how many postings were read so far.

    Some thirty seconds for a million pages.
    """
    damage = Damage("", is_logged=False)
    for number, _ in enumerate(postings_of(connection, damage), 1):
        tell(number)
    for form, query in _QUERIES:
        with _noted(damage, f"a table ({form.partition(' {')[0]})"):
            for row in connection.execute(query):
                damage.note(form.format(*map(shown, row)))
    with _noted(damage, "the file"):
        for (line,) in connection.execute(f"PRAGMA integrity_check({MOST_LINES})"):
            if line != "ok":
                damage.note(f"the file: {shown(line)}")
    return damage.named
