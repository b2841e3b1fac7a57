"""Deduplicate pages with DuckDB on one machine. The pages need not fit into memory. Needs the extra ``duckdb``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.engines.run import Engine, Mapper, Result
from scrapy_simhash.files.engines.sql import Table, arrow
from scrapy_simhash.files.replacement import taking_place
from scrapy_simhash.files.workers import Workers, workers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Max rows per call to a mapper, few because pages may be large, and min rows per write.
_READ_ROWS, _WRITTEN_ROWS = 1_000, 50_000


def deduplicate(
    pages: str,
    folder: str | Path,
    *,
    config: Config | None = None,
    connection: DuckDBPyConnection | None = None,
    processes: int = 1,
) -> Result:
    """Deduplicate the result of the query *pages* as ``dedup --two-pass`` does, and write the tables to *folder*.

    *pages* has the columns ``id`` (a whole number of 0 or more that orders the pages), ``url``, and ``html`` or
    ``text``. The columns ``scope``, ``content_type`` and ``content_language`` are optional. If *pages* has all
    columns of the table ``fingerprints`` of an earlier run, pages are not read again. Tables in the folder are
    replaced.

    *connection* is an existing connection, to query tables of a database or to limit memory. The function creates
    temporary views in this connection, with names that begin with ``simhash_``. *processes* is the number of
    processes that read pages; it does not change the result.
    """
    folder = Path(folder).absolute()
    with ExitStack() as stack:
        if connection is None:
            connection = stack.enter_context(closing(_duckdb().connect()))
            connection.execute(f"SET temp_directory = {_text(folder / 'work')}")
        started = stack.enter_context(workers(processes)) if processes > 1 else None
        connection.execute(f"CREATE OR REPLACE TEMP VIEW simhash_pages AS {pages}")
        columns = {row[0]: row[1] for row in connection.execute("DESCRIBE simhash_pages").fetchall()}
        return _DuckDB(str(folder), config or Config(), connection, started).deduplicate(columns)


class _DuckDB(Engine):
    def __init__(self, folder: str, config: Config, connection: Any, started: Workers | None = None) -> None:
        super().__init__(folder, config)
        self._connection = connection
        self._workers = started

    def view(self, name: str, paths: Sequence[str]) -> None:
        files = ", ".join(map(_text, paths))
        self._connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM read_parquet([{files}])"
        )

    def write(self, path: str, sql: str) -> None:
        with _replacing(path) as making:
            options = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2"
            self._connection.execute(f"COPY ({sql}) TO {_text(making)} ({options})")

    def write_mapped(
        self, path: str, sql: str, function: Mapper, table: Table, by: Sequence[str] = (), hidden: int = 0
    ) -> None:
        if by:
            sql = f"SELECT * FROM ({sql}) ORDER BY {', '.join(by)}"
        reader = self._connection.sql(sql).to_arrow_reader(_READ_ROWS)
        shown = range(len(reader.schema) - hidden)
        rows = (batch.select(shown) for batch in reader)
        if by or self._workers is None:
            batches = function(rows)
        else:
            batches = chain.from_iterable(self._workers.in_order(rows, partial(_mapped, function)))
        schema = table.arrow()
        with (
            _replacing(path) as making,
            import_module("pyarrow.parquet").ParquetWriter(making, schema, compression="zstd") as writer,
        ):
            waiting: list[Any] = []
            for batch in chain(batches, (None,)):
                if batch is not None:
                    waiting.append(batch)
                if batch is None or sum(map(len, waiting)) >= _WRITTEN_ROWS:
                    writer.write_table(arrow().Table.from_batches(waiting, schema))
                    waiting = []

    def numbers(self, sql: str) -> tuple[int, ...]:
        (row,) = self._connection.execute(sql).fetchall()
        return tuple(int(value or 0) for value in row)


def _mapped(function: Mapper, batch: Any) -> list[Any]:
    return list(function(iter((batch,))))


@contextmanager
def _replacing(path: str) -> Iterator[str]:
    """Yield the path of a new file that replaces *path* at the end; its folder is created if needed."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with taking_place(path) as making:
        yield str(making)


def _text(value: object) -> str:
    """Return *value* as an SQL string literal."""
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"


def _duckdb() -> Any:
    arrow()
    try:
        return import_module("duckdb")
    except ImportError:
        raise KindError("scrapy_simhash.duckdb needs duckdb: pip install 'scrapy-simhash[duckdb]'") from None
