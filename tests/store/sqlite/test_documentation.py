"""What the page on the file says is so, and its questions have answers."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash.judge.rule import ClassicRule
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore, schema
from tests.docs.reader import DOCS, Block, blocks, sections, words
from tests.store.cases import FAR, content, posting
from tests.store.sqlite.stores import assert_sound, connected

PAGE = DOCS / "reference" / "sqlite-file.rst"


@pytest.fixture
def lived(path: Path) -> Path:
    """A store with something for every question to find."""
    # A run that was killed is one that another program forgot to close.
    with closing(SqliteStore(path)) as store:
        store.claim(posting("a", content(0), seen=1_700_000_000))
        store.claim(posting("b", content(2**63 | 0b11, edited=20), seen=1_700_000_001))
        store.claim(posting("c", content(2**64 - 1, text="x"), seen=1_700_000_002))
        store.claim(posting("d", content(FAR, text="y"), seen=1_700_000_003, is_delivered=False))
        store.claim(posting("c", content(2**63 - 1, text="z"), seen=1_700_000_004))
    return path


@pytest.mark.parametrize("block", list(blocks(PAGE, "sql")), ids=str)
def test_a_question_has_an_answer(block: Block, lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lived.parent)
    with connected(lived) as connection:
        rows = connection.execute(block.text).fetchall()
    if block.text.startswith("VACUUM"):
        assert_sound(Path("copy.sqlite"))
        with closing(SqliteStore("copy.sqlite")) as copy, closing(SqliteStore(lived)) as store:
            assert list(copy) == list(store)
    else:
        assert rows


def test_the_view_of_duplicates_says_what_the_store_says(lived: Path) -> None:
    with connected(lived) as connection:
        assert connection.execute("SELECT * FROM duplicates").fetchall() == [
            ("https://example.com/b", "https://example.com/a", 3, "8000000000000003", "2023-11-14 22:13:21")
        ]


@pytest.mark.parametrize("bits", [0, 1, 2**63, 2**64 - 1, FAR, 0x0123_4567_89AB_CDEF, 0xFFFF_FFFF])
@pytest.mark.parametrize("value", [0, 2**64 - 1, FAR, 0x8000_0000_7FFF_FFFF])
def test_the_view_of_duplicates_counts_bits(bits: int, value: int, path: Path) -> None:
    # With a rule that takes anything for alike.
    anything = Header("web-2", ClassicRule(63))
    with closing(SqliteStore(path, anything, blocks=64)) as store:
        store.claim(posting("a", value))
        # At 64 bits nothing is alike.
        other = bits ^ value if bits != 2**64 - 1 else value ^ 2**63 - 1
        claim = store.claim(posting("b", other))
    with connected(path) as connection:
        ((distance,),) = connection.execute("SELECT distance FROM duplicates").fetchall()
    assert distance == claim.distance


def test_every_table_and_column_is_described_and_no_other(path: Path) -> None:
    SqliteStore(path).close()
    told = {
        name: re.findall(r"^    \* - ``(\w+)``$", text, flags=re.MULTILINE)
        for name, text in sections(PAGE).items()
    }
    with connected(path) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            )
        ]
        there = {
            name: [column[1] for column in connection.execute(f"PRAGMA table_info({name})")] for name in names
        }
        header = {name for (name,) in connection.execute("SELECT name FROM header")}
    assert {name: columns for name, columns in told.items() if name in there} == there
    text = words(PAGE.read_text("utf-8"))
    assert header <= set(re.findall(r"``(\w+)``", text))
    assert f"``PRAGMA application_id`` is {schema.APPLICATION_ID} " in text
    assert f"is the version of the tables, {schema.VERSION}." in text
