"""Stores in files for the tests, and copies that simulate a kill."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore


class Shelf:
    """A folder of stores; close() closes those that are still open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0
        self.stores: list[SqliteStore] = []

    def open(self, path: Path, header: Header | None = None, **options: Any) -> SqliteStore:
        store = SqliteStore(path, header, **options)
        self.stores.append(store)
        return store

    def new(self, header: Header | None = None) -> SqliteStore:
        return self.open(self._place(), header)

    def reopen(
        self, store: SqliteStore, in_order: bool, header: Header | None = None, **options: Any
    ) -> SqliteStore:
        path = Path(str(store))
        if not in_order:
            path = self._place()
            # After a kill the file and its log remain. SQLite rebuilds the index of the log.
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{Path(str(store))}{suffix}", f"{path}{suffix}")
        store.close()
        assert_sound(path)
        return self.open(path, header or store.header, **options)

    def close(self) -> None:
        for store in self.stores:
            store.close()
            assert_sound(Path(str(store)))

    def _place(self) -> Path:
        self.made += 1
        return self.folder / f"{self.made}.sqlite"


def assert_sound(path: Path) -> None:
    """Check every page of a file with SQLite, and the consistency of its tables."""
    with connected(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        for query in NOTHING:
            assert connection.execute(query).fetchall() == [], query


#: Queries that return no rows for a sound store.
NOTHING = (
    "SELECT number FROM pages WHERE scope NOT IN (SELECT number FROM names)",
    "SELECT number FROM pages WHERE delivered NOT IN (SELECT number FROM runs)",
    "SELECT number FROM pages WHERE found_by AND (original IS NOT NULL OR is_short)",
    "SELECT number FROM pages WHERE original = number",
    "SELECT one.url FROM pages AS one JOIN pages ON pages.number = one.original WHERE pages.original IS NOT NULL",
    "SELECT url FROM duplicates WHERE url = original",
    "SELECT url FROM pages WHERE (original IS NULL) <> (rank = 0)",
    "SELECT original FROM pages WHERE rank > 0 GROUP BY original, rank HAVING count(*) > 1",
    "SELECT one.url FROM pages AS one JOIN pages ON pages.number = one.original WHERE one.rank > pages.joined",
    "SELECT number FROM pages WHERE visits < 1 OR changes >= visits",
)


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a plain connection in autocommit mode."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@contextmanager
def as_nobody() -> Iterator[None]:
    """Drop root's privileges, if any, so that file permissions apply."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
