"""Opening, creating, replacing and refusing stores, with real files, permissions and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from scrapy_simhash.exceptions import StoreDamaged, StoreError, StoreLocked
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore, files, schema
from tests.store.cases import CLASSIC, FAR, content, header, posting
from tests.store.sqlite.stores import Shelf, as_nobody, assert_sound, connected

HOLDER = """
import sys
from scrapy_simhash.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
print(flush=True)
sys.stdin.read()
"""


def filled(path: Path) -> None:
    """Make a store with a few pages, and close it."""
    with closing(SqliteStore(path)) as store:
        for number in range(3):
            store.claim(posting(str(number), content(FAR >> number, text=str(number))))


def bytes_of(path: Path) -> dict[str, bytes]:
    """Return the contents of the folder of a store, without the lock."""
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.suffix != ".sqlite-lock"}


def test_a_closed_run_accepts_no_claims(path: Path) -> None:
    store = SqliteStore(path)
    store.close("shutdown")
    store.close()
    for call in (store.claim, store.look):
        with pytest.raises(StoreError):
            call(posting("a", 0))
    with closing(SqliteStore(path, read_only=True)) as reader:
        assert [run.reason for run in reader.runs()] == ["shutdown"]


# --- Only one crawl at a time.


def test_the_lock_of_another_process_is_respected_until_it_ends(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            with pytest.raises(StoreLocked):
                SqliteStore(path)
        finally:
            holder.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            holder.wait()
        with closing(SqliteStore(path)) as store:
            assert [run.ended is None for run in store.runs()] == [True, True]


# --- During a crawl, and without write permission.


@pytest.fixture
def others() -> Iterator[Path]:
    """A store in a folder without write permission."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.sqlite"
        filled(path)
        (path.parent / "shop.sqlite-lock").unlink()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        yield path
        path.parent.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such permission")
class TestPermissions:
    def test_a_store_in_a_folder_without_write_permission_can_be_read(self, others: Path) -> None:
        with as_nobody(), closing(SqliteStore(others, read_only=True)) as reader:
            assert len(list(reader)) == len(reader) == 3
            assert reader.look(posting("0", content(FAR, text="0"))).former is not None
        assert [file.name for file in others.parent.iterdir()] == [others.name]

    def test_a_crawl_reports_files_that_it_cannot_write(self, others: Path) -> None:
        before = others.read_bytes()
        with as_nobody(), pytest.raises(StoreError, match="cannot write it: unable to open"):
            SqliteStore(others)
        with (
            as_nobody(),
            pytest.raises(StoreError, match=r"cannot write it: .*Permission denied.*SIMHASH_STORE"),
        ):
            SqliteStore(others.parent / "new" / "shop.sqlite")
        others.parent.chmod(0o777)
        with as_nobody(), pytest.raises(StoreError, match="cannot write it: attempt to write a readonly"):
            SqliteStore(others)
        others.parent.chmod(0o700)
        with as_nobody(), pytest.raises(StoreError, match=r"shop\.sqlite(-lock)?'?: cannot .*[Pp]ermission"):
            SqliteStore(others)
        assert others.read_bytes() == before

    def test_the_log_of_a_killed_crawl_is_read(self, others: Path) -> None:
        others.parent.chmod(0o755)
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder))
            store = shelf.new()
            store.claim(posting("a", 0))
            killed = shelf.reopen(store, in_order=False)
            for suffix in ("", "-wal"):
                Path(f"{others}{suffix}").write_bytes(Path(f"{killed}{suffix}").read_bytes())
            shelf.close()
        others.parent.chmod(0o555)
        with as_nobody(), pytest.raises(StoreError, match="copy it and its -wal file elsewhere"):
            SqliteStore(others, read_only=True)
        others.parent.chmod(0o777)
        with as_nobody(), closing(SqliteStore(others, read_only=True)) as reader:
            assert [page.key for page in reader] == [b"a"]

    def test_a_folder_that_is_a_file_is_refused(self, path: Path) -> None:
        path.write_text("a file")
        with pytest.raises(StoreError, match=r"cannot write it: .*set SIMHASH_STORE to a different folder"):
            SqliteStore(path / "shop.sqlite")
        with pytest.raises(StoreError, match="cannot write it: unable to open"):
            SqliteStore(path.parent)


