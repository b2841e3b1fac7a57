"""Pages deduplicated by Spark, in local mode: the answers of dedup and of DuckDB."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_simhash.duckdb import deduplicate as deduplicate_by_duckdb
from scrapy_simhash.exceptions import KindError
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
    for part, (start, end) in enumerate([(0, 300), (300, len(records))]):
        file = tmp_path / f"pages-{part}.parquet"
        pq.write_table(table_of(records[start:end], start), file)
        by_duckdb = deduplicate_by_duckdb(f"SELECT * FROM '{file}'", tmp_path / "duckdb")
        by_spark = deduplicate(session.read.parquet(str(file)), str(tmp_path / "spark"))
        if part == 0:
            assert answers_in(by_spark) == answers_of_dedup(records[:end])
        assert by_spark.counts == by_duckdb.counts
        for table in by_spark.paths:
            rows = [sorted(rows_of(result, table), key=repr) for result in (by_spark, by_duckdb)]
            assert rows[0] == rows[1], table


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    frame = type("Frame", (), {"createOrReplaceTempView": lambda *_: None, "sparkSession": None})
    with pytest.raises(KindError, match=r"pip install 'scrapy-simhash\[spark\]'"):
        deduplicate(frame(), "out")
