"""Pages deduplicated by Spark, in local mode: the answers of dedup and of DuckDB."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash import Config
from scrapy_simhash.duckdb import deduplicate as deduplicate_by_duckdb
from scrapy_simhash.exceptions import KindError
from scrapy_simhash.spark import deduplicate
from tests.engines.pages import answers_in, answers_of_dedup, pages, pq, rows_of, table_of

pyspark: Any = pytest.importorskip("pyspark.sql")

pytestmark = [
    pytest.mark.slow("starts Spark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    builder = pyspark.SparkSession.builder.master("local[2]")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.shuffle.partitions": "2",
        "spark.pyspark.python": sys.executable,
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_two_runs_give_the_answers_of_dedup_and_of_duckdb(session: Any, tmp_path: Path) -> None:
    # What is learned of sites by the later pages, no earlier one knows.
    records, config = pages(300), Config(site_learning=False)
    for part, (start, end) in enumerate([(0, 200), (200, len(records))]):
        file = tmp_path / f"pages-{part}.parquet"
        pq.write_table(table_of(records[start:end], start), file)
        by_duckdb = deduplicate_by_duckdb(f"SELECT * FROM '{file}'", tmp_path / "duckdb", config=config)
        by_spark = deduplicate(session.read.parquet(str(file)), str(tmp_path / "spark"), config=config)
    assert answers_in(by_spark) == answers_of_dedup(records, config)
    assert by_spark.counts == by_duckdb.counts
    for table in by_spark.paths:
        assert ordered(rows_of(by_spark, table)) == ordered(rows_of(by_duckdb, table)), table


def test_what_sites_repeat_is_learned_first(session: Any, tmp_path: Path) -> None:
    records = pages(300)
    pq.write_table(table_of(records), tmp_path / "pages.parquet")
    result = deduplicate(session.read.parquet(str(tmp_path / "pages.parquet")), str(tmp_path / "spark"))
    assert answers_in(result) == answers_of_dedup(records)


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=repr)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    frame = type("Frame", (), {"createOrReplaceTempView": lambda *_: None, "sparkSession": None})
    with pytest.raises(KindError, match=r"pip install 'scrapy-simhash\[spark\]'"):
        deduplicate(frame(), "out")
