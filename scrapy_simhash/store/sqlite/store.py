"""SqliteStore: the store in one SQLite file, or in memory."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from threading import Lock
from types import NoneType, TracebackType
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.notes import KINDS, PAGE, Name, Note
from scrapy_simhash.page.fingerprint import Fingerprint, sketch_length
from scrapy_simhash.recent import Recent
from scrapy_simhash.scope import host_of
from scrapy_simhash.store.base import Candidate, Claim, History, Page, Posting, Run, Store, Touch, Visit
from scrapy_simhash.store.candidates import (
    BLOCKS,
    BY_ALL,
    BY_TEXT,
    FINGERPRINTS,
    NO_PAGE,
    Chosen,
    Found,
    Original,
    distance_of,
    index_for,
    near,
    tell_crowd,
    values_by,
)
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
#: Rows that are read at once while the indexes are filled.
CHUNK = 1 << 14


class Known(NamedTuple):
    """The row of a page before a claim."""

    number: int
    scope: str
    is_short: bool
    value: int
    compared: bytes
    found_by: int
    page_hash: int | None
    seen: int
    original: int
    rank: int
    delivered: int | None
    history: History

    @property
    def is_original(self) -> bool:
        """Whether the page is indexed, so that other pages are compared with it."""
        return self.original == self.number


class Decision(NamedTuple):
    """The result of a claim, and the new row of the page."""

    claim: Claim
    posting: Posting
    known: Known | None
    number: int
    """Number of the row after the claim."""
    keeps_row: bool
    """Whether the page is an original that is still a near-duplicate of its row."""
    original: Original | None
    """The row of the original of the page; None if the page is the original."""
    found: Found

    @property
    def joins(self) -> bool:
        """Whether the page joins a cluster that is new for it."""
        is_there = self.known is not None and self.known.original == self.claim.cluster
        return self.original is not None and not is_there


class Guard:
    """Converts errors in a ``with`` block into those of a store; cheap enough for claims."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise the error of the store."""
        if not isinstance(error, files.FAULTS):
            return
        raised = files.runtime_error(self._store, error)
        if isinstance(raised, RecordDamaged):
            self._store.note_damage(files.words_of(error))
        raise raised from error


