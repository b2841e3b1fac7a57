"""Rows: pages and contents as a file has them; of a damaged file those that are left."""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.page.fingerprint import Fingerprint, is_own_part, is_sketch
from scrapy_simhash.store.candidates import values_by
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.local import ContentRow, PageRow
from scrapy_simhash.store.sqlite import schema
from scrapy_simhash.store.sqlite.files import FAULTS, is_damage, words_of
from scrapy_simhash.store.sqlite.schema import MOST_NUMBER, told, unsigned

#: Numbers of pages after each other that cannot be read, after which there are no more: a part of the tree that
#: SQLite cannot enter has fewer.
MOST_TORN = 30_000
#: Rows of the table of contents that are in memory at a time while it is read.
CHUNK = 1 << 14


class FileRows:
    """See :class:`~scrapy_simhash.store.local.Ledger`. What is damaged is left out, and *damage* gets it."""

    def __init__(self, connection: sqlite3.Connection, damage: Damage) -> None:
        self._connection = connection
        self._execute = connection.cursor().execute
        self._damage = damage

    def find(self, key: bytes) -> int | None:
        """See `Ledger.find`. One query."""
        found = self._execute(schema.FIND, (key,)).fetchall()
        return found[0][0] if found else None

    def page(self, number: int) -> PageRow | None:
        """See `Ledger.page`. One query."""
        url = ""
        try:
            found = self._execute(schema.PAGE, (number,)).fetchall()
            if not found:
                return None
            ((key, url, value, sketch, own, text_hash, seen, content, rank, joined, is_settled),) = found
            if type(key) is not bytes or not type(seen) is type(content) is type(rank) is type(joined) is int:
                raise TypeError
            its_hash = None if text_hash is None else unsigned(text_hash)
            compared, is_settled = _compared(value, sketch, own), bool(is_settled)
            return PageRow(key, told(url), compared, its_hash, seen, content, rank, joined, is_settled)
        except FAULTS as error:
            raise self._named(f"page {number}", error, url) from error

    def content(self, number: int) -> ContentRow:
        """See `Ledger.content`. One query."""
        try:
            found = self._execute(schema.CONTENT, (number,)).fetchall()
            ((page, scope, is_short, value, sketch, own, text_hash, seen),) = found
            if not type(page) is type(is_short) is type(seen) is int:
                raise TypeError
            its_hash = None if text_hash is None else unsigned(text_hash)
            return ContentRow(
                page, told(scope), bool(is_short), _compared(value, sketch, own), its_hash, seen
            )
        except FAULTS as error:
            raise self._named(f"content {number}", error) from error

    def contents_of(self, page: int) -> list[int]:
        """See `Ledger.contents_of`. One query."""
        try:
            return [number for (number,) in self._execute(schema.CONTENTS_OF, (page,)).fetchall()]
        except sqlite3.Error as error:
            raise self._named(f"earlier contents of page {page}", error) from error

    def first_copies(self, cluster: int) -> list[int]:
        """See `Ledger.first_copies`. One query."""
        try:
            return [number for (number,) in self._execute(schema.FIRST_COPIES_OF, (cluster,)).fetchall()]
        except sqlite3.Error as error:
            raise self._named(f"first copies of page {cluster}", error) from error

    def _named(self, record: str, error: Exception, url: object = "") -> Exception:
        """Return what is to be raised for an *error* that came with *record*, of a page at *url*."""
        if not is_damage(error):
            return error
        why = words_of(error) if isinstance(error, sqlite3.Error) else shown(url)
        return self._damage.found(f"{record} ({why})" if why else record)

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the pages. Where SQLite cannot read on, each following one is tried until it can."""
        # A damaged one may be less than 0.
        number, torn, why = -(1 << 63), 0, ""
        while torn < MOST_TORN:
            try:
                ((found,),) = self._execute(schema.NEXT, (number,)).fetchall()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                number, torn, why = max(number, 0) + 1, torn + 1, words_of(error)
                continue
            if found is None:
                break
            for lost in range(number - torn, number):
                self._damage.note(f"page {lost} ({why})")
            number, torn = found + 1, 0
            yield found
        if torn:
            self._damage.note(f"all pages from {number - torn} on ({why})")

    def check(self) -> None:
        """Read all contents, and the pages of those that can be found; then SQLite looks at the whole file."""
        with self._noting("the table of contents"):
            for number, found_by in self._connection.execute("SELECT number, found_by FROM contents"):
                with suppress(RecordDamaged):
                    page = self.content(number).page
                    if type(found_by) is not int:
                        self._damage.note(f"content {number}")
                    elif found_by and self.page(page) is None:
                        self._damage.note(f"page {page} (of content {number})")
        with self._noting("the file"):
            for (line,) in self._connection.execute("PRAGMA integrity_check"):
                if line != "ok":
                    self._damage.note(f"the file: {shown(line)}")

    @contextmanager
    def _noting(self, record: str) -> Iterator[None]:
        """Go on after an error that is damage."""
        with suppress(RecordDamaged):
            try:
                yield
            except sqlite3.Error as error:
                raise self._named(record, error) from error

    def findable(self, scopes: Container[int]) -> Iterator[tuple[int, memoryview, memoryview, int]]:
        """Yield the contents that can be found, some thousands at a time: a scope, values, and a number for each.

        And how many contents these are. Of short ones none.
        """
        cursor = self._connection.execute(schema.FINDABLE)
        while chunk := cursor.fetchmany(CHUNK):
            by_scope: dict[int, tuple[array[int], array[int]]] = defaultdict(lambda: (array("Q"), array("Q")))
            counts = Counter[int]()
            for scope, number, value, sketch, own, found_by in chunk:
                try:
                    fingerprint = Fingerprint(unsigned(value), sketch=sketch or b"", own=own or b"")
                    its_values = values_by(fingerprint, found_by)
                    if scope not in scopes or not 0 <= number < MOST_NUMBER:
                        raise ValueError
                except (TypeError, ValueError):
                    self._damage.note(f"content {number}")
                    continue
                values, numbers = by_scope[scope]
                values.extend(its_values)
                numbers.extend([number] * len(its_values))
                counts[scope] += 1
            for scope, columns in by_scope.items():
                yield scope, memoryview(columns[0]), memoryview(columns[1]), counts[scope]


def _compared(value: int, sketch: bytes | None, own: bytes | None) -> bytes:
    """Return `Fingerprint.compared_bytes` of columns. Raises TypeError or ValueError for what cannot be in them."""
    data = unsigned(value).to_bytes(8, "big")
    if not sketch:
        return data
    if not is_sketch(sketch) or (own and not is_own_part(own)):
        raise ValueError
    return data + sketch + own if own else data + sketch
