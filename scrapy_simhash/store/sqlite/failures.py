"""Failures: SQLite's errors in our words, with what to do.

Python 3.10 does not tell SQLite's error codes, but the classes and the words have been the same for ages.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreLocked, StoreUnavailable

_DAMAGE_ADVICE = (
    "Nothing was changed. Replace it with a backup, export what can still be read, or set SIMHASH_RESET = True to "
    "delete it"
)


#: SQLite's, and those of a row that is not what it should be.
KINDS = (sqlite3.Error, KeyError, TypeError, ValueError, OverflowError)


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
def said_at_work(path: Path) -> Iterator[None]:
    """Raise StoreUnavailable for what goes wrong inside."""
    try:
        yield
    except KINDS as error:
        advice = f" is damaged: {error}. {_DAMAGE_ADVICE}" if is_damage(error) else f": {error}"
        raise StoreUnavailable(f"{path}{advice}") from error


def _at_opening(path: Path, error: Exception, what: str) -> StoreError:
    if is_damage(error):
        return StoreDamaged(f"{path} is damaged, or is not a store: {error}. {_DAMAGE_ADVICE}")
    if "locked" in str(error):
        return StoreLocked(f"{path}: another program is writing to it. Wait until it ends, or stop it")
    if is_forbidden(error):
        instead = (
            "set SIMHASH_DIR to another folder" if what == "write" else "copy it and its -wal file elsewhere"
        )
        return StoreError(
            f"{path}: cannot {what} it: {error}. Check the permissions of the file and of its folder (SQLite creates "
            f"files beside it), or {instead}"
        )
    return StoreUnavailable(f"{path}: cannot open it: {error}")
