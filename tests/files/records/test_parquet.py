"""Tables in Parquet, written by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.files.records import Broken, Record, feeds
from tests.files.records.pages import FERRY, URL, found, reasons

pytest.importorskip("pyarrow")

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=40)
    return path


def test_a_wrong_or_too_large_row_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "LIMIT", 1_000)
    path = table(tmp_path / "pages.parquet", url=[URL, "none", URL], html=["x" * 2_000, FERRY, FERRY])
    assert [type(one) for one in found(path)] == [Broken, Broken, Record]


def test_a_truncated_or_damaged_table_is_broken(tmp_path: Path) -> None:
    rows = 500
    path = table(tmp_path / "pages.parquet", url=[f"{URL}/{at}" for at in range(rows)], html=[FERRY] * rows)
    content = bytearray(path.read_bytes())
    path.write_bytes(content[: len(content) // 2])
    (reason,) = reasons(path)
    assert reason.startswith(":1 the Parquet data is damaged: ")
    for start in range(40, len(content), len(content) // 12):
        damaged = content.copy()
        damaged[start : start + 40] = b"\xff" * 40
        path.write_bytes(damaged)
        assert all("Parquet" in messages or "URL" in messages for messages in reasons(path))
