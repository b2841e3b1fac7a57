"""Generated pages as a table, and the expected results of dedup, the same for every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scrapy_simhash import Config, cluster, dedup
from scrapy_simhash.files.engines.run import Result
from scrapy_simhash.files.records import Broken, Record
from tests.files.batch.pages import records_of

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")


class Answers(NamedTuple):
    verdicts: list[tuple[object, ...]]
    """Result of each page, without the number of its cluster, which depends on the engine."""
    clusters: list[tuple[tuple[str, ...], str]]
    """Members and preferred URL."""


def pages(number: int, seed: int = 0) -> list[Record]:
    return [record for record in records_of(number, seed) if not isinstance(record, Broken)]


def table_of(records: list[Record], first: int = 0) -> Any:
    ids = list(range(first, first + len(records)))
    return pa.table(
        {"id": ids, "url": [page.url for page in records], "html": [page.page for page in records]}
    )


def answers_of_dedup(records: list[Record], config: Config | None = None) -> Answers:
    outcomes = dedup(records, mark=True, two_pass=True, config=config)
    verdicts = [_without_cluster(outcome.fields) for outcome in outcomes]
    found = cluster(records, two_pass=True, config=config)
    return Answers(verdicts, [(group.members, group.preferred) for group in found])


def answers_in(result: Result) -> Answers:
    verdicts = sorted(rows_of(result, "verdicts"), key=lambda row: row["id"])
    clusters = sorted(rows_of(result, "clusters"), key=lambda row: row["cluster"])
    for row in verdicts:
        del row["id"], row["url"]
    return Answers(
        [_without_cluster(row) for row in verdicts],
        [(tuple(row["members"]), row["preferred"]) for row in clusters],
    )


def rows_of(result: Result, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    path = Path(result.paths[table])
    # Spark writes a folder instead of a file.
    for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        rows += pq.read_table(file).to_pylist()
    return rows


def _without_cluster(fields: dict[str, Any]) -> tuple[object, ...]:
    return tuple(value for name, value in fields.items() if name != "simhash_cluster")
