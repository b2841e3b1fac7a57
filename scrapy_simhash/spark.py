"""Deduplicate pages with Spark on many machines. Needs the extra ``spark``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrapy_simhash.config import Config
from scrapy_simhash.files.engines.run import Engine, Mapper, Result
from scrapy_simhash.files.engines.sql import Table, arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def deduplicate(pages: DataFrame, folder: str, *, config: Config | None = None) -> Result:
    """Deduplicate *pages* as ``dedup --two-pass`` does, and write the tables to *folder*.

    All executors must be able to access *folder*. Columns and ids are those of `scrapy_simhash.duckdb.deduplicate`.
    *pages* is evaluated twice and must return the same pages both times, so read them from files. The function
    creates temporary views in the session, whose names begin with ``simhash_``.
    """
    arrow()
    pages.createOrReplaceTempView("simhash_pages")
    engine = _Spark(folder.rstrip("/"), config or Config(), pages.sparkSession)
    return engine.deduplicate(dict(pages.dtypes))


class _Spark(Engine):
    # For 10^10 pages, Spark shuffles about 400 GB per key.
    keys_at_once = 15
    hash_function = "xxhash64"

    def __init__(self, folder: str, config: Config, session: Any) -> None:
        super().__init__(folder, config)
        self._session = session
        # Schemas of written tables, so that Spark does not start a job to infer each schema.
        self._schemas: dict[str, Any] = {}

    def view(self, name: str, paths: Sequence[str]) -> None:
        reader = self._session.read
        if paths[-1] in self._schemas:
            reader = reader.schema(self._schemas[paths[-1]])
        reader.parquet(*paths).createOrReplaceTempView(name)

    def write(self, path: str, sql: str) -> None:
        self._write(path, self._session.sql(sql))

    def write_mapped(
        self, path: str, sql: str, function: Mapper, table: Table, by: Sequence[str] = (), hidden: int = 0
    ) -> None:
        rows = self._session.sql(sql)
        if by:
            rows = rows.repartition(by[0]).sortWithinPartitions(*by)
        # Columns may have equal names; functions read them by position.
        rows = rows.toDF(*(f"column{place}" for place in range(len(rows.columns))))
        rows = rows.select(*rows.columns[: len(rows.columns) - hidden])
        self._write(path, rows.mapInArrow(function, table.ddl))

    def numbers(self, sql: str) -> tuple[int, ...]:
        return tuple(int(value or 0) for value in self._session.sql(sql).first())

    def _write(self, path: str, rows: Any) -> None:
        rows.write.mode("overwrite").parquet(path, compression="zstd")
        self._schemas[path] = rows.schema
