"""Pages that were not seen for long are removed when the file is opened."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from scrapy_simhash.store.sqlite import SqliteStore, schema
from tests.store.cases import CLASSIC, FAR, ask, copy, header, original, posting

DAY = 86_400
NOW = int(time.time())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def crawled(path: Path, ages: dict[str, tuple[int, int]], keep: int | None = None) -> SqliteStore:
    """Claim pages with the values and days since the last visit in *ages*, in a run that ends; return the
    store, opened with *keep*.
    """
    with closing(SqliteStore(path, header(CLASSIC))) as store:
        for key, (value, days) in ages.items():
            store.claim(posting(key, value, seen=NOW - days * DAY))
    return SqliteStore(path, keep=keep)


def test_pages_not_seen_for_the_given_time_are_removed(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ages = {"old": (0, 100), "copy": (1, 10), "new": (FAR, 0), "older": (FAR >> 1, 91)}
    with caplog.at_level(logging.INFO), closing(crawled(path, ages, 90 * DAY)) as store:
        assert [page.posting.key for page in store.pages()] == [b"copy", b"new"]
        assert (len(store), store.index_size) == (2, 1)
        assert caplog.messages == [f"{path}: removed 2 pages that were not seen again"]
        kept = store.get(b"copy")
        assert kept is not None
        assert (kept.cluster, kept.original) == (0, None)
        # The copy is compared again, like a page whose original was removed by hand.
        assert ask(store, posting("copy", 1)) == original(4, former=1)
        assert ask(store, posting("another", 0)) == copy("copy", 4, 1)
    with closing(SqliteStore(path)) as store:
        assert len(store) == 3, "without keep nothing is removed"


def test_an_unchanged_visit_keeps_a_page(path: Path) -> None:
    with closing(crawled(path, {"a": (0, 100), "b": (FAR, 100)})) as store:
        store.touch([(b"a", NOW)])
    with closing(SqliteStore(path, keep=90 * DAY)) as store:
        assert [one.key for one in store] == [b"a"]


def test_a_pause_or_a_wrong_clock_removes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawled(path, {"a": (0, 80), "b": (FAR, 0)}).close()
    for years in (50, -50, 1):
        monkeypatch.setattr(time, "time", lambda years=years: NOW + years * 365 * DAY)
        with closing(SqliteStore(path, keep=90 * DAY)) as store:
            assert len(store) == 2, years
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM runs WHERE number > 1")


def test_many_pages_are_removed_in_steps(path: Path) -> None:
    draw = Random(1)
    pages = 2 * schema.REMOVED_AT_ONCE + 7
    ages = {str(number): (draw.getrandbits(64), 100) for number in range(pages)}
    with closing(crawled(path, {**ages, "last": (draw.getrandbits(64), 1)}, 90 * DAY)) as store:
        assert (len(store), store.index_size) == (1, 1)
        for value, _ in list(ages.values())[::50]:
            assert store.look(posting("again", value)).original is None
        assert store.claim(posting("next", draw.getrandbits(64))).cluster == pages + 1
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]