class Transaction(Guard):
    """The same around a transaction, which is rolled back unless it was committed. One at a time."""

    def __enter__(self) -> None:
        """Begin the transaction; wait if a checkpoint is late."""
        store = self._store
        if not store._run:
            raise StoreError(f"{store} was opened read-only, or was closed")
        store._turn.acquire()
        try:
            store._execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            store._turn.release()
            super().__exit__(type(error), error, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Undo what was not committed."""
        store = self._store
        try:
            store._undo()
        finally:
            store._turn.release()
        super().__exit__(kind, error, trace)


class SqliteStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` in a file, or in memory; the indexes are always in memory.

    A claim is one transaction, which survives a kill of the process and does not wait for the disk. Opening takes
    about a second per million pages.
    """

    #: Number of searchable fingerprints. Counted here, since there may be as many indexes as sites.
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
        """Open the store at *path*, ``:memory:`` for one that ends with the process.

        A missing file is created for fingerprints of *header*. If *header* is None, that of the store is used, or the
        default for a new store. One process at a time can write to a file. *read_only* begins no run, refuses claims,
        and works while a crawl is running: ``get`` and iteration return pages that the crawl adds, but ``look`` does
        not find them. *reset* deletes the stored pages, damaged or not. *blocks* is for `index_for`. *keep* removes
        pages that were not seen for so many seconds before the end of the last run.

        Raises StoreMismatch for a file with another header, StoreLocked if another process writes to it, StoreDamaged
        for a damaged file, another version or a file that is no store, StoreError for a file that does not exist or
        cannot be written, StoreUnavailable if the disk is full.
        """
        self._path = None if path == MEMORY else files.resolved(path)
        # A subclass may keep its pages elsewhere.
        self.is_memory = self._path is None and type(self) is SqliteStore
        self.note_kinds = () if self._path is None else KINDS
        self._damaged = set()
        # Other connections only read.
        self._mode = "ro"
        self._lock: sqlite3.Connection | None = None
        self._checkpoints: Checkpoints | None = None
        if self._path is None:
            self._connection = schema.in_memory(header or Header())
        elif read_only:
            self._connection, self._mode = files.open_for_reading(self._path)
        else:
            self._lock, self._connection = files.open_for_writing(self._path, header, reset)
        self._execute = self._connection.cursor().execute
        # Held by claims to write, and by checkpoints when the log is too long.
        self._turn = Lock()
        self._run = 0
        self._guard, self._transaction = Guard(self), Transaction(self)
        self._names: dict[str, int] = {}
        self._scopes: dict[int, str] = {}
        self._new_names: list[str] = []
        self._indexes: dict[str, SimhashIndex] = {}
        self._blocks = blocks
        #: Scopes whose dense region was logged.
        self._crowded: set[str] = set()
        #: Cache of compared originals, since in a dense region the same ones are compared again and again.
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
            # A wrong number of blocks does not mean that the file is damaged.
            self._index("")
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
                    its_values = values_by(_fingerprint_of(value, rest), found_by)
                except files.FAULTS as error:
                    # No page becomes a near-duplicate of it.
                    self.note_damage(f"page {number} ({files.words_of(error)})")
                    continue
                values += its_values
                numbers += [number] * len(its_values)
            for scope, (values, numbers) in columns.items():
                self._index(self._scopes[scope]).add_many(values, numbers)
            self.index_size += len(chunk)

    def _read_names(self) -> None:
        for number, name in self._execute("SELECT number, name FROM names").fetchall():
            self._names[from_sql(name)] = number
            self._scopes[number] = from_sql(name)

    def note_damage(self, record: str) -> None:
        """See :meth:`Store.note_damage <scrapy_simhash.store.base.Store.note_damage>`."""
        if not self._damaged:
            logger.warning("%s", files.damage(self, record))
        self._damaged.add(record.partition(" (")[0])

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
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One transaction."""
        with self._transaction:
            decision = self._decide(posting)
            self._write(decision)
            self._commit()
        self._follow(decision)
        return decision.claim

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One look-up."""
        with self._guard:
            return self._decide(posting).claim

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One transaction."""
        return self._remove("key = ?", key) > 0

    def remove_host(self, host: str) -> int:
        """See :meth:`Store.remove_host <scrapy_simhash.store.base.Store.remove_host>`. 500 pages a transaction."""
        number = self._names.get(host)
        return 0 if number is None else self._remove("host = ?", number)

    def _remove_old(self, keep: int) -> None:
        """Remove the pages that were not seen for *keep* seconds before the end of the last run.

        Counted from that run and not from now, so that a wrong clock or a long pause between crawls removes nothing.
        """
        ((latest,),) = self._execute(schema.FORMER_RUN, (self._run,)).fetchall()
        if latest is None:
            return
        removed = self._remove("last_seen < ?", min(latest, int(time.time())) - keep)
        if removed:
            logger.info(
                "%s: removed pages that were not seen for %s before the last run: %d",
                self,
                _age(keep),
                removed,
            )

    def _remove(self, condition: str, value: object) -> int:
        """Remove pages that meet *condition*, `REMOVED_AT_ONCE` per transaction; return their number."""
        count, last = 0, NO_PAGE
        while True:
            with self._transaction:
                rows = self._execute(schema.REMOVABLE.format(condition), (value, last)).fetchall()
                if rows:
                    self._execute("DELETE FROM removed")
                    self._execute("INSERT INTO removed VALUES (?)", (self._next - 1,))
                for number, key, *_ in rows:
                    self._execute("DELETE FROM pages WHERE number = ?", (number,))
                    self._execute(schema.FORGET_NOTE, (PAGE, key))
                    last = number
                self._commit(len(rows))
            for number, _, scope, found_by, value_of_page, rest in rows:
                self._size -= 1
                self._recent.pop(number, None)
                # Damaged fingerprints are not indexed.
                with suppress(*files.FAULTS):
                    self._discard(number, self._scope(scope), found_by, _fingerprint_of(value_of_page, rest))
            count += len(rows)
            if len(rows) < schema.REMOVED_AT_ONCE:
                return count

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. One query."""
        with self._guard:
            found = self._execute(schema.PAGE, (key,)).fetchall()
            if not found:
                return None
            self._scope(found[0][2])
            return self._page(found[0], self._scopes)

    def pages(self) -> Iterator[Page]:
        """See :meth:`Store.pages <scrapy_simhash.store.base.Store.pages>`. Rows are read lazily."""
        with self._reading() as (execute, scopes):
            for row in execute(schema.PAGES):
                try:
                    page = self._page(row, scopes)
                except files.FAULTS:
                    self.note_damage(_page_in(row))
                    continue
                yield page

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. Rows are read lazily."""
        with self._reading() as (execute, scopes):
            for row in execute(schema.POSTINGS):
                try:
                    posting = _posting(row, scopes)
                except files.FAULTS:
                    self.note_damage(_page_in(row))
                    continue
                yield posting

    def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Read everything; return the errors that SQLite finds, and the names of unreadable pages.

        *tell* is called with the number of pages read so far.
        """
        damaged: list[str] = []
        with self._reading() as (execute, scopes):
            try:
                damaged += [f"the file: {files.printable(line)}" for line in files.quick_check(execute)]
                for number, row in enumerate(execute(schema.PAGES), 1):
                    try:
                        self._page(row, scopes)
                    except files.FAULTS:
                        damaged.append(_page_in(row))
                    tell(number)
            except sqlite3.DatabaseError as error:
                if not files.is_damage(error):
                    raise
                damaged.append(f"the file: {files.words_of(error)}")
        found = self._execute(schema.RUNS).fetchall()
        damaged += [f"run {number}" for number, *times, _ in found if not _are_times(*times)]
        return list(dict.fromkeys(damaged))

    def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        """See :meth:`Store.deliver <scrapy_simhash.store.base.Store.deliver>`. One transaction."""
        with self._transaction:
            rows = [(self._run, key, signed_hash(page_hash)) for key, page_hash in pages.items()]
            self._connection.executemany(schema.DELIVERED, rows)
            self._commit()

    def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`. One transaction."""
        with self._transaction:
            self._connection.executemany(schema.TOUCHED[touch], [(seen, key) for key, seen in visits])
            self._commit()

    def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One query."""
        with self._guard:
            # A separate cursor, since threads that read large pages call this while a claim uses the other cursor.
            found = self._connection.execute(schema.NOTE, (kind, _name_to_sql(name))).fetchall()
            return found[0] if found else (0, None)

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`."""
        with self._guard:
            for name, data in self._connection.execute(schema.NOTES, (kind,)):
                yield name if kind == PAGE else from_sql(name), data

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. One transaction."""
        versions: list[int | None] = []
        with self._transaction:
            for name, version, data in notes:
                former, _ = self.note(kind, name)
                is_expected = version is None or version == former
                if is_expected:
                    self._execute(schema.KEEP_NOTE, (kind, _name_to_sql(name), former + 1, data))
                versions.append(former + 1 if is_expected else None)
            self._commit()
        return versions

    def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`."""
        with self._guard:
            found = self._execute(schema.RUNS).fetchall()
            for number, *times, _ in found:
                if not _are_times(*times):
                    self.note_damage(f"run {number}")
            return [Run(*row) for row in found if _are_times(*row[1:3])]

    def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`. Waits for the disk.

        Raises StoreUnavailable if the end of the run cannot be written; the file is released nevertheless.
        """
        try:
            if self._run:
                ending = (int(time.time()), reason, self._run)
                self._run = 0
                with self._guard:
                    self._execute("UPDATE runs SET ended = ?, reason = ? WHERE number = ?", ending)
        finally:
            self._release()

    def _release(self) -> None:
        if self._path is None:
            # The pages of a store in memory exist as long as the store.
            return
        if self._checkpoints is not None:
            self._checkpoints.stop()
        with suppress(sqlite3.Error):
            # Move everything into the file. Pages that a reader keeps in the log are still there at the next opening.
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    # --- A claim: decide, write, and then update the index.

    def _decide(self, posting: Posting) -> Decision:
        """Return the result for *posting*, and the row to write."""
        known = self._known(posting.key)
        equal = self._with_text(posting)
        if equal is not None:
            found = self._equal(posting, equal)
        elif posting.is_short:
            found = Found()
        else:
            is_there = known is not None and known.scope == posting.scope and not known.is_short
            number, cluster = (known.number, known.original) if known and is_there else (NO_PAGE, NO_PAGE)
            found = near(
                self._index(posting.scope),
                self._rule,
                posting.fingerprint,
                self._recent,
                self._original,
                number,
                cluster,
                self.titled_elsewhere,
            )
        chosen = found.chosen if found.chosen is not None and found.chosen.is_near else None
        keeps_row = chosen is not None and known is not None and chosen.number == known.number
        original = None if chosen is None or keeps_row else self._original(chosen.number)
        number = self._next
        if known is not None and (keeps_row or not known.is_original):
            number = known.number
        joined = original if chosen is not None and not chosen.contradicts else None
        cluster, rank = number, 0
        if joined is not None:
            is_there = known is not None and known.original == joined.number
            cluster, rank = joined.number, known.rank if known and is_there else joined.joined + 1
        also_near = set(found.near)
        if found.others:
            also_near |= self._near_copies(posting.fingerprint, found, known)
        also_near.discard(cluster)
        page_hash = posting.page_hash
        claim = Claim(
            None if known is None else _visit_of(known, self._run),
            cluster,
            None if original is None else original.url,
            None if original is None or chosen is None else chosen.distance,
            None if original is None or chosen is None else chosen.similarity,
            original is not None
            and (posting.is_short or (page_hash is not None and page_hash == original.page_hash)),
            rank,
            None if original is None else original.key,
            found.is_by_learning,
            None,
            tuple(sorted(also_near)) if also_near else (),
            original is not None and joined is None,
            self._candidate(found) if self.explains and not posting.is_short else None,
        )
        return Decision(claim, posting, known, number, keeps_row, joined, found)

    def _equal(self, posting: Posting, original: Original) -> Found:
        """Return the similarity of a page to the *original* whose cluster has its text."""
        chosen = Chosen(original.number, True, 0, 1.0, False)
        if not posting.is_short:
            for near_one in self._rule.compare_all(posting.fingerprint, [original.compared]):
                if near_one.similarity is not None:
                    distance = distance_of(posting.fingerprint, original.compared)
                    chosen = Chosen(original.number, True, distance, near_one.similarity, False)
        return Found(chosen=chosen)

    def _near_copies(self, fingerprint: Fingerprint, found: Found, known: Known | None) -> set[int]:
        """Return the originals that a page is not near but whose first copies it is near."""
        own = NO_PAGE if known is None else known.number
        others = map(self._original, found.others)
        clusters = [one.number for one in others if one and one.joined and one.number != own]
        if not (clusters and fingerprint.sketch and self._rule.compares_sketches):
            return set()
        places = ", ".join("?" * len(clusters))
        rows = self._execute(f"{schema.FIRST_COPIES_OF}({places})", clusters).fetchall()
        copies = [(cluster, compared_of(*of)) for number, cluster, *of in rows if number != own]
        near_ones = self._rule.compare_all(
            fingerprint, [compared for _, compared in copies], found.is_generic
        )
        return {copies[one.place][0] for one in near_ones if one.similarity is not None}

    def _candidate(self, found: Found) -> Candidate | None:
        """Return the row that explains the result."""
        row = None if found.chosen is None else self._original(found.chosen.number)
        return None if row is None else Candidate(row.key, row.url, row.compared, found.is_generic)

    def _write(self, decision: Decision) -> None:
        claim, posting, known, number, keeps_row, original, found = decision
        fingerprint, seen = posting.fingerprint, posting.seen
        hashes = signed_hash(posting.own_page_hash), signed_hash(posting.text_hash)
        url, host = to_sql(posting.url), self._name(host_of(posting.url))
        delivered = self._run if posting.is_delivered else None
        history = posting.history or History(seen, seen)
        if decision.joins:
            self._execute(schema.JOINED, (claim.cluster,))
        if known is not None:
            history = known.history.joined(history)
            if claim.former is not None and claim.former.is_unchanged(posting):
                delivered = delivered or known.delivered
            else:
                history = history._replace(changes=history.changes + 1)
            visit = (url, host, *hashes, delivered, seen, *history)
            if keeps_row:
                self._execute(schema.SMALL_CHANGE, (*visit, number))
                return
        scope = self._name(posting.scope)
        value, rest = signed(fingerprint.value), None
        if fingerprint.sketch:
            rest = fingerprint.sketch + fingerprint.own
        cluster = found_by = None
        if original is not None:
            cluster, found_by = original.number, 0
        elif not posting.is_short:
            found_by = found.found_by
        row = (posting.is_short, value, rest, found_by or 0)
        if known is None:
            page = (number, posting.key, url, scope, host, *row, *hashes, cluster, claim.rank, delivered)
            first_seen, *visits = history
            self._execute(schema.NEW_PAGE, (*page, first_seen, seen, *visits))
        else:
            self._execute(schema.REPLACED, (*visit, number, scope, *row, cluster, claim.rank, known.number))

    def _follow(self, decision: Decision) -> None:
        """Apply a change of the file to the indexes and caches in memory."""
        _, posting, known, number, keeps_row, original, found = decision
        self._size += known is None
        self._next = max(self._next, number + 1)
        if keeps_row:
            if row := self._recent.get(number):
                self._recent[number] = row._replace(url=posting.url, page_hash=posting.own_page_hash)
            return
        if known is not None and known.is_original:
            fingerprint = Fingerprint.from_compared_bytes(known.compared)
            self._discard(known.number, known.scope, known.found_by, fingerprint)
        if original is not None:
            if decision.joins:
                self._recent[original.number] = original._replace(joined=original.joined + 1)
        elif not posting.is_short:
            index = self._index(posting.scope)
            for value in found.values:
                index.add(value, number)
            self.index_size += bool(found.found_by)
            if not found.found_by & BY_TEXT:
                tell_crowd(posting.scope, self._rule.reach, self._crowded)

    def _discard(self, number: int, scope: str, found_by: int, fingerprint: Fingerprint) -> None:
        """Remove the row of an original from the index."""
        self._recent.pop(number, None)
        if found_by:
            index = self._index(scope)
            for value in values_by(fingerprint, BY_ALL):
                index.discard(value, number)
            self.index_size -= 1

    # --- Rows.

    def _known(self, key: bytes) -> Known | None:
        found = self._execute(schema.KNOWN, (key,)).fetchall()
        if not found:
            return None
        number, scope, is_short, value, rest, found_by, page_hash, seen, original, rank, *fate = found[0]
        delivered, *visits = fate
        if {type(one) for one in (seen, original, rank, *visits)} != {int}:
            raise TypeError(f"page {number}")
        return Known(
            number,
            self._scope(scope),
            is_short == 1,
            unsigned(value),
            compared_of(value, rest),
            found_by,
            unsigned_hash(page_hash),
            seen,
            original,
            rank,
            delivered,
            History(*visits),
        )

    def _original(self, number: int) -> Original | None:
        """Return the row of an original, None if it was removed or replaced, or is damaged."""
        row = self._recent.get(number)
        if row is None:
            row = self._original_in(self._execute(schema.ORIGINAL, (number,)).fetchall())
            if row is not None:
                self._recent[number] = row
        return row

    def _original_in(self, found: list[Any]) -> Original | None:
        """Return the original in a row, None for a damaged one; no page becomes a near-duplicate of that."""
        for number, key, url, value, rest, page_hash, joined, found_by in found:
            try:
                if type(key) is not bytes or not type(joined) is type(found_by) is int:
                    raise TypeError(f"page {number}")
                compared, its_hash = compared_of(value, rest), unsigned_hash(page_hash)
                return Original(number, key, from_sql(url), compared, its_hash, joined, found_by)
            except files.FAULTS as error:
                self.note_damage(f"page {number} ({files.words_of(error)})")
        return None

    def _with_text(self, posting: Posting) -> Original | None:
        """Return the original of the pages with the text of *posting*."""
        scope, page_hash = self._names.get(posting.scope), posting.own_page_hash
        if scope is None or page_hash is None:
            return None
        asked = (signed(page_hash), scope, posting.is_short)
        return self._original_in(self._execute(schema.WITH_TEXT, asked).fetchall())

    def _page(self, row: Sequence[Any], scopes: dict[int, str]) -> Page:
        *_, number, cluster, original, rank = row
        is_original = cluster == number or original is None
        url = None if is_original else from_sql(original)
        return Page(number, _posting(row, scopes), cluster, url, row[_DELIVERED], rank)

    def _scope(self, number: int) -> str:
        """Return the name of a scope; new ones may appear while a crawl is running."""
        if number not in self._scopes:
            self._read_names()
        return self._scopes[number]

    def _name(self, name: str) -> int:
        """Return the number of a scope or a host."""
        number = self._names.get(name)
        if number is None:
            number = len(self._names)
            self._execute("INSERT INTO names VALUES (?, ?)", (number, to_sql(name)))
            self._names[name] = number
            self._scopes[number] = name
            self._new_names.append(name)
        return number

    def _index(self, scope: str) -> SimhashIndex:
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self._rule, self._blocks)
        return index

    # --- Transactions.

    @contextmanager
    def _reading(self) -> Iterator[tuple[Callable[..., sqlite3.Cursor], dict[int, str]]]:
        """Yield a function that executes a query, and the names of scopes; for a file, from one snapshot."""
        with self._guard:
            if self._path is None:
                yield self._connection.execute, self._scopes
                return
            with closing(files.connect(self._path, self._mode)) as connection:
                connection.execute("BEGIN")
                names = connection.execute("SELECT number, name FROM names")
                yield connection.execute, {number: from_sql(name) for number, name in names}

    def _undo(self) -> None:
        """Roll back, unless SQLite has done so."""
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._execute("ROLLBACK")
        for name in self._new_names:
            del self._scopes[self._names.pop(name)]
        self._new_names.clear()

    def _commit(self, transactions: int = 1) -> None:
        """Commit; the log grows as by so many *transactions* of claims."""
        self._execute("COMMIT")
        self._new_names.clear()
        if self._checkpoints is not None:
            self._checkpoints.count(transactions)


def _age(seconds: int) -> str:
    """Format an age as in settings.

    >>> _age(90 * 86_400), _age(5_400)
    ('90d', '90m')
    """
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def _name_to_sql(name: Name) -> str | bytes:
    return to_sql(name) if isinstance(name, str) else name


def _are_times(started: object, ended: object) -> bool:
    return type(started) is int and type(ended) in (int, NoneType)


#: Positions of these columns in the rows of `schema.POSTINGS` and `schema.PAGES`.
_DELIVERED, _NUMBER = 8, 14


def _posting(row: Sequence[Any], scopes: dict[int, str]) -> Posting:
    """Return the posting in a row of `schema.POSTINGS` or `schema.PAGES`."""
    key, url, scope, value, rest, is_short, page_hash, seen, delivered, text_hash, *visits = row[:_NUMBER]
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


def _page_in(row: Sequence[Any]) -> str:
    """Return the name in messages of the page in an unreadable row."""
    return f"page {row[_NUMBER]} ({files.printable(row[1])})"


def _fingerprint_of(value: int, rest: bytes | None) -> Fingerprint:
    """Return the fingerprint of the columns ``value`` and ``fingerprint``."""
    if not rest:
        return Fingerprint(unsigned(value))
    end = sketch_length(rest)
    return Fingerprint(unsigned(value), 0, rest[:end], rest[end:])


def _visit_of(known: Known, run: int) -> Visit:
    return Visit(
        known.value,
        known.page_hash,
        known.seen,
        known.original,
        known.is_short,
        known.delivered not in (None, run),
        known.history,
    )
