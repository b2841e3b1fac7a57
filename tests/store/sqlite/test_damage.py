"""One damaged row costs one page: that gets no answer, all others are judged, and a rescue leaves out no more."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError
from scrapy_simhash.page.fingerprint import SKETCH_BYTES, Fingerprint
from scrapy_simhash.store import Posting
from scrapy_simhash.store.sqlite import SqliteStore, schema
from tests.examples import examples
from tests.store.cases import url
from tests.store.damaged import OTHERS, PAGES, page, told, with_own
from tests.store.sqlite.stores import connected

#: The tables that say what a page is, and the column of their numbers.
TABLES = {"pages": "number", "contents": "number", "sketches": "content"}


class Wound(NamedTuple):
    """What is changed in the row of page a."""

    table: str
    column: str
    value: str


#: Columns that a rescue cannot tell from others, or does without.
UNREAD = (
    *("key", "url", "rank", "joined", "run", "found_by", "number", "content", "page", "sketch", "own"),
    "is_short",
)


def columns() -> Iterator[Wound]:
    """Yield wounds of each column, also of those that will come."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in schema.TABLES:
            connection.execute(table)
        for table, where in TABLES.items():
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})"):
                if column == where:
                    yield Wound(table, column, f"{column} + 99")
                    yield Wound(table, column, "9223372036854775807")
                    continue
                yield Wound(table, column, "'many'")
                yield Wound(table, column, "x'00'")
                yield Wound(table, column, "0.5")


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run has ended."""
    path = tmp_path_factory.mktemp("damage") / "sound.sqlite"
    with closing(SqliteStore(path)) as store:
        for one in PAGES:
            store.claim(one)
    return path


def different(count: int) -> list[Posting]:
    """Return pages that have nothing in common."""
    draw = random.Random(count)
    return [
        page(str(number), Fingerprint(draw.getrandbits(64), sketch=draw.randbytes(SKETCH_BYTES)))
        for number in range(count)
    ]


def answers(store: SqliteStore) -> list[tuple[object, ...]]:
    return [told(store.claim(one)) for one in OTHERS]


@pytest.fixture(scope="session")
def expected(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    path = tmp_path_factory.mktemp("damage") / "expected.sqlite"
    shutil.copyfile(sound, path)
    with closing(SqliteStore(path)) as store:
        return answers(store)


@pytest.mark.parametrize("wound", list(columns()), ids=lambda wound: "-".join(wound))
def test_a_damaged_row_costs_its_page_and_no_other(
    wound: Wound, sound: Path, expected: list[tuple[object, ...]], path: Path
) -> None:
    shutil.copyfile(sound, path)
    table, column, value = wound
    with connected(path) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {value} WHERE {TABLES[table]} = 0")
    with closing(SqliteStore(path, read_only=True)) as store:
        exported = [one.key for one in store]
        assert [key for key in exported if key in (b"c", b"d", b"e", b"f")] == [b"c", b"c", b"d", b"e", b"f"]
        # A content's value, hash and time are not those of its page now.
        is_read = column not in UNREAD and (table == "pages" or column == "scope")
        assert is_read <= (b"a" not in exported)
        assert is_read <= (len(store.damage) >= 1)
    with closing(SqliteStore(path)) as store:
        store.unsettle([b"a", b"d"])
        assert answers(store) == expected
        for key in "bxy":
            claim = store.claim(page(key, with_own(1, own=1 << 60 | 1, edited=9)))
            assert claim.original in (None, url("a"), url("b")) or column == "url"
            assert claim.original != url(key)
        with suppress(RecordDamaged):
            claim = store.claim(PAGES[0])
            assert claim.original in (None, url("b")) or column == "key", "by its key it is another page"
    with closing(SqliteStore(path, read_only=True)) as store:
        assert store.runs()[-1].ended is not None
        assert store.get(b"d") is not None


def test_a_malformed_schema_is_told_in_one_line(path: Path) -> None:
    SqliteStore(path).close()
    with connected(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', ',,') WHERE type = 'table'"
        )
    for read_only in (False, True):
        with pytest.raises(StoreDamaged) as told:
            SqliteStore(path, read_only=read_only)
        assert "malformed database schema" in str(told.value)
        assert "\n" not in str(told.value)


def test_each_damaged_record_is_named_once(sound: Path, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copyfile(sound, path)
    with connected(path) as connection:
        connection.execute("UPDATE pages SET seen = 'late' WHERE number = 0")
    with closing(SqliteStore(path)) as store:
        for _ in range(3):
            with suppress(RecordDamaged):
                store.claim(PAGES[0])
            store.claim(PAGES[1])
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: a damaged record is left out: page 0 (key {b'a'.hex()}). All other pages are compared as before."
        " scrapy-simhash info --check reads all records"
    ]


def test_a_correction_that_cannot_be_written_stops_no_other(path: Path) -> None:
    pages = different(300)
    with closing(SqliteStore(path)) as store:
        for one in pages:
            store.claim(one)
    ruin(path, "pages")
    with closing(SqliteStore(path)) as store:
        for one in pages:
            with suppress(RecordDamaged):
                store.claim(one._replace(text_hash=1))
        assert len(store.damage) > 0
        store.unsettle([one.key for one in pages])
        left = list(store)
        assert 100 < len(left) < 300
    with closing(SqliteStore(path, read_only=True)) as store:
        assert store.runs()[-1].ended is not None
        assert not any(one.is_delivered for one in store), "those that can be read"


def ruin(path: Path, table: str) -> None:
    """Overwrite one leaf in the middle of a table or index."""
    size = 4096
    with connected(path) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        node = file.read(size)
        assert node[0] in (2, 5), "a node with children"
        middle = int.from_bytes(node[3:5], "big") // 2
        cell = int.from_bytes(node[12 + 2 * middle : 14 + 2 * middle], "big")
        file.seek((int.from_bytes(node[cell : cell + 4], "big") - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize(
    "table", ["pages", "contents", "sketches", "sqlite_autoindex_pages_1", "contents_of_page"]
)
def test_the_rest_of_a_file_with_a_ruined_part_can_be_read(table: str, path: Path) -> None:
    pages = different(1000)
    with closing(SqliteStore(path)) as store:
        for one in pages:
            store.claim(one)
    ruin(path, table)
    with closing(SqliteStore(path, read_only=True)) as store:
        found = {one.key for one in store}
        least = {"pages": 900, "contents": 600, "sketches": 900}.get(table, 0)
        assert least < len(found) <= 1000
        assert len(found) == 1000 or len(store.damage) > 0
    if table in ("contents", "sketches", "sqlite_autoindex_pages_1"):
        # All of these is read at the start.
        with pytest.raises(StoreDamaged):
            SqliteStore(path)
        return
    with closing(SqliteStore(path)) as store:
        judged = 0
        for one in pages:
            with suppress(RecordDamaged):
                judged += store.claim(one).former is not None
        assert judged > 900


def test_whatever_is_overwritten_nothing_but_store_errors_come(sound: Path, path: Path) -> None:
    whole = sound.read_bytes()
    draw = random.Random(8)
    for _ in range(examples(150)):
        parts = bytearray(whole)
        for _ in range(draw.choice((1, 1, 8))):
            parts[draw.randrange(100, len(parts))] = draw.randrange(256)
        path.write_bytes(parts)
        for read_only in (True, False):
            with suppress(StoreError), closing(SqliteStore(path, read_only=read_only)) as store:
                with suppress(StoreError):
                    list(store)
                for one in () if read_only else (*PAGES, *OTHERS):
                    with suppress(StoreError):
                        claim = store.claim(one)
                        assert claim.original in (None, *map(url, "abcdefgh"))
                        assert claim.original != one.url
                    with suppress(StoreError):
                        store.unsettle([one.key])
