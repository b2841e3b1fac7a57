"""The SQL functions, and the queries in the documentation."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash.judge.rule import ClassicRule
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore
from tests.docs.reader import DOCS, Block, blocks
from tests.store.cases import FAR, content, posting
from tests.store.sqlite.stores import assert_sound, connected

STORES = DOCS / "how-to" / "stores.rst"
SQL = DOCS / "how-to" / "sql.rst"
QUERIES = {block.name: block.text for block in blocks(SQL, "sql")}
WANTED = 2**63 | 0xF0F0


def signed(value: int) -> int:
    return value - 2**64 if value >> 63 else value


# --- The documented queries.


def test_duckdb_counts_bits() -> None:
    duckdb = pytest.importorskip("duckdb")
    values = {f"{bits}": WANTED ^ (2**bits - 1) for bits in (0, 1, 3, 4, 20, 64)}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE documents (id VARCHAR, signature BIGINT)")
        rows = [(key, signed(value)) for key, value in values.items()]
        connection.executemany("INSERT INTO documents VALUES (?, ?)", rows)
        found = connection.execute(QUERIES["duckdb"], [signed(WANTED)] * 2).fetchall()
    assert sorted(found) == [("0", 0), ("1", 1), ("3", 3)]


# --- The page about the file.


@pytest.fixture
def filled(path: Path) -> Path:
    """A store with results for every query."""
    # One run is left without an end, as after a kill.
    with closing(SqliteStore(path)) as store:
        store.claim(posting("a", content(0), seen=1_700_000_000))
        store.claim(posting("b", content(2**63 | 0b11, edited=20), seen=1_700_000_001))
        store.claim(posting("c", content(2**64 - 1, text="x"), seen=1_700_000_002))
        store.claim(posting("d", content(FAR, text="y"), seen=1_700_000_003))
        store.deliver({b"a": None})
        store.claim(posting("c", content(2**63 - 1, text="z"), seen=1_700_000_004))
    return path


@pytest.mark.parametrize(
    "block", [block for page in (SQL, STORES) for block in blocks(page, "sql") if not block.name], ids=str
)
def test_each_documented_query_returns_rows(
    block: Block, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled.parent)
    with connected(filled) as connection:
        rows = connection.execute(block.text).fetchall()
    if block.text.startswith("VACUUM"):
        assert_sound(Path("copy.sqlite"))
        with closing(SqliteStore("copy.sqlite")) as copy, closing(SqliteStore(filled)) as store:
            assert list(copy) == list(store)
    else:
        assert rows


def test_the_view_of_duplicates_agrees_with_the_store(filled: Path) -> None:
    with connected(filled) as connection:
        assert connection.execute("SELECT * FROM duplicates").fetchall() == [
            ("https://example.com/b", "https://example.com/a", 3, "8000000000000003", "2023-11-14 22:13:21")
        ]


@pytest.mark.parametrize("bits", [0, 1, 2**63, 2**64 - 1, FAR, 0x0123_4567_89AB_CDEF, 0xFFFF_FFFF])
@pytest.mark.parametrize("value", [0, 2**64 - 1, FAR, 0x8000_0000_7FFF_FFFF])
def test_the_view_of_duplicates_counts_bits(bits: int, value: int, path: Path) -> None:
    # With a rule that matches everything.
    anything = Header("web-4", ClassicRule(63))
    with closing(SqliteStore(path, anything, blocks=64)) as store:
        store.claim(posting("a", value))
        # At 64 bits nothing matches.
        other = bits ^ value if bits != 2**64 - 1 else value ^ 2**63 - 1
        claim = store.claim(posting("b", other))
    with connected(path) as connection:
        ((distance,),) = connection.execute("SELECT distance FROM duplicates").fetchall()
    assert (distance, type(distance)) == (claim.distance, int)
