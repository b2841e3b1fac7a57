"""Failures of an open store: a full disk, damage, changes by other programs. Nothing is half stored."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from scrapy_simhash.exceptions import StoreUnavailable
from scrapy_simhash.store import Posting
from scrapy_simhash.store.sqlite import SqliteStore, files
from tests.store.cases import CLASSIC, header, posting, whole
from tests.store.sqlite.stores import Shelf, connected


def unlike(number: int) -> Posting:
    """Return a posting that is unlike all others; every third one is in its own scope."""
    draw = random.Random(number)
    scope = f"{number}.example" if number % 3 == 0 else ""
    return posting(f"page {number}", draw.getrandbits(64), scope, page_hash=draw.getrandbits(64))


@contextmanager
def no_new_pages(store: SqliteStore) -> Iterator[None]:
    """SQLITE_FULL: SQLite's error if the disk is full or the file has reached its size limit."""
    ((pages,),) = store._execute("PRAGMA page_count").fetchall()
    store._execute(f"PRAGMA max_page_count = {pages}").fetchall()
    try:
        yield
    finally:
        store._execute(f"PRAGMA max_page_count = {2**31 - 2}").fetchall()


@contextmanager
def no_larger_files(store: SqliteStore, room: int = 50_000) -> Iterator[None]:
    """An incomplete write to the log, as caused by a full disk or a quota."""
    import resource

    log = files.beside(Path(str(store)), "-wal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + room, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


WAYS = [
    no_new_pages,
    pytest.param(no_larger_files, marks=pytest.mark.skipif(sys.platform == "win32", reason="no such limit")),
]


@pytest.mark.parametrize("is_full", WAYS)
def test_a_full_disk_only_fails_claims_that_do_not_fit(
    is_full: Callable[[SqliteStore], AbstractContextManager[None]], shelf: Shelf
) -> None:
    store = shelf.new(header(CLASSIC))
    stored = [unlike(number) for number in range(50)]
    for page in stored:
        store.claim(page)
    refused, messages = [], []
    with is_full(store):
        for number in range(50, 150):
            page, size, found = unlike(number), len(store), store.index_size
            try:
                store.claim(page)
            except StoreUnavailable as error:
                messages.append(str(error))
                refused.append(page)
                assert (len(store), store.index_size, store.get(page.key)) == (size, found, None)
                assert store.look(page) == store.look(page._replace(key=b"another"))
            else:
                stored.append(page)
        assert len(refused) > 10
        assert is_full is no_new_pages or any("a size limit" in message for message in messages)
        assert [whole(page) for page in store] == [whole(page) for page in stored]
    for page in refused:
        assert store.claim(page).cluster == len(stored)
        stored.append(page)
    again = shelf.reopen(store, in_order=False)
    assert [whole(page) for page in again] == [whole(page) for page in stored]


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_run_whose_end_cannot_be_stored_is_unlocked(path: Path) -> None:
    store = SqliteStore(path)
    store.claim(unlike(0))
    with no_larger_files(store, room=0):
        with pytest.raises(StoreUnavailable):
            store.claim(unlike(1))
        with pytest.raises(StoreUnavailable):
            store.close()
        store.close()
    with closing(SqliteStore(path)) as again:
        assert [run.ended for run in again.runs()] == [None, None]
        assert len(again) == 1


def test_a_program_with_a_long_write_only_fails_claims(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_TIMEOUT_OF_CLAIMS", 0.001)
    store = shelf.new()
    store.claim(unlike(0))
    with connected(Path(str(store))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="database is locked"):
            store.claim(unlike(1))
        assert store.look(unlike(1)).cluster == 1
        assert store.get(unlike(0).key) is not None
        other.execute("ROLLBACK")
    assert store.claim(unlike(1)).cluster == 1
