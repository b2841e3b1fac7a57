"""Whatever a kill leaves of a journal, the next run gives the same, and reads no page that is in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash.files.batch import Journal, JournalMismatch, Options, Run, Step
from scrapy_simhash.files.batch.page import PageReader
from scrapy_simhash.files.records import Broken, Record
from tests.files.batch.pages import records_of
from tests.files.batch.test_run import facts_of

FACTS = {"settings": "default", "inputs": ["pages.jsonl"]}


def run_with(
    path: Path, records: Sequence[Record | Broken], facts: dict[str, Any] = FACTS, **options: Any
) -> list[Step]:
    journal = Journal(path, facts)
    try:
        return list(Run(lambda: iter(records), Options(**options), journal=journal).steps())
    finally:
        journal.close()


@pytest.mark.parametrize(
    "options",
    [
        {"protect": True},
        {"two_pass": True, "keep": "preferred"},
        pytest.param(
            {"two_pass": True, "processes": 2}, marks=pytest.mark.slow("starts processes three times")
        ),
    ],
    ids=str,
)
def test_a_run_goes_on_from_any_byte(
    tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = records_of(70, 11, broken=0.03, text=0.03)
    path = tmp_path / "out.journal"
    whole = facts_of(run_with(path, records, **options))
    content = path.read_bytes()
    random = Random(0)
    begin = content.index(b"\n") + 1
    ends = [0, begin - 1, begin, begin + 3, len(content) - 1, len(content)]
    ends += [random.randrange(begin, len(content)) for _ in range(3)]
    if "processes" in options:
        ends = [len(content) // 2]
    for end in ends:
        path.write_bytes(content[:end])
        assert facts_of(run_with(path, records, **options)) == whole
        assert path.read_bytes() == content
    # And nothing is read twice.
    monkeypatch.setattr(PageReader, "read", None)
    assert facts_of(run_with(path, records, **options)) == whole


def test_what_follows_a_damaged_entry_is_read_again(tmp_path: Path) -> None:
    records = records_of(60, 2)
    path = tmp_path / "out.journal"
    whole = facts_of(run_with(path, records))
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    assert facts_of(run_with(path, records)) == whole
    assert path.read_bytes() == content


def test_a_journal_of_another_batch_is_refused_and_left_alone(tmp_path: Path) -> None:
    records = records_of(10)
    path = tmp_path / "out.journal"
    run_with(path, records)
    content = path.read_bytes()
    with pytest.raises(JournalMismatch, match=r"other inputs or settings \(settings\)"):
        run_with(path, records, {**FACTS, "settings": "others"})
    assert path.read_bytes() == content


def test_a_record_that_has_changed_is_refused(tmp_path: Path) -> None:
    records = records_of(10)
    path = tmp_path / "out.journal"
    run_with(path, records)
    records[3], records[4] = records[4], records[3]
    with pytest.raises(JournalMismatch, match="pages:5 is not what it was"):
        run_with(path, records)


def test_another_file_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "out.journal"
    path.write_bytes(b"something else\n")
    with pytest.raises(JournalMismatch):
        run_with(path, records_of(3))
    assert path.read_bytes() == b"something else\n"
