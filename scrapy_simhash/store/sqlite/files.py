"""Files: open, create and replace the file of a store, and the files next to it.

::

    shop.sqlite          the store
    shop.sqlite-wal      its latest transactions, part of the store; while it is open, or after a crash
    shop.sqlite-shm      their positions; SQLite can rebuild it from the -wal at any time
    shop.sqlite-lock     empty; locked by the writer
    shop.sqlite-new      a store that is being created

Only SQLite opens these files. With POSIX locks, opening and closing a file elsewhere in this process would release
SQLite's locks on the file.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from struct import error as StructError

from scrapy_simhash.display import printable
from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError, StoreLocked, StoreUnavailable
from scrapy_simhash.store.header import Header
from scrapy_simhash.store.sqlite import schema

logger = logging.getLogger(__name__)

#: Errors from SQLite, and from rows with invalid values.
FAULTS = (sqlite3.Error, AttributeError, LookupError, OverflowError, StructError, TypeError, ValueError)


def is_damage(error: Exception) -> bool:
    """Return whether *error* comes from a damaged file.

    SQLITE_CORRUPT and SQLITE_NOTADB raise sqlite3.DatabaseError itself. SQLite does not detect invalid rows, but
    reading them raises other exceptions.
    """
    return type(error) is sqlite3.DatabaseError or not isinstance(error, sqlite3.Error)


def is_forbidden(error: Exception) -> bool:
    """Return whether the permission to write the file, or to create a file next to it, is missing."""
    return "readonly" in str(error) or "unable to open" in str(error)


@contextmanager
def open_errors(path: Path | None, what: str) -> Iterator[None]:
    """Convert errors while a store is opened into a StoreError; *what* is ``read`` or ``write``."""
    try:
        yield
    except (*FAULTS, OSError) as error:
        if path is None:
            raise
        raise _at_opening(path, error, what) from error


def runtime_error(place: object, error: Exception) -> StoreUnavailable:
    """Return the exception to raise for *error*: RecordDamaged if a retry would fail, too."""
    if not is_damage(error):
        return StoreUnavailable(f"{place}: {words_of(error)}")
    return RecordDamaged(damage(place, words_of(error)))


def damage(place: object, found: str) -> str:
    """Return the message about a damaged file: the damage *found*, the effect on the crawl, and the remedy."""
    return (
        f"{place} is damaged: {found}. Pages whose records cannot be read have the status unknown and are never"
        f" dropped, all others are compared. {REPAIR}"
    )


#: The remedy for a damaged file.
REPAIR = (
    'To repair the file, stop the crawl and run "sqlite3 OLD.sqlite .recover | sqlite3 NEW.sqlite", or restore a'
    " backup"
)


def check_after_kill(path: Path, connection: sqlite3.Connection) -> None:
    """Log the first structural error of a file if the last run was killed. Reads the whole file."""
    last = connection.execute("SELECT ended FROM runs ORDER BY number DESC LIMIT 1").fetchall()
    if last == [(None,)] and (fault := first_fault(connection)):
        logger.warning("%s", damage(path, fault))


def first_fault(connection: sqlite3.Connection) -> str | None:
    """Return the first structural error of a file; None if there is no error. Reads the whole file."""
    ((found,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    return None if found == "ok" else printable(found)


def words_of(error: Exception) -> str:
    """Return the message of *error* in one line, with likely causes of an I/O error."""
    if "disk I/O error" in str(error):
        return f"{error}: the disk has failed, or the file has reached a size limit (ulimit -f, a quota)"
    return " ".join(str(error).split())[:200]


def _at_opening(path: Path, error: Exception, what: str) -> StoreError:
    said = f"{path}: cannot {what} it: {words_of(error)}"
    if isinstance(error, OSError) or is_forbidden(error):
        instead = (
            "set SIMHASH_STORE to a different folder"
            if what == "write"
            else "copy it and its -wal file elsewhere"
        )
        return StoreError(
            f"{said}. Check the permissions of the file and its folder, in which SQLite creates files, or {instead}"
        )
    if is_damage(error):
        return StoreDamaged(
            f"{path} is damaged, or is not a store: {words_of(error)}. Nothing was changed. Replace it with a backup,"
            ' or with the output of "sqlite3 OLD.sqlite .recover | sqlite3 NEW.sqlite", or set SIMHASH_RESET = True'
            " to delete it"
        )
    if "locked" in str(error):
        return StoreLocked(f"{path}: another program is writing to it. Wait until it ends, or stop it")
    return StoreUnavailable(said)


#: Max seconds to wait for another process, such as one that replays the log after a kill.
LOCK_TIMEOUT = 5.0
#: Max seconds for which a claim waits. Meanwhile the reactor is blocked.
LOCK_TIMEOUT_OF_CLAIMS = 0.1
#: Suffixes of the files that belong to a database.
_BESIDE = ("-wal", "-shm", "-journal")


def connect(path: Path, mode: str, patience: float = LOCK_TIMEOUT) -> sqlite3.Connection:
    """Return a connection in autocommit mode. *mode* is that of SQLite's URIs: ``ro``, ``rw``, ``rwc``."""
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the resolved path, so that all names of the file lead to the same lock.

    Raises StoreError for an invalid file name.
    """
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{str(path)!r}: cannot open it: {error}. Set SIMHASH_STORE to a different folder"
        ) from error


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a file next to that of a store."""
    return path.with_name(path.name + suffix)


