"""What goes wrong on the page of questions really goes wrong in these words, and the advice helps."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_simhash import Config, StoreDamaged, StoreError, StoreLocked, StoreMismatch
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.policy import Protection
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore
from tests.docs.reader import DOCS, blocks, words

PAGE = DOCS / "faq.rst"
SHOWN = {block.name: words(block.text) for block in blocks(PAGE, "text")}


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")


def damaged(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


@pytest.mark.parametrize(
    ("name", "happens", "fault", "ours"),
    [
        ("older", older, StoreDamaged, Header()),
        ("settings", Path.exists, StoreMismatch, Header.of(Config(min_similarity=0.9), "")),
        ("damaged", damaged, StoreDamaged, Header()),
    ],
)
def test_a_store_is_refused_in_these_words(
    name: str, happens: Callable[[Path], object], fault: type[StoreError], ours: Header, tmp_path: Path
) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(SqliteStore(path, Header())), pytest.raises(StoreLocked) as raised:
        SqliteStore(path, Header())
    assert SHOWN["locked"] in str(raised.value)
    happens(path)
    with pytest.raises(fault, match=re.escape(SHOWN[name])):
        SqliteStore(path, ours)


def test_the_log_page_has_the_line_of_a_store_that_is_away() -> None:
    assert SHOWN[""] in words((DOCS / "reference" / "results.rst").read_text("utf-8"))


def test_each_exemption_is_named() -> None:
    text = PAGE.read_text("utf-8")
    for reason in Protection:
        assert f"``{reason.value}``" in text or reason is Protection.ITSELF
    assert set(PROTECTIONS) <= set(re.findall(r"``(\w+)``", text))
