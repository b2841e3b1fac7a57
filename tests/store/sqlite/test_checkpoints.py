"""The log is moved into the file and does not grow without limit; concurrent readers lose nothing."""

from __future__ import annotations

import time
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

import pytest

from scrapy_simhash.store.sqlite import SqliteStore, checkpoints, files, schema
from tests.store.cases import posting
from tests.store.sqlite.stores import assert_sound

#: Max claims until a log that should restart has restarted.
PATIENCE = 200_000


def claims_until_the_log_begins_anew(store: SqliteStore) -> None:
    """Claim without a pause. A log that restarts is overwritten, so its size does not change."""
    log = files.beside(Path(str(store)), "-wal")
    for _ in range(PATIENCE // 50):
        before = log.stat().st_size
        for number in range(50):
            store.claim(posting(f"{number}", number, seen=number))
        if log.stat().st_size == before:
            return
    pytest.fail(f"it has {log.stat().st_size:,} bytes")


def test_claims_wait_until_a_log_that_is_too_long_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 20)
    monkeypatch.setattr(checkpoints, "LONG", 200)
    with closing(SqliteStore(path)) as store:
        claims_until_the_log_begins_anew(store)
    assert_sound(path)


def test_the_log_starts_again_although_a_claim_arrives_during_each_checkpoint(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "LONG", 200)
    with closing(SqliteStore(path)) as store:
        numbers, own = count(), store._checkpoints
        assert own is not None
        move = own._pass

        def claim() -> None:
            number = next(numbers)
            store.claim(posting(f"{number}", number << 10))

        def busy() -> tuple[int, int]:
            # A claim arrives during the checkpoint: a reader of the whole log keeps the claim from starting it again.
            with closing(files.connect(path, "ro")) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM runs").fetchall()
                moved = move()
                # Claims wait for the last checkpoint.
                if not store._turn.locked():
                    claim()
            return moved

        monkeypatch.setattr(own, "_pass", busy)
        # Too few to wake the thread.
        for _ in range(300):
            claim()
        own._move()
        log = files.beside(path, "-wal")
        before = log.stat().st_size
        for _ in range(50):
            claim()
        assert log.stat().st_size == before
    assert_sound(path)


def test_a_long_reader_only_delays_the_restart_of_the_log(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 5)
    monkeypatch.setattr(checkpoints, "LONG", 20)
    with closing(SqliteStore(path)) as store:
        for number in range(100):
            store.claim(posting(f"{number}", number << 10))
        with closing(SqliteStore(path, read_only=True)) as reader:
            postings = iter(reader)
            next(postings)
            for number in range(100, 300):
                store.claim(posting(f"{number}", number << 10))
            assert sum(1 for _ in postings) == 99
        claims_until_the_log_begins_anew(store)
        assert len(store) == 300
    assert_sound(path)


def test_a_store_closes_while_it_is_read(path: Path) -> None:
    store = SqliteStore(path)
    store.claim(posting("a", 0))
    with closing(SqliteStore(path, read_only=True)) as reader:
        postings = iter(reader)
        next(postings)
        store.close()
        with closing(SqliteStore(path)) as again:
            again.claim(posting("b", 1 << 30))
            assert list(postings) == []
            assert [page.key for page in reader] == [b"a", b"b"]
    assert_sound(path)


def test_many_pages_are_removed_in_steps(path: Path) -> None:
    draw = Random(1)
    pages = [posting(str(number), draw.getrandbits(64)) for number in range(2 * schema.REMOVED_AT_ONCE + 7)]
    with closing(SqliteStore(path)) as store:
        for page in pages:
            store.claim(page)
        store.claim(posting("last", 0, seen=int(time.time())))
    with closing(SqliteStore(path, keep=86_400)) as store:
        assert (len(store), store.index_size) == (1, 1)
        assert {store.look(page).original for page in pages[::50]} == {None}
        assert store.claim(posting("next", 2**32 - 1)).cluster == len(pages) + 1
    assert_sound(path)
