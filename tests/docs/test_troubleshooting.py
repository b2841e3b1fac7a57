"""What goes wrong on the page of troubles really goes wrong in these words, and the advice helps."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from scrapy_simhash import Config, NearDuplicateDetector, StoreDamaged, StoreError, StoreLocked, StoreMismatch
from scrapy_simhash.config import PROTECTIONS
from scrapy_simhash.judge.policy import Exemption
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore
from tests.docs.reader import DOCS, blocks, entries, words
from tests.golden.texts import TEXTS

PAGE = DOCS / "troubleshooting.rst"
FAQ = DOCS / "faq.rst"
SHOWN = {block.name: words(block.text) for block in blocks(PAGE, "text")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a store that was made and closed."""
    made = tmp_path / "shop.sqlite"
    SqliteStore(made, Header()).close()
    return made


def fault(path: Path, wanted: type[StoreError], header: Header | None = None) -> str:
    """Return what is said when the store at *path* is opened."""
    with pytest.raises(wanted) as raised:
        SqliteStore(path, header or Header())
    return str(raised.value)


def test_a_store_of_an_older_release_is_refused_in_these_words(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert SHOWN["older"] in fault(path, StoreDamaged)


def test_a_store_of_other_settings_is_refused_in_these_words(path: Path) -> None:
    ours = Header.of(Config(min_similarity=0.9), "")
    assert SHOWN["settings"] in fault(path, StoreMismatch, ours)


def test_a_store_that_is_written_to_is_refused_in_these_words(path: Path) -> None:
    store = SqliteStore(path, Header())
    try:
        assert SHOWN["locked"] in fault(path, StoreLocked)
    finally:
        store.close()


def test_a_damaged_store_is_refused_in_these_words(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)
    assert SHOWN["damaged"] in fault(path, StoreDamaged)


def test_the_log_page_has_the_line_of_a_store_that_is_away() -> None:
    assert SHOWN[""] in words((DOCS / "reference" / "log-and-flags.rst").read_text("utf-8"))


def test_the_stats_of_the_page_exist_and_each_exemption_is_named() -> None:
    text = PAGE.read_text("utf-8")
    known = words(
        " ".join(f"{name} {told}" for name, told in entries(DOCS / "reference" / "stats.rst").items())
    )
    for stat in re.findall(r"``(simhash/[\w/]+)``", text):
        assert stat in known, stat
    for reason in Exemption:
        assert f"``{reason.value}``" in text or reason is Exemption.ITSELF
    assert set(PROTECTIONS) <= set(re.findall(r"``(\w+)``", text))


def test_a_stricter_threshold_parts_what_the_default_merges() -> None:
    """The advice for pages that are merged: the same two pages with the value that the page names."""
    story = TEXTS["en"]
    changed = story.replace(" the ", " this ", 1)
    pages = [f"<title>Fog</title><p>{text}" for text in (story, changed)]

    def statuses(config: Config) -> list[str]:
        detector = NearDuplicateDetector(config)
        return [detector.check(page, f"https://example.com/{n}").status.value for n, page in enumerate(pages)]

    assert statuses(Config()) == ["new", "near_duplicate"]
    assert statuses(Config(min_similarity=0.99)) == ["new", "new"]
