"""One damaged row costs one page: that gets no answer, all others are judged, and a rescue leaves out no more."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError
from scrapy_simhash.page.fingerprint import FACTS_AT, Fingerprint
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store.sqlite import SqliteStore, rows, schema
from tests.examples import examples
from tests.store.damaged import LIKE_A, Opened, ask_anything, ask_everything, ask_others, fill, page
from tests.store.sqlite.stores import connected

#: The tables that say what a page is, and the column of their numbers.
TABLES = {"pages": "number", "contents": "number", "sketches": "content"}
#: Columns in which no value is wrong, or that no reader wants: the page is as before, but for what is in them.
UNTOLD = {("pages", "url"), ("pages", "run"), ("pages", "own"), ("sketches", "content")}


def opened_at(path: Path) -> Opened:
    return lambda **options: closing(SqliteStore(path, **options))


def wounds() -> Iterator[tuple[str, str, str]]:
    """Yield table, column and a value that cannot be right, for each column, also of those that will come."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in schema.TABLES:
            connection.execute(table)
        for table, where in TABLES.items():
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})"):
                is_number = column == where
                for value in (f"{column} + 99", 1 << 62) if is_number else ("'many'", "x'00'", "0.5"):
                    if (column, value) != ("key", "x'00'"):  # the key of another page
                        yield table, column, str(value)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run has ended."""
    path = tmp_path_factory.mktemp("damage") / "sound.sqlite"
    fill(opened_at(path))
    return path


@pytest.fixture(scope="module")
def expected(sound: Path) -> list[tuple[object, ...]]:
    path = shutil.copyfile(sound, sound.with_name("asked.sqlite"))
    with closing(SqliteStore(path)) as store:
        return ask_others(store)


@pytest.mark.parametrize(("table", "column", "value"), list(wounds()))
def test_a_damaged_row_costs_its_page_and_no_other(
    table: str, column: str, value: str, sound: Path, expected: list[tuple[object, ...]], path: Path
) -> None:
    shutil.copyfile(sound, path)
    with connected(path) as connection:
        connection.execute(f"UPDATE {table} SET {column} = {value} WHERE {TABLES[table]} = 0")
    exported, named = ask_everything(opened_at(path), expected)
    assert bool(named) == ((table, column) not in UNTOLD)
    assert b"a" in exported or named


def test_a_page_that_is_missing_is_named_when_its_copy_comes(sound: Path, path: Path) -> None:
    shutil.copyfile(sound, path)
    with connected(path) as connection:
        connection.execute("DELETE FROM pages WHERE number = 0")
    with closing(SqliteStore(path)) as store:
        assert store.claim(page("x", LIKE_A)).original is None
        assert store.damage.named == ["page 0 (of content 0)"]


#: Parts of a file, and how many of 1,000 pages are left at least if a leaf of one is overwritten.
PARTS = {
    "pages": 900,
    "contents": 800,
    "sketches": 900,
    "sqlite_autoindex_pages_1": 1000,
    "contents_of_page": 1000,
}


def tear(path: Path, part: str) -> None:
    """Overwrite one leaf in the middle of a table or index."""
    size = 4096
    with connected(path) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (part,))
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        node = file.read(size)
        assert node[0] in (2, 5), "a node with children"
        middle = int.from_bytes(node[3:5], "big") // 2
        cell = int.from_bytes(node[12 + 2 * middle : 14 + 2 * middle], "big")
        file.seek((int.from_bytes(node[cell : cell + 4], "big") - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize("part", PARTS)
def test_the_rest_of_a_torn_file_can_be_read(part: str, path: Path) -> None:
    draw = random.Random(1000)
    pages = [
        page(str(number), Fingerprint(draw.getrandbits(64), sketch=draw.randbytes(FACTS_AT) + NONE))._replace(
            text_hash=draw.getrandbits(64)
        )
        for number in range(1000)
    ]
    with closing(SqliteStore(path)) as store:
        for one in pages:
            store.claim(one)
    tear(path, part)
    with closing(SqliteStore(path, read_only=True)) as store:
        found = {one.key for one in store}
        assert len(found) >= PARTS[part]
        assert len(found) + len(store.damage) >= 1000
        named = {record.partition(" (")[0] for record in store.damage.named}
        assert not named & {f"page {key.decode()}" for key in found}, "what can be read is not damaged"
        assert store.audit(lambda number: None)
    if part in ("contents", "sketches", "sqlite_autoindex_pages_1"):
        # All of these is read at the start.
        with pytest.raises(StoreDamaged):
            SqliteStore(path)
        return
    changed = {one.key: draw.getrandbits(64) for one in pages}
    with closing(SqliteStore(path)) as store:
        judged = 0
        for one in pages:
            with suppress(RecordDamaged):
                judged += store.claim(one._replace(text_hash=changed[one.key])).former is not None
        assert judged > 900
        store.unsettle([one.key for one in pages])
    with closing(SqliteStore(path, read_only=True)) as store:
        assert store.runs()[-1].ended is not None
        assert not any(one.is_delivered and one.text_hash == changed[one.key] for one in store), (
            "those that can be read"
        )


def test_whatever_is_overwritten_nothing_but_store_errors_come(
    sound: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The file has a thousand pages: so many numbers without a page need not be tried.
    monkeypatch.setattr(rows, "MOST_TORN", 300)
    whole = sound.read_bytes()
    draw = random.Random(8)
    for _ in range(examples(150)):
        parts = bytearray(whole)
        for _ in range(draw.choice((1, 1, 8))):
            parts[draw.randrange(100, len(parts))] = draw.randrange(256)
        path.write_bytes(parts)
        for read_only in (True, False):
            with suppress(StoreError), closing(SqliteStore(path, read_only=read_only)) as store:
                ask_anything(store)