# --- Files that are not stores.


def changed(statement: str) -> Callable[[Path], None]:
    """Return code that makes a store which another program changes."""

    def make(path: Path) -> None:
        filled(path)
        with connected(path) as connection:
            connection.execute(statement)

    return make


def cut(path: Path) -> None:
    filled(path)
    os.truncate(path, path.stat().st_size // 2)


def with_a_wrong_schema(path: Path) -> None:
    filled(path)
    with connected(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', ',,')")


def a_text(path: Path) -> None:
    path.write_text("not a database, and longer than the hundred bytes of a header " * 10)


def only_the_log(path: Path) -> None:
    files.beside(path, "-wal").write_bytes(b"its latest transactions")


def of_another_program(path: Path) -> None:
    with connected(path) as connection:
        connection.executescript("PRAGMA application_id = 1; CREATE TABLE notes (text)")


DAMAGE = "is damaged, or is not a store: "
ANY = {
    "of a newer release": (
        changed(f"PRAGMA user_version = {schema.VERSION + 1}"),
        f"a newer release of scrapy-simhash: its tables have version {schema.VERSION + 1}, this release",
    ),
    "of an older release": (
        changed(f"PRAGMA user_version = {schema.VERSION - 1}"),
        f"an older release of scrapy-simhash: its tables have version {schema.VERSION - 1}, this release reads "
        f"version {schema.VERSION}. Nothing was changed. Set SIMHASH_RESET = True to delete the store, or set"
        " SIMHASH_STORE",
    ),
    "a text": (a_text, f"{DAMAGE}file is not a database"),
    "an empty file": (Path.touch, "is an empty file, not a store"),
    "cut": (cut, f"{DAMAGE}database disk image is malformed"),
    "with a wrong schema": (with_a_wrong_schema, f"{DAMAGE}malformed database schema"),
    "without a table": (changed("DROP TABLE pages"), f"{DAMAGE}no table pages"),
    "without a header": (
        changed("DELETE FROM header WHERE name = 'scope'"),
        "cannot read the header: it lacks the fields scope",
    ),
    "of no rule": (
        changed("UPDATE header SET value = 'x'"),
        "cannot read the header: its rule must be simil",
    ),
    "of a wrong setting": (
        changed("UPDATE header SET value = 'x' WHERE name = 'shingle_size'"),
        "cannot read the header: invalid literal",
    ),
    "without names": (changed("DELETE FROM names"), DAMAGE),
    "only the log": (only_the_log, "holds the latest transactions of shop.sqlite, which is missing"),
    "of another program": (of_another_program, "is a database of another program"),
}
Make: TypeAlias = Callable[[Path], None]


@pytest.mark.parametrize(("make", "message"), ANY.values(), ids=ANY)
def test_a_file_that_is_not_a_store_is_refused_and_unchanged_or_reset(
    make: Make, message: str, path: Path
) -> None:
    make(path)
    before = bytes_of(path)
    with pytest.raises(StoreDamaged, match=message) as refused:
        SqliteStore(path, Header())
    assert "Nothing was changed. " in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert bytes_of(path) == before
    if path.exists():
        with pytest.raises(StoreDamaged, match=message):
            SqliteStore(path, read_only=True)
    if make is of_another_program:
        with pytest.raises(StoreDamaged, match="another program"):
            SqliteStore(path, reset=True)
        assert bytes_of(path) == before
        return
    with closing(SqliteStore(path, header(CLASSIC), reset=True)) as store:
        assert (len(store), store.index_size, len(store.runs()), store.header) == (0, 0, 1, header(CLASSIC))
        store.claim(posting("a", 0))
    assert_sound(path)
    with closing(SqliteStore(path, header(CLASSIC))) as store:
        assert len(store) == 1


def test_a_store_whose_creation_was_killed_is_created_again(path: Path) -> None:
    for suffix in ("", "-wal", "-journal"):
        files.beside(path, f"-new{suffix}").write_bytes(b"half a database")
    filled(path)
    assert {file.name for file in path.parent.iterdir()} == {"shop.sqlite", "shop.sqlite-lock"}
