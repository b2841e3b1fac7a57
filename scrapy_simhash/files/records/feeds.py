"""Feeds and tables: JSON Lines, JSON arrays, CSV and Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from scrapy_simhash.files.records.opening import File
from scrapy_simhash.files.records.record import (
    LIMIT,
    TOO_LARGE,
    Broken,
    Fields,
    Found,
    PassedOver,
    Record,
    extra,
)

#: Delimiters of CSV files. The most frequent delimiter in the first line is used.
DELIMITERS = ",\t;"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Max bytes of a JSON array, which is read into memory.
ARRAY_LIMIT = 16 * LIMIT
#: Max rows of Parquet per batch, few because pages may be large.
ROWS = 4
#: Bytes that are read ahead per Parquet column. Without a buffer, a whole row group would be in memory.
COLUMN_BUFFER = 1 << 16


class Row(NamedTuple):
    """The record as read from a feed; a writer writes its fields again."""

    fields: Mapping[str, Any]
    line: bytes | None = None
    """The original line of JSON."""


class TableRow(NamedTuple):
    """The row as read from a Parquet table; a writer writes its columns again."""

    batch: Any
    """The RecordBatch of Arrow that contains it."""
    number: int


def json_lines(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the records of a feed with one object per line."""
    for number, line in enumerate(_lines_of(stream), 1):
        place = f"{file.name}:{number}"
        if len(line) > LIMIT:
            yield Broken(place, TOO_LARGE)
        elif line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                reason = "not valid UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
                # In a truncated file, the last line has no line feed.
                yield Broken(place, reason, is_rest=not line.endswith(b"\n"))
            else:
                yield _record(fields, place, value, line)


def json_array(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the records of a feed that is an array of objects, which is read into memory."""
    data = stream.read(ARRAY_LIMIT + 1)
    if len(data) > ARRAY_LIMIT:
        yield Broken(file.name, f"larger than {ARRAY_LIMIT >> 20} MB: convert it to JSON Lines", is_rest=True)
        return
    try:
        values = json.loads(data.decode("utf-8-sig"))
        if not isinstance(values, list):
            raise ValueError("it is a single value")
    except (ValueError, RecursionError) as error:
        yield Broken(file.name, f"not a JSON array: {error}", is_rest=True)
        return
    for number, value in enumerate(values, 1):
        yield _record(fields, f"{file.name}:{number}", value)


def csv_rows(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the records of a CSV table; its first row has the names."""
    # The default size limit of a field is too small for pages. The limit applies to the whole process.
    csv.field_size_limit(max(csv.field_size_limit(), LIMIT))
    lines = (line.decode("utf-8", "surrogateescape") for line in _lines_of(stream))
    first = next(lines, "")
    rows = csv.reader(chain((first,), lines), strict=True, delimiter=max(DELIMITERS, key=first.count))
    names: list[str] = []
    is_rest = False
    while not is_rest:
        place = f"{file.name}:{rows.line_num + 1}"
        try:
            row = next(rows)
            "".join(row).encode()
        except StopIteration:
            return
        except csv.Error as error:
            # After other errors, csv continues with the next row.
            is_rest = not names or "unexpected end" in str(error)
            yield Broken(place, f"not CSV: {error}", is_rest)
        except UnicodeEncodeError:
            yield Broken(place, "not valid UTF-8", is_rest := not names)
        else:
            if not names:
                names = row
            elif len(row) > len(names):
                yield Broken(place, f"{len(row)} fields, but {len(names)} names in the first row")
            elif row:
                values = dict(zip(names, row, strict=False))
                yield fields.record(place, values, Row(values))


def parquet_rows(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the records of a Parquet table. Only some rows are in memory, whatever the size of a row group."""
    parquet, lib = parquet_library()
    number = 0
    try:
        with parquet.ParquetFile(stream, buffer_size=COLUMN_BUFFER, pre_buffer=False) as table:
            wanted = fields.of_pages(table.schema_arrow.names)
            for batch in table.iter_batches(ROWS, use_threads=False):
                for at, values in enumerate(table_rows(batch.select(wanted))):
                    number += 1
                    place = f"{file.name}:{number}"
                    if any(isinstance(each, str | bytes) and len(each) > LIMIT for each in values.values()):
                        yield Broken(place, TOO_LARGE)
                    else:
                        yield fields.record(place, values, TableRow(batch, at))
    except (lib.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        yield Broken(f"{file.name}:{number + 1}", f"the Parquet data is damaged: {reason}", is_rest=True)


def table_rows(batch: Any) -> list[dict[str, Any]]:
    """Return the rows of a batch. Nanoseconds are truncated to microseconds, because a datetime has no nanoseconds.

    With pandas, pyarrow would return another type, and without it raise ValueError.
    """
    _, lib = parquet_library()
    kinds = [column.type for column in batch.columns]
    is_cut = [lib.types.is_timestamp(kind) and kind.unit == "ns" for kind in kinds]
    if any(is_cut):
        columns = [
            column.cast(lib.timestamp("us", kind.tz), safe=False) if cut else column
            for column, kind, cut in zip(batch.columns, kinds, is_cut, strict=True)
        ]
        batch = lib.RecordBatch.from_arrays(columns, batch.schema.names)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def parquet_library() -> tuple[Any, Any]:
    """Return the modules pyarrow.parquet and pyarrow."""
    # The default allocator keeps freed memory, 40 MB more for a row group of 32 MB. The allocator is chosen at the
    # first import.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return extra("Parquet", "pyarrow.parquet"), extra("Parquet", "pyarrow")


def _record(
    fields: Fields, place: str, value: Any, line: bytes | None = None
) -> Record | Broken | PassedOver:
    if not isinstance(value, dict):
        return Broken(place, "not a JSON object")
    return fields.record(place, value, Row(value, line))


def _lines_of(stream: Any) -> Iterator[bytes]:
    """Yield lines; for a line that is too long, yield only the beginning."""
    line = stream.readline(LIMIT + 1).removeprefix(BYTE_ORDER_MARK)
    while line:
        yield line
        while len(line) > LIMIT and not line.endswith(b"\n"):
            line = stream.readline(LIMIT + 1)
        line = stream.readline(LIMIT + 1)
