"""SqliteStore: the store in an SQLite file or in memory."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from threading import Lock
from types import NoneType
from typing import Any, TypeVar
from weakref import finalize

from scrapy_simhash.exceptions import RecordDamaged, StoreError, StoreUnavailable
from scrapy_simhash.notes import KINDS, PAGE, Name, Note
from scrapy_simhash.page.fingerprint import Fingerprint, sketch_length
from scrapy_simhash.recent import Recent
from scrapy_simhash.store.base import Claim, History, Original, Posting, Row, Run, Store, Touch
from scrapy_simhash.store.candidates import (
    BLOCKS,
    BY_ALL,
    FINGERPRINTS,
    NO_PAGE,
    index_for,
    values_by,
)
from scrapy_simhash.store.claims import Decision, decide, find, with_copies
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.sqlite import files, schema
from scrapy_simhash.store.sqlite.checkpoints import Checkpoints
from scrapy_simhash.store.sqlite.files import open_errors
from scrapy_simhash.store.sqlite.schema import (
    compared_of,
    from_sql,
    signed,
    signed_hash,
    to_sql,
    unsigned,
    unsigned_hash,
)

logger = logging.getLogger(__name__)

#: SQLite's path of a database in memory.
MEMORY = ":memory:"
#: Rows per read while the indexes are filled.
CHUNK = 1 << 14
_T = TypeVar("_T")


class SqliteStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in a file, or in memory; the indexes are always in memory.

    A claim is one transaction, which survives a kill of the process and does not wait for the disk. Opening takes
    about five seconds per million pages.
    """

    #: Number of searchable fingerprints, counted here because there may be as many indexes as sites.
    index_size = 0
    #: Number of clusters in other stores with the title of the next claimed page. Set by callers that split the pages
    #: of one scope over several stores.
    titled_elsewhere = 0

    def __init__(
        self,
        path: str | os.PathLike[str] = MEMORY,
        header: Header | None = None,
        blocks: int = BLOCKS,
        *,
        read_only: bool = False,
        reset: bool = False,
        keep: int | None = None,
    ) -> None:
        """Open the store at *path*, or with ``:memory:`` a store that ends with the process.

        A missing file is created for fingerprints of *header*. If *header* is None, the header of the store is used,
        or the default header for a new store. One process at a time can write to a file. With *read_only*, no run is
        begun, claims are refused, and a crawl may be running: ``get`` and iteration return pages that the crawl adds,
        but ``look`` does not find them. *reset* deletes the stored pages, damaged or not. *blocks* is passed to
        `index_for`. *keep* removes pages that were not seen for that many seconds before the end of the last run.

        Raises StoreMismatch for a file with a different header, StoreLocked if another process writes to the file,
        StoreDamaged for a file that is damaged, has a different version or is not a store, StoreError for a file that
        does not exist or cannot be written, and StoreUnavailable if the disk is full.
        """
        self._path = None if path == MEMORY else files.resolved(path)
        # A subclass may keep its pages elsewhere.
        self.is_memory = self._path is None and type(self) is SqliteStore
        self.note_kinds = () if self._path is None else KINDS
        super().__init__(header)
        # Other connections only read.
        self._mode = "ro"
        self._lock: sqlite3.Connection | None = None
        self._checkpoints: Checkpoints | None = None
        if self._path is None:
            self._connection = schema.in_memory(header or Header())
            # The pages exist as long as the store. Python 3.13 and later warn of connections that are not closed.
            finalize(self, self._connection.close)
        elif read_only:
            self._connection, self._mode = files.open_for_reading(self._path)
        else:
            self._lock, self._connection = files.open_for_writing(self._path, header, reset)
        self._execute = self._connection.cursor().execute
        # Claims hold this lock to write, and checkpoints hold it when the log is too long.
        self._turn = Lock()
        self._run = 0
        self._names: dict[str, int] = {}
        self._scopes: dict[int, str] = {}
        #: Cache of compared originals, because in a dense region the same originals are compared again and again.
        self._recent: Recent[int, Original] = Recent(FINGERPRINTS)
        #: Number of known pages, and the number of the next page.
        self._size = self._next = 0
        what = "read" if read_only else "write"
        try:
            with open_errors(self._path, what):
                own = schema.header_of(self._connection)
            if header is not None:
                own.check(header, str(self))
            self._header = own
            self._rule = own.rule
            new_index = partial(index_for, self._rule, blocks)
            # The indexes by scope. Created here, because a wrong number of blocks must not be reported as damage.
            self._indexes = defaultdict(new_index, {"": new_index()})
            with open_errors(self._path, what):
                self._read()
                if not read_only:
                    self._begin_run()
            if keep is not None and not read_only:
                self._remove_old(keep)
        except BaseException:
            self._release()
            raise

    def _read(self) -> None:
        """Read names, and fill the indexes."""
        ((self._size, self._next),) = self._execute(schema.ENDS).fetchall()
        self._read_names()
        cursor = self._connection.execute(schema.FINDABLE)
        while chunk := cursor.fetchmany(CHUNK):
            columns: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
            for number, scope, value, rest, found_by in chunk:
                values, numbers = columns[scope]
                try:
                    found = values_by(unsigned(value), rest or b"", found_by)
                except files.FAULTS as error:
                    # An original that is not in the index gets no near-duplicates.
                    self.note_damage(f"page {number} ({files.words_of(error)})")
                    continue
                values += found
                numbers += [number] * len(found)
            for scope, (values, numbers) in columns.items():
                self._indexes[self._scopes[scope]].add_many(values, numbers)
            self.index_size += len(chunk)

    def _read_names(self) -> None:
        for number, name in self._execute("SELECT number, name FROM names").fetchall():
            self._names[from_sql(name)] = number
            self._scopes[number] = from_sql(name)

    def damage(self, record: str) -> str:
        """See :meth:`Store.damage <scrapy_simhash.store.base.Store.damage>`."""
        return files.damage(self, record)

    def _begin_run(self) -> None:
        if self._path is not None:
            files.check_after_kill(self._path, self._connection)
        self._execute("INSERT INTO runs (started) VALUES (?)", (int(time.time()),))
        ((self._run,),) = self._execute("SELECT max(number) FROM runs").fetchall()
        if self._path is not None:
            self._execute(f"PRAGMA busy_timeout = {round(1000 * files.LOCK_TIMEOUT_OF_CLAIMS)}")
            self._checkpoints = Checkpoints(self._path, self._turn)

    def __str__(self) -> str:
        """Return the path of the file, or ``memory``."""
        return "memory" if self._path is None else str(self._path)

    def __len__(self) -> int:
        """Return the number of known pages. O(1)."""
        return self._size

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One transaction, two for a new scope."""
        if posting.scope not in self._names:
            self._add_name(posting.scope)
        # Only this store writes, so the look-up needs no transaction.
        decision = self._decided(posting)
        columns = self._columns(decision.row)
        if decision.is_joining:
            with self._transaction():
                self._execute(schema.JOINED, (decision.row.cluster,))
                self._execute(schema.WRITE, columns)
        else:
            self._write(columns)
        self._follow(decision)
        return decision.claim

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One look-up."""
        return self._decided(posting).claim

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One transaction."""
        return self._remove("key = ?", key) > 0

    def _remove_old(self, keep: int) -> None:
        """Remove the pages that were not seen for *keep* seconds before the end of the last run.

        The time is counted from that run and not from now, so that a wrong clock or a long pause between crawls
        removes nothing.
        """
        ((latest,),) = self._execute(schema.FORMER_RUN, (self._run,)).fetchall()
        if latest is None:
            return
        removed = self._remove("last_seen < ?", min(latest, int(time.time())) - keep)
        if removed:
            logger.info("%s: removed %d pages that were not seen again", self, removed)

    def _remove(self, condition: str, value: object) -> int:
        """Remove pages that meet *condition*, `REMOVED_AT_ONCE` per transaction; return their number."""
        count, last = 0, NO_PAGE
        while True:
            with self._transaction(schema.REMOVED_AT_ONCE):
                rows = self._execute(schema.REMOVABLE.format(condition), (value, last)).fetchall()
                if rows:
                    self._execute("DELETE FROM removed")
                    self._execute("INSERT INTO removed VALUES (?)", (self._next - 1,))
                for number, key, *_ in rows:
                    self._execute("DELETE FROM pages WHERE number = ?", (number,))
                    self._execute(schema.FORGET_NOTE, (PAGE, key))
                    last = number
            for number, _, scope, found_by, value_of_page, rest in rows:
                self._size -= 1
                self._recent.pop(number, None)
                # Damaged fingerprints are not indexed.
                with suppress(*files.FAULTS):
                    self._discard(number, self._scope(scope), found_by, unsigned(value_of_page), rest or b"")
            count += len(rows)
            if len(rows) < schema.REMOVED_AT_ONCE:
                return count

    def get(self, key: bytes) -> Row | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. One query."""
        with self._guard():
            return self._row_of(key)

    def pages(self) -> Iterator[Row]:
        """See :meth:`Store.pages <scrapy_simhash.store.base.Store.pages>`. Rows are read lazily."""
        return self._read_all(schema.ROWS, _row)

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. Rows are read lazily."""
        return self._read_all(schema.POSTINGS, _posting)

    def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """See :meth:`Store.deliver <scrapy_simhash.store.base.Store.deliver>`. One transaction."""
        with self._transaction():
            rows = [(self._run, bytearray(key), signed_hash(page_hash)) for key, page_hash in pages.items()]
            self._connection.executemany(schema.DELIVERED, rows)

    def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`. One transaction."""
        with self._transaction():
            self._connection.executemany(
                schema.TOUCHED[touch], [{"seen": seen, "key": key} for key, seen in visits]
            )

    def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One query."""
        with self._guard():
            # The query has a separate cursor, because threads that read large pages call this method while a claim
            # uses the other cursor.
            found = self._connection.execute(schema.NOTE, (kind, _name_to_sql(name))).fetchall()
            return found[0] if found else (0, None)

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`."""
        with self._guard():
            for name, data in self._connection.execute(schema.NOTES, (kind,)):
                yield name if kind == PAGE else from_sql(name), data

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. One transaction."""
        versions: list[int | None] = []
        with self._transaction():
            for name, version, data in notes:
                stored = _name_to_sql(name)
                found = self._execute(schema.NOTE, (kind, stored)).fetchone()
                former = found[0] if found else 0
                is_expected = version is None or version == former
                if is_expected:
                    self._execute(schema.KEEP_NOTE, (kind, stored, former + 1, data))
                versions.append(former + 1 if is_expected else None)
        return versions

    def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`."""
        with self._guard():
            found = self._execute(schema.RUNS).fetchall()
            for number, *times, _ in found:
                if not _are_times(*times):
                    self.note_damage(f"run {number}")
            return [Run(*row) for row in found if _are_times(*row[1:3])]

    def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`. Waits for the disk.

        Raises StoreUnavailable if the end of the run cannot be written; the file is still released.
        """
        try:
            if self._run:
                ending = (int(time.time()), reason, self._run)
                self._run = 0
                with self._guard():
                    self._execute("UPDATE runs SET ended = ?, reason = ? WHERE number = ?", ending)
        finally:
            self._release()

    def _release(self) -> None:
        if self._path is None:
            # The finalizer closes the connection.
            return
        if self._checkpoints is not None:
            self._checkpoints.stop()
        with suppress(sqlite3.Error):
            # Move everything into the file. If a reader prevents that, the pages are still in the log at the next
            # opening.
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    # --- A claim: decide, write, and then update the index.

    def _decided(self, posting: Posting) -> Decision:
        """Return the decision on *posting*. Raises StoreUnavailable."""
        try:
            return self._decide(posting, *self._known(posting))
        except files.FAULTS as error:
            raise self._error(error) from error

    def _decide(self, posting: Posting, former: Row | None, equal: Original | None) -> Decision:
        """Return the decision on a page with the row *former*; *equal* is the original of its text."""
        found = find(
            posting,
            former,
            equal,
            self._indexes[posting.scope],
            self._rule,
            self._recent,
            self._original,
            self.titled_elsewhere,
        )
        decision = decide(posting, former, found, self._original, self._run, self._next)
        if not found.others:
            return decision
        own = NO_PAGE if former is None else former.number
        originals = map(self._original, found.others)
        clusters = [one.number for one in originals if one and one.joined and one.number != own]
        places = ", ".join("?" * len(clusters))
        rows = self._execute(f"{schema.FIRST_COPIES_OF}({places})", clusters).fetchall() if clusters else []
        copies = [(cluster, compared_of(*of)) for number, cluster, *of in rows if number != own]
        claim = with_copies(decision.claim, self._rule, posting, found.is_generic, copies)
        return decision._replace(claim=claim)

    def _columns(self, row: Row) -> tuple[object, ...]:
        """Return the columns of a row."""
        posting = row.posting
        fingerprint = posting.fingerprint
        assert posting.history is not None
        first_seen, *visits = posting.history
        # sqlite3 looks for an adapter of each value that is not an int, float, str or bytearray, which takes longer
        # than binding all other values.
        return (
            row.number,
            bytearray(posting.key),
            to_sql(posting.url),
            self._names[posting.scope],
            int(posting.is_short),
            signed(fingerprint.value),
            bytearray(fingerprint.sketch + fingerprint.own) if fingerprint.sketch else None,
            row.found_by,
            signed_hash(posting.page_hash),
            signed_hash(posting.text_hash),
            row.cluster,
            row.number,
            row.rank,
            row.joined,
            row.delivered or 0,
            first_seen,
            posting.seen,
            *visits,
        )

    def _follow(self, decision: Decision) -> None:
        """Apply a change of the file to the indexes and caches in memory."""
        _, row, former, keeps_row, _, _, joined, is_joining, found = decision
        posting, number = row.posting, row.number
        self._size += former is None
        self._next = max(self._next, number + 1)
        if keeps_row:
            if original := self._recent.get(number):
                self._recent[number] = original._replace(url=posting.url, page_hash=posting.page_hash)
            return
        if former is not None and decision.is_replaced:
            before = former.posting
            stored = before.fingerprint.sketch + before.fingerprint.own
            self._discard(former.number, before.scope, former.found_by, before.fingerprint.value, stored)
        if joined is not None:
            if is_joining:
                self._recent[joined.number] = joined._replace(joined=joined.joined + 1)
        elif not posting.is_short:
            index = self._indexes[posting.scope]
            for value in found.values:
                index.add(value, number)
            self.index_size += bool(found.found_by)

    def _discard(self, number: int, scope: str, found_by: int, value: int, stored: bytes) -> None:
        """Remove the row of an original from the index."""
        self._recent.pop(number, None)
        if found_by:
            index = self._indexes[scope]
            for one in values_by(value, stored, BY_ALL):
                index.discard(one, number)
            self.index_size -= 1

    # --- Rows.

    def _known(self, posting: Posting) -> tuple[Row | None, Original | None]:
        """Return the row of a page, and the original of the pages with its text."""
        scope, page_hash = self._names.get(posting.scope), signed_hash(posting.own_page_hash)
        numbers = self._execute(
            schema.KNOWN, (bytearray(posting.key), page_hash, scope, int(posting.is_short))
        ).fetchall()
        if not numbers:
            return None, None
        former = self._row_of(posting.key) if numbers[0][0] else None
        with_text = (self._original(number) for is_key, number in numbers if not is_key)
        return former, next(filter(None, with_text), None)

    def _row_of(self, key: bytes) -> Row | None:
        """Return the row of a page; None if the page is unknown. Raises TypeError for invalid numbers."""
        found = self._execute(schema.ROW, (bytearray(key),)).fetchall()
        if not found:
            return None
        self._scope(found[0][2])
        with suppress(*files.FAULTS):
            row = _row(found[0], self._scopes)
            numbers = (row.number, row.cluster, row.rank, row.joined, row.found_by, row.posting.seen)
            if {type(one) for one in (*numbers, *(row.posting.history or ()))} == {int}:
                return row
        raise TypeError(_page_in(found[0]))

    def _original(self, number: int) -> Original | None:
        """Return the row of an original; None if it was removed or replaced, or is damaged."""
        if (row := self._recent.get(number)) is not None:
            return row
        for _, key, url, value, rest, page_hash, joined, found_by in self._execute(
            schema.ORIGINAL, (number,)
        ).fetchall():
            try:
                if type(key) is not bytes or not type(joined) is type(found_by) is int:
                    raise TypeError(f"page {number}")
                compared, original_hash = compared_of(value, rest), unsigned_hash(page_hash)
                row = Original(number, key, from_sql(url), compared, original_hash, joined, found_by)
            except files.FAULTS as error:
                self.note_damage(f"page {number} ({files.words_of(error)})")
                return None
            self._recent[number] = row
        return row

    def _scope(self, number: int) -> str:
        """Return the name of a scope; new scopes may be added while a crawl is running."""
        if number not in self._scopes:
            self._read_names()
        return self._scopes[number]

    def _add_name(self, name: str) -> None:
        """Add a scope, with the next number."""
        number = len(self._names)
        with self._transaction():
            self._execute("INSERT INTO names VALUES (?, ?)", (number, to_sql(name)))
        self._names[name] = number
        self._scopes[number] = name

    # --- Transactions.

    def _write(self, columns: tuple[object, ...]) -> None:
        """Write a row, in a transaction of one statement, which SQLite begins and ends automatically."""
        self._check_open()
        try:
            with self._turn:
                self._execute(schema.WRITE, columns)
        except files.FAULTS as error:
            raise self._error(error) from error
        if self._checkpoints is not None:
            self._checkpoints.count(1)

    def _check_open(self) -> None:
        if not self._run:
            raise StoreError(f"{self} was opened read-only, or was closed")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Convert errors of SQLite, and errors in rows, into StoreUnavailable."""
        try:
            yield
        except files.FAULTS as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> StoreUnavailable:
        """Return the StoreUnavailable to raise for *error*. If a record is damaged, note the damage."""
        raised = files.runtime_error(self, error)
        if isinstance(raised, RecordDamaged):
            self.note_damage(files.words_of(error))
        return raised

    @contextmanager
    def _transaction(self, claims: int = 1) -> Iterator[None]:
        """Run a transaction that adds as much to the log as *claims* claims; wait while a checkpoint has the lock."""
        self._check_open()
        try:
            with self._turn:
                self._execute("BEGIN IMMEDIATE")
                try:
                    yield
                    self._execute("COMMIT")
                except BaseException:
                    # Unless SQLite has already rolled back.
                    if self._connection.in_transaction:
                        with suppress(sqlite3.Error):
                            self._execute("ROLLBACK")
                    raise
        except files.FAULTS as error:
            raise self._error(error) from error
        if self._checkpoints is not None:
            self._checkpoints.count(claims)

    def _read_all(self, query: str, read: Callable[[Sequence[Any], dict[int, str]], _T]) -> Iterator[_T]:
        """Yield the result of *read* for each row of *query*; for a file, from one snapshot."""
        with self._guard(), ExitStack() as stack:
            connection, scopes = self._connection, self._scopes
            if self._path is not None:
                connection = stack.enter_context(closing(files.connect(self._path, self._mode)))
                connection.execute("BEGIN")
                names = connection.execute("SELECT number, name FROM names")
                scopes = {number: from_sql(name) for number, name in names}
            for row in connection.execute(query):
                try:
                    one = read(row, scopes)
                except files.FAULTS:
                    self.note_damage(_page_in(row))
                    continue
                yield one


def _name_to_sql(name: Name) -> str | bytes:
    return to_sql(name) if isinstance(name, str) else name


def _are_times(started: object, ended: object) -> bool:
    return type(started) is int and type(ended) in (int, NoneType)


def _posting(row: Sequence[Any], scopes: dict[int, str]) -> Posting:
    """Return the posting in a row of `schema.POSTINGS` or `schema.ROWS`."""
    key, url, scope, value, rest, is_short, page_hash, seen, delivered, text_hash, *visits = row[:14]
    return Posting(
        key,
        from_sql(url),
        scopes[scope],
        _fingerprint_of(value, rest),
        is_short == 1,
        unsigned_hash(page_hash),
        seen,
        delivered is not None,
        unsigned_hash(text_hash),
        History(*visits),
    )


def _row(row: Sequence[Any], scopes: dict[int, str]) -> Row:
    """Return the page in a row of `schema.ROWS`."""
    number, cluster, rank, joined, found_by, original = row[14:]
    url = None if cluster == number or original is None else from_sql(original)
    return Row(number, _posting(row, scopes), cluster, url, row[8], rank, joined, found_by)


def _page_in(row: Sequence[Any]) -> str:
    """Return the name, for messages, of the page in an unreadable row."""
    return f"page {row[14]}"


def _fingerprint_of(value: int, rest: bytes | None) -> Fingerprint:
    """Return the fingerprint of the columns ``value`` and ``fingerprint``."""
    if not rest:
        return Fingerprint(unsigned(value))
    end = sketch_length(rest)
    return Fingerprint(unsigned(value), 0, rest[:end], rest[end:])
