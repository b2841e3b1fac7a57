"""Pages deduplicated by Spark, in local mode: the results of dedup and of DuckDB."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.duckdb import deduplicate as deduplicate_by_duckdb
from scrapy_simhash.spark import deduplicate
from tests.files.engines.pages import answers_in, answers_of_dedup, pages, pq, rows_of, table_of

pyspark: Any = pytest.importorskip("pyspark.sql")

pytestmark = [
    pytest.mark.slow("starts Spark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java: apt install default-jre-headless"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = pyspark.SparkSession.builder.master("local[2]")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.shuffle.partitions": "1",
        # Compiling takes longer than these queries.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.pyspark.python": sys.executable,
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_verdicts_and_clusters_are_those_of_dedup_and_of_duckdb(session: Any, tmp_path: Path) -> None:
    records = pages(340)
    file = tmp_path / "pages.parquet"
    pq.write_table(table_of(records), file)
    by_duckdb = deduplicate_by_duckdb(f"SELECT * FROM '{file}'", tmp_path / "duckdb")
    by_spark = deduplicate(session.read.parquet(str(file)), str(tmp_path / "spark"))
    assert answers_in(by_spark) == answers_of_dedup(records)
    assert by_spark.counts == by_duckdb.counts
    for table in by_spark.paths:
        rows = [sorted(rows_of(result, table), key=repr) for result in (by_spark, by_duckdb)]
        assert rows[0] == rows[1], table
    # One engine reads the fingerprints that the other has written.
    fingerprints = session.read.parquet(by_duckdb.paths["fingerprints"])
    again = deduplicate(fingerprints, str(tmp_path / "again"))
    assert answers_in(again) == answers_in(by_duckdb)
