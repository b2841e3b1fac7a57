"""The store in one SQLite file: what is told to it survives the process, however that ends."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from threading import Lock
from types import NoneType

from scrapy_simhash.exceptions import RecordDamaged, StoreError
from scrapy_simhash.notes import KINDS, PAGE, Name, Note
from scrapy_simhash.store.base import Claim, Page, Posting, Run
from scrapy_simhash.store.candidates import BLOCKS
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.local import ContentRow, ContentsOf, Entry, LocalStore, Text
from scrapy_simhash.store.sqlite import files, schema
from scrapy_simhash.store.sqlite.checkpoints import Checkpoints
from scrapy_simhash.store.sqlite.files import is_damage, said_at_opening, said_at_work
from scrapy_simhash.store.sqlite.rows import FileRows
from scrapy_simhash.store.sqlite.schema import signed, signed_hash, stored, told


class SqliteStore(LocalStore):
    """A :class:`~scrapy_simhash.store.base.Store` in a file; only the indexes are in memory.

    A claim is one transaction, which no kill of the process takes back. It costs some 50 microseconds more than that
    of a store in memory, and waits for no disk. Opening takes about a second for every million contents.
    """

    note_kinds = KINDS

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: Header | None = None,
        blocks: int = BLOCKS,
        *,
        read_only: bool = False,
        reset: bool = False,
    ) -> None:
        """Open the store at *path*, and make it, for fingerprints of *header*, if there is none.

        Where *header* is None the store's own is taken, for a new one the default. One process at a time can write to
        a file. *read_only* begins no run, takes no claims, and works beside a crawl: what that adds can be got and
        iterated over, but is not found by ``look``; it opens damaged tables, too. *reset* forgets what a file holds,
        damaged or not.

        Raises StoreMismatch if the file's header is another; StoreLocked if it is being written to; StoreDamaged if
        it is no store, or one of a release with other tables; StoreError if it cannot be written or is not there;
        StoreUnavailable if the disk is full.
        """
        self._path = files.resolved(path)
        damage = self.damage = Damage(str(self._path))
        # What else connects to the file reads only.
        self._mode = "ro"
        self._lock: sqlite3.Connection | None = None
        self._checkpoints: Checkpoints | None = None
        if read_only:
            self._connection, self._mode = files.open_for_reading(self._path)
        else:
            self._lock, self._connection = files.open_for_writing(self._path, header, reset)
        self._execute = self._connection.cursor().execute
        # The claims' turn to write; the checkpoints' when the log is too long.
        self._turn = Lock()
        self._run = 0
        self._scopes: dict[str, int] = {}
        what = "read" if read_only else "write"
        try:
            with said_at_opening(self._path, what):
                own = schema.header_of(self._connection)
            if header is not None:
                own.check(header, str(self._path))
            super().__init__(own, FileRows(self._connection, damage), damage, blocks)
            # If *blocks* is wrong, it is not the file that is damaged.
            self._index("")
            with said_at_opening(self._path, what):
                try:
                    self._read()
                except sqlite3.DatabaseError as error:
                    # What is left can be read all the same.
                    if not (read_only and is_damage(error)):
                        raise
                    self.damage.note(f"{error}: not all that is there can be found")
                if not read_only:
                    self._begin_run()
        except BaseException:
            self._let_go()
            raise

    def _read(self) -> None:
        """Read what is kept in memory."""
        ((self._size, self._page_end, self._content_end),) = self._execute(schema.ENDS).fetchall()
        scopes = {number: told(scope) for number, scope in self._execute("SELECT number, scope FROM scopes")}
        if sorted(scopes) != list(range(len(scopes))) or (self._content_end and not scopes):
            raise KeyError("scopes are missing")
        self._scopes = {scope: number for number, scope in scopes.items()}
        for scope, values, numbers, count in FileRows(self._connection, self.damage).findable(scopes):
            self._index(scopes[scope]).add_many(values, numbers)
            self.index_size += count

    def _begin_run(self) -> None:
        self._execute("INSERT INTO runs (started) VALUES (?)", (int(time.time()),))
        ((self._run,),) = self._execute("SELECT max(number) FROM runs").fetchall()
        self._execute(f"PRAGMA busy_timeout = {round(1000 * files.PATIENCE_OF_CLAIMS)}")
        self._checkpoints = Checkpoints(self._path, self._turn)

    def __str__(self) -> str:
        """Return the path of the file."""
        return str(self._path)

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One transaction."""
        with self._transaction():
            return super().claim(posting)

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One look-up."""
        with said_at_work(self._path, self.damage):
            return super().look(posting)

    def unsettle(self, keys: Collection[bytes]) -> None:
        """See :meth:`Store.unsettle <scrapy_simhash.store.base.Store.unsettle>`. One transaction."""
        try:
            self._unsettle(keys)
        except RecordDamaged:
            for key in keys:
                # What cannot be written here cannot be read either: nobody takes it for settled.
                with suppress(RecordDamaged):
                    self._unsettle([key])

    def _unsettle(self, keys: Collection[bytes]) -> None:
        with self._transaction():
            self._connection.executemany(schema.UNSETTLED, [(key, self._run) for key in keys])
            self._commit()

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`. One transaction."""
        with self._transaction():
            return super().remove(key)

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`. Some queries."""
        with said_at_work(self._path, self.damage):
            return super().get(key)

    def audit(self, tell: Callable[[int], None]) -> list[str]:
        """Read everything, and return the damaged records; *tell* hears how many postings were read so far."""
        for number, _ in enumerate(self, 1):
            tell(number)
        with suppress(RecordDamaged):
            self.runs()
        with suppress(RecordDamaged), self._reading() as (rows, _, _):
            rows.check()
        return self.damage.named

    @contextmanager
    def _reading(self) -> Iterator[tuple[FileRows, Iterable[int], ContentsOf]]:
        """See `LocalStore._reading`. From a connection of its own, as all is when it begins."""
        with (
            said_at_work(self._path, self.damage),
            closing(files.connect(self._path, self._mode)) as connection,
        ):
            connection.execute("BEGIN")
            rows = FileRows(connection, self.damage)
            yield rows, rows.numbers(), rows.contents_of

    def touch(self, visits: Collection[tuple[bytes, int]]) -> None:
        """See :meth:`Store.touch <scrapy_simhash.store.base.Store.touch>`. One transaction."""
        with self._transaction():
            self._connection.executemany(schema.TOUCHED, [(seen, key) for key, seen in visits])
            self._commit()

    def note(self, kind: str, name: Name) -> tuple[int, bytes | None]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`. One query."""
        with said_at_work(self._path, self.damage):
            # A cursor of its own: threads that read large pages ask too, while a claim uses the other.
            found = self._connection.execute(schema.NOTE, (kind, _stored_name(name))).fetchall()
            return found[0] if found else (0, None)

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`."""
        with said_at_work(self._path, self.damage):
            for name, data in self._connection.execute(schema.NOTES, (kind,)):
                yield name if kind == PAGE else told(name), data

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> list[int | None]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`. One transaction for all."""
        versions: list[int | None] = []
        with self._transaction():
            for name, version, data in notes:
                former, _ = self.note(kind, name)
                is_expected = version is None or version == former
                if is_expected:
                    self._execute(schema.KEEP_NOTE, (kind, _stored_name(name), former + 1, data))
                versions.append(former + 1 if is_expected else None)
            self._commit()
        return versions

    def runs(self) -> list[Run]:
        """See :meth:`Store.runs <scrapy_simhash.store.base.Store.runs>`."""
        with said_at_work(self._path, self.damage):
            found = self._execute(
                "SELECT number, started, ended, reason FROM runs ORDER BY number"
            ).fetchall()
            runs = [Run(*row) for row in found if type(row[1]) is int and type(row[2]) in (int, NoneType)]
            for lost in {row[0] for row in found}.difference(run.number for run in runs):
                self.damage.note(f"run {lost}")
            return runs

    def close(self, reason: str = "finished") -> None:
        """See :meth:`Store.close <scrapy_simhash.store.base.Store.close>`. Waits until all is in the file, on disk.

        Raises StoreUnavailable if the end of the run cannot be noted; the file is let go of all the same.
        """
        try:
            if self._run:
                ending = (int(time.time()), reason, self._run)
                self._run = 0
                with said_at_work(self._path, self.damage):
                    self._execute("UPDATE runs SET ended = ?, reason = ? WHERE number = ?", ending)
        finally:
            self._let_go()

    def abandon(self) -> None:
        """See :meth:`Store.abandon <scrapy_simhash.store.base.Store.abandon>`."""
        self._run = 0
        self._let_go()

    def _let_go(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.stop()
        with suppress(sqlite3.Error):
            # All into the file. Whatever is left, because someone reads: it will be there at the next opening.
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Undo what was not committed inside."""
        if not self._run:
            raise StoreError(f"{self._path} was opened read-only, or was closed")
        with said_at_work(self._path, self.damage), self._turn:
            try:
                self._execute("BEGIN IMMEDIATE")
                yield
            finally:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._execute("ROLLBACK")

    def _commit(self) -> None:
        self._execute("COMMIT")
        if self._checkpoints is not None:
            self._checkpoints.count()

    def _short(self, scope: str, value: int) -> int | None:
        found = self._execute(schema.SHORT, (self._scopes.get(scope), signed(value))).fetchall()
        return found[0][0] if found else None

    def _with_text(self, scope: str, text_hash: int) -> int | None:
        found = self._execute(schema.WITH_TEXT, (self._scopes.get(scope), signed(text_hash))).fetchall()
        return found[0][0] if found else None

    def _exchange(self, leaves: Text | None, takes: Text | None) -> None:
        if takes is not None:
            # A new scope gets the next number.
            its = self._scopes.get(takes.scope, len(self._scopes)), signed(takes.text_hash)
            self._execute(schema.TAKE_TEXT, (*its, takes.content))
        if leaves is not None:
            its = self._scopes[leaves.scope], signed(leaves.text_hash)
            self._execute(schema.LEAVE_TEXT, (*its, leaves.content))
            self._execute(schema.FORGET_TEXT, its)

    def _write(self, entry: Entry) -> None:
        number, posting, content = entry.number, entry.posting, entry.content
        fingerprint, scope = posting.fingerprint, self._scopes.get(posting.scope)
        head = (signed(fingerprint.value), signed_hash(posting.text_hash), posting.seen)
        if entry.is_new_content:
            if scope is None:
                scope = len(self._scopes)
                self._execute("INSERT INTO scopes VALUES (?, ?)", (scope, stored(posting.scope)))
            # A damaged one may be in the place of a short one.
            is_free = not posting.is_short or self._short(posting.scope, fingerprint.value) is None
            found_by = entry.found_by if is_free else 0
            self._execute(schema.NEW_CONTENT, (content, number, scope, *head, posting.is_short, found_by))
            if fingerprint.sketch:
                self._execute(schema.NEW_SKETCH, (content, fingerprint.sketch, fingerprint.own or None))
        sketch, own = (fingerprint.sketch, fingerprint.own or None) if entry.has_own_sketch else (None, None)
        run = self._run if posting.is_delivered else 0
        url = stored(posting.url)
        rank = entry.rank
        if entry.former is None:
            self._execute(schema.NEW_PAGE, (number, posting.key, url, *head, run, content, rank, sketch, own))
        else:
            its_run = None if entry.keeps_run else run
            self._execute(schema.CHANGED_PAGE, (url, *head, its_run, content, rank, sketch, own, number))
        if entry.joins is not None:
            self._execute(schema.JOINED_CLUSTER, (rank, entry.joins))
        self._exchange(entry.leaves, entry.takes)
        self._commit()
        if scope is not None:
            self._scopes[posting.scope] = scope

    def _erase(self, number: int, key: bytes, contents: Iterable[ContentRow], text: Text | None) -> None:
        self._execute("UPDATE contents SET found_by = 0 WHERE page = ?", (number,))
        self._execute("DELETE FROM pages WHERE number = ?", (number,))
        self._execute(schema.FORGET_NOTE, (PAGE, key))
        self._execute("INSERT INTO removed VALUES (?)", (number,))
        self._exchange(text, None)
        self._commit()


def _stored_name(name: Name) -> str | bytes:
    return stored(name) if isinstance(name, str) else name