def lock_of(path: Path) -> sqlite3.Connection:
    """Take the lock of the store at *path*, or raise StoreLocked at once.

    The holder is the only writer of the store, until the lock is closed or the process ends for any reason. The lock
    is SQLite's lock on an empty database, so it works the same on every system.
    """
    lock = beside(path, "-lock")
    with open_errors(lock, "write"):
        connection = connect(lock, "rwc", patience=0)
        try:
            # Nothing is written, so no rollback journal is needed.
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            connection.close()
            if "locked" not in str(error):
                raise
            raise StoreLocked(
                f"{path}: another crawl is writing to it. Wait until it ends, stop it, or set SIMHASH_STORE to"
                " a different folder"
            ) from error
    return connection


def open_for_writing(
    path: Path, header: Header | None, reset: bool
) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Return the lock of the store at *path* and a connection to it.

    A missing file is created for *header*; with *reset* the file is replaced.
    """
    with ExitStack() as undo, open_errors(path, "write"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_of(path)
        undo.callback(lock.close)
        if reset:
            _remove(path)
        if not path.exists():
            _make(path, header or Header())
        _check_not_empty(path)
        connection = connect(path, "rw")
        undo.callback(connection.close)
        schema.check(connection, str(path))
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA synchronous = NORMAL")
        ((mode,),) = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        if mode != "wal":
            raise StoreError(
                f"{path}: SQLite cannot use a write-ahead log in this folder (journal mode {mode}), as on some"
                " network drives. Set SIMHASH_STORE to a different folder"
            )
        undo.pop_all()
    return lock, connection


def open_for_reading(path: Path) -> tuple[sqlite3.Connection, str]:
    """Return a connection to the store at *path* that writes nothing, and the mode for further connections.

    A reader of a file with a write-ahead log needs the -shm file for its locks. If that file cannot be created and
    there is no log, then no process is writing, and the file is read without locks.
    """
    if not path.is_file():
        raise StoreError(f"no such store: {path}")
    with open_errors(path, "read"):
        _check_not_empty(path)
        for mode in ("ro", "ro&immutable=1"):
            connection = connect(path, mode)
            try:
                schema.check(connection, str(path))
                return connection, mode
            except Exception as error:
                connection.close()
                is_alone = not _size(beside(path, "-wal"))
                if not (mode == "ro" and is_alone and is_forbidden(error)):
                    raise
    raise AssertionError  # unreachable: the second mode returns or raises


def _check_not_empty(path: Path) -> None:
    """Raise StoreDamaged for an empty file, which SQLite would take for a database of another program."""
    if not path.stat().st_size:
        raise StoreDamaged(
            f"{path} is an empty file, not a store. Nothing was changed. Replace it with a backup, delete it, or "
            "set SIMHASH_RESET = True"
        )


def header_at(path: Path) -> Header:
    """Return the header of the store at *path* without reading anything else. Raises StoreError as opening does."""
    connection, _ = open_for_reading(resolved(path))
    with closing(connection), open_errors(path, "read"):
        return schema.header_of(connection)


def is_database(path: Path) -> bool:
    """Return whether the file at *path* begins like an SQLite file, or is empty.

    SQLite reads the file, because another reader would break its locks (see above). No lock is taken, and no file is
    created. Raises StoreError if the file cannot be read.
    """
    with open_errors(path, "read"), closing(connect(resolved(path), "ro&immutable=1")) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchall()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return "not a database" not in str(error)
    return True


def _make(path: Path, header: Header) -> None:
    """Create a new store atomically."""
    for suffix in _BESIDE:
        if _size(orphan := beside(path, suffix)):
            raise StoreDamaged(
                f"{orphan} holds the latest transactions of {path.name}, which is missing. Nothing was changed. "
                "Restore that file, or delete the files next to it (SIMHASH_RESET = True does this)"
            )
    new = beside(path, "-new")
    _unlink(new)
    with closing(connect(new, "rwc")) as connection:
        schema.create(connection, header)
        connection.execute("PRAGMA journal_mode = WAL")
    new.replace(path)


def _remove(path: Path) -> None:
    """Remove a store, damaged or not. Raises StoreDamaged for a database of another program, which is kept."""
    if _size(path):
        with closing(connect(path, "ro")) as connection, suppress(sqlite3.Error):
            if not schema.is_store(connection):
                schema.check(connection, str(path))
    _unlink(path)


def _unlink(path: Path) -> None:
    """Remove a database and its files. The database is deleted first, because its log is harmless without it."""
    for file in (path, *(beside(path, suffix) for suffix in _BESIDE)):
        file.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
