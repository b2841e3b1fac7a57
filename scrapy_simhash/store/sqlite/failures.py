"""Failures: SQLite's errors in our words, with what to do.

Python 3.10 does not tell SQLite's error codes, but the classes and the words have been the same for ages.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import error as StructError

from scrapy_simhash.exceptions import (
    RecordDamaged,
    StoreDamaged,
    StoreError,
    StoreLocked,
    StoreUnavailable,
)
from scrapy_simhash.store.damage import Damage
from scrapy_simhash.store.sqlite.rows import RowDamaged

_DAMAGE_ADVICE = (
    "Nothing was changed. Replace it with a backup, export what can still be read, or set SIMHASH_RESET = True to "
    "delete it"
)
#: SQLite's, and those of a row that is not what it should be.
KINDS = (sqlite3.Error, AttributeError, LookupError, OverflowError, StructError, TypeError, ValueError)


def is_damage(error: Exception) -> bool:
    """Tell whether it is the file that is wrong: SQLITE_CORRUPT and SQLITE_NOTADB have no class of their own.

    Nor is it SQLite that finds a row amiss.
    """
    return type(error) is sqlite3.DatabaseError or not isinstance(error, sqlite3.Error)


def is_forbidden(error: Exception) -> bool:
    """Tell whether it is a permission that is missing: to write the file, or to make one beside it."""
    return "readonly" in str(error) or "unable to open" in str(error)


@contextmanager
def said_at_opening(path: Path, what: str) -> Iterator[None]:
    """Raise in our words what goes wrong inside, while a store is opened to *what*: ``read`` or ``write``."""
    try:
        yield
    except KINDS as error:
        raise _at_opening(path, error, what) from error
    except OSError as error:
        raise StoreError(f"{path}: cannot {what} it: {error}") from error


@contextmanager
def said_at_work(path: Path, damage: Damage) -> Iterator[None]:
    """Raise StoreUnavailable for what goes wrong inside, RecordDamaged if it will again; that *damage* gets, too."""
    try:
        yield
    except KINDS as error:
        if not is_damage(error):
            raise StoreUnavailable(f"{path}: {words_of(error)}") from error
        damage.note(words_of(error))
        advice = "" if isinstance(error, RowDamaged) else f". {_DAMAGE_ADVICE}"
        raise RecordDamaged(f"{path} is damaged: {words_of(error)}{advice}") from error


def words_of(error: Exception) -> str:
    """Return what *error* says, in a line.

    Of a file that may not grow, SQLite says only that it could not be written; of a schema it repeats all of it.
    """
    if "malformed database schema" in str(error):
        return "malformed database schema"
    if "disk I/O error" in str(error):
        return f"{error}: the disk does not work, or the file has reached a limit of its size (ulimit -f, a quota)"
    return " ".join(str(error).split())


def _at_opening(path: Path, error: Exception, what: str) -> StoreError:
    if is_damage(error):
        return StoreDamaged(f"{path} is damaged, or is not a store: {words_of(error)}. {_DAMAGE_ADVICE}")
    if "locked" in str(error):
        return StoreLocked(f"{path}: another program is writing to it. Wait until it ends, or stop it")
    if is_forbidden(error):
        instead = (
            "set SIMHASH_DIR to another folder" if what == "write" else "copy it and its -wal file elsewhere"
        )
        return StoreError(
            f"{path}: cannot {what} it: {words_of(error)}. Check the permissions of file and folder (SQLite"
            f" creates files beside it), or {instead}"
        )
    return StoreUnavailable(f"{path}: cannot open it: {words_of(error)}")
