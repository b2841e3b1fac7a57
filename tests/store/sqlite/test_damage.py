"""A damaged file: readable pages are compared, others are unknown, and one sentence has the remedy."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from scrapy_simhash.cli.main import main
from scrapy_simhash.exceptions import RecordDamaged, StoreDamaged, StoreError
from scrapy_simhash.page.fingerprint import FACTS_AT, Fingerprint
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store.sqlite import SqliteStore, schema
from tests.examples import examples
from tests.store.damaged import LIKE_A, PAGES, Opened, ask_anything, ask_others, fill, page
from tests.store.sqlite.stores import connected

#: Columns that claims and exports do not read, or for which the value below is valid.
UNREAD = {
    *(
        "url",
        "page_hash",
        "delivered",
        "first_seen",
        "last_visit",
        "visits",
        "changes",
        "run",
        "is_short",
    ),
    *("last_seen", "rank", "joined", "found_by", "original", "key"),
}


def opened_at(path: Path) -> Opened:
    return lambda **options: closing(SqliteStore(path, **options))


def damaged_values() -> Iterator[tuple[str, str]]:
    """Yield each column, including future ones, with an invalid value."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in schema.TABLES:
            connection.execute(table)
        for _, column, *_ in connection.execute("PRAGMA table_info(pages)"):
            for value in ("'many'", "x'00'", "0.5", "NULL"):
                # A value that an integer column does not accept, and the key of another page.
                if column != "number" and (column, value) != ("key", "x'00'"):
                    yield column, value


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


@pytest.mark.parametrize(("column", "value"), list(damaged_values()))
def test_a_damaged_row_affects_only_its_page(
    column: str, value: str, sound: Path, expected: list[tuple[object, ...]], path: Path
) -> None:
    shutil.copyfile(sound, path)
    with connected(path) as connection:
        try:
            connection.execute(f"UPDATE pages SET {column} = {value} WHERE number = 0")
        except sqlite3.IntegrityError:
            return  # NOT NULL
    if column == "scope":
        for read_only in (True, False):
            with pytest.raises(StoreDamaged):
                SqliteStore(path, read_only=read_only)
        return
    with closing(SqliteStore(path, read_only=True)) as store:
        list(store.pages())
        assert column in UNREAD or store.damaged_records or value == "NULL"
    with closing(SqliteStore(path)) as store:
        assert ask_others(store) == expected
        for one in (PAGES[0], PAGES[1], page("x", LIKE_A), page("y", LIKE_A)):
            for ask in (store.look, store.claim):
                with suppress(RecordDamaged):
                    assert ask(one).original != one.url


def test_damaged_records_are_counted_and_logged_once_with_the_remedy(
    sound: Path, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copyfile(sound, path)
    with connected(path) as connection:
        connection.execute("UPDATE pages SET fingerprint = x'00' WHERE number = 0")
    with closing(SqliteStore(path)) as store:
        assert len(store.damaged_records) == 1
        for _ in range(2):
            with pytest.raises(RecordDamaged, match=r"shop\.sqlite is damaged: .*status unknown.*\.recover"):
                store.claim(PAGES[0])
        like_a = page("x", LIKE_A)._replace(page_hash=1)
        assert store.claim(like_a).original is None, "an unreadable page has no near-duplicates"
        assert b"a" not in {one.key for one in store}
        assert store.damaged_records == ["page 0"]
    assert len([message for message in caplog.messages if "is damaged" in message]) == 1


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


@pytest.fixture
def filled(path: Path) -> Path:
    """A store of a thousand pages whose run was killed."""
    draw = random.Random(1000)
    with closing(SqliteStore(path)) as store:
        for number in range(1000):
            fingerprint = Fingerprint(draw.getrandbits(64), sketch=draw.randbytes(FACTS_AT) + NONE)
            store.claim(page(str(number), fingerprint)._replace(page_hash=draw.getrandbits(64)))
    with connected(path) as connection:
        connection.execute("UPDATE runs SET ended = NULL")
    return path


def test_a_file_is_checked_if_the_last_run_was_killed(filled: Path, caplog: pytest.LogCaptureFixture) -> None:
    tear(filled, "sqlite_autoindex_pages_1")
    with closing(SqliteStore(filled)):
        assert len([message for message in caplog.messages if ".recover" in message]) == 1
    caplog.clear()
    # The last run has ended normally now.
    SqliteStore(filled).close()
    assert not caplog.messages


def test_info_checks_the_structure_of_a_file(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--check", str(filled)]) == 0
    tear(filled, "pages_by_hash")
    assert main(["info", str(filled)]) == 0, "an index that was not read"
    capsys.readouterr()
    assert main(["info", "--check", str(filled)]) == 1
    assert re.search(r"is damaged: .*\.recover", capsys.readouterr().err)


@pytest.mark.parametrize("part", ["pages", "sqlite_autoindex_pages_1", "pages_by_hash"])
def test_a_truncated_file_is_damaged_and_raises_only_store_errors(part: str, filled: Path) -> None:
    tear(filled, part)
    judged, refused, draw = 0, 0, random.Random(2)
    if part == "pages":
        # All of it is read when the file is opened.
        with pytest.raises(StoreDamaged, match=r"\.recover"):
            SqliteStore(filled)
        return
    with closing(SqliteStore(filled)) as store:
        for number in range(1000):
            try:
                store.claim(page(str(number), 5)._replace(page_hash=draw.getrandbits(64)))
                judged += 1
            except StoreError:
                refused += 1
    assert judged > 0
    assert refused > 0


def test_overwritten_bytes_raise_only_store_errors(sound: Path, path: Path) -> None:
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
