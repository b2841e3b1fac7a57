"""ParquetWriter: tables, in which a row that came from one keeps its columns and their types."""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records.extras import pyarrow
from scrapy_simhash.files.records.parquet import TableRow
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.files.records.writing.writer import Marks, Values, fields_of

#: A group of rows ends with so many of them, or so many characters of pages: memory for one of them.
ROWS = 4096
PAGES = 32 << 20


class ParquetWriter:
    """Writes rows in groups. All must have the columns of the first group."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._arrow: Any = pyarrow("pyarrow")
        self._parquet: Any = pyarrow("pyarrow.parquet")
        self._stream = stream
        names = {str: "string", int: "int64", float: "float64", bool: "bool_"}
        self._marks = [
            self._arrow.field(name, getattr(self._arrow, names[kind])())
            for name, kind in (marks or {}).items()
        ]
        self._rows: list[tuple[Record, Values | None]] = []
        self._size = 0
        self._schema: Any = None
        self._writer: Any = None

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Keep a row until its group is full."""
        self._rows.append((record, marks))
        self._size += len(record.page)
        if len(self._rows) >= ROWS or self._size >= PAGES:
            self._write_group()

    def close(self) -> None:
        """Write the last group, and the end of the table."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()

    def end(self) -> None:
        """Let go of the stream, after an error too: else the garbage collector would write to it."""
        with suppress(Exception):
            self._writer.close()

    def _write_group(self) -> None:
        rows, self._rows, self._size = self._rows, [], 0
        table = self._table(rows)
        marked = [(marks or {}).get for _, marks in rows]
        for field in self._marks:
            values = self._arrow.array([get(field.name) for get in marked], field.type)
            at = table.schema.get_field_index(field.name)
            table = table.append_column(field, values) if at < 0 else table.set_column(at, field, values)
        if self._writer is None:
            self._schema = table.schema
            self._writer = self._parquet.ParquetWriter(self._stream, table.schema)
        elif table.schema != self._schema:
            raise KindError(
                f"{rows[0][0].place}: these rows have other columns than the first ones: write JSON Lines instead"
            )
        self._writer.write_table(table)

    def _table(self, rows: list[tuple[Record, Values | None]]) -> Any:
        sources = [record.source for record, _ in rows]
        if sources and all(isinstance(source, TableRow) for source in sources):
            pieces = [
                source.batch.slice(source.number, 1) for source in sources if isinstance(source, TableRow)
            ]
            # What pandas noted about one file is not true of another.
            pieces = [piece.replace_schema_metadata(None) for piece in pieces]
            try:
                return self._arrow.Table.from_batches(pieces).combine_chunks()
            except self._arrow.ArrowInvalid:
                raise KindError(
                    f"{rows[0][0].place}: the tables have different columns: write JSON Lines instead"
                ) from None
        values = [fields_of(record) for record, _ in rows]
        names = list(dict.fromkeys(name for row in values for name in row))
        try:
            columns = [self._column(name, [row.get(name) for row in values]) for name in names]
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise KindError(f"{rows[0][0].place}: no column of a table: {error}") from None
        return self._arrow.table(dict(zip(names, columns, strict=True)))

    def _column(self, name: str, values: list[Any]) -> Any:
        known = self._schema is not None and self._schema.get_field_index(name) >= 0
        column = self._arrow.array(values, self._schema.field(name).type if known else None)
        # Of what is always missing nobody knows the type.
        return column.cast("string") if column.type == self._arrow.null() else column
