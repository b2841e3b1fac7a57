"""open_writer(): a file that gets records, of the kind that its name says, or of the kind in which the first came.

Feeds are written here: JSON Lines, one JSON array, CSV, Parquet.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, datetime, time
from functools import partial
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import IO, Any

from scrapy_simhash.exceptions import KindError, failing
from scrapy_simhash.files.records.feeds import Row, TableRow
from scrapy_simhash.files.records.folder import PageFile
from scrapy_simhash.files.records.http import CacheEntry, WarcRecord
from scrapy_simhash.files.records.page_writers import FolderWriter, Marks, Values, WarcWriter, ZipWriter
from scrapy_simhash.files.records.record import Record, codec_of, pyarrow
from scrapy_simhash.page.text import decode_html
from scrapy_simhash.replacement import STDOUT, new_folder, writing
from scrapy_simhash.times import written


def fields_of(record: Record) -> Mapping[str, Any]:
    """Return *record* as the fields of a feed: those that it came with, or those that its page makes."""
    if isinstance(record.source, Row):
        return record.source.fields
    if isinstance(record.source, TableRow):
        row: Mapping[str, Any] = record.source.batch.slice(record.source.number, 1).to_pylist()[0]
        return row
    fields: dict[str, Any] = {"url": record.url, "text" if record.is_text else "html": text_of(record)}
    if record.seen is not None:
        fields["fetched"] = written(record.seen)
    return fields


def text_of(record: Record) -> str:
    """Return the page of *record*, decoded as a crawl decodes it."""
    if isinstance(record.page, str):
        return record.page
    return decode_html(record.page, record.content_type)


class JsonLinesWriter:
    """Writes an object a line; a line that came and gets no marks is written as it was."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._stream = stream

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a line."""
        source = record.source
        if marks is None and isinstance(source, Row) and source.line is not None:
            self._stream.write(source.line.rstrip(b"\r\n") + b"\n")
        else:
            self._stream.write(_json({**fields_of(record), **(marks or {})}) + b"\n")

    def close(self) -> None:
        """Nothing is left to be written."""


class JsonWriter:
    """Writes one array, an object a line."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._stream = stream
        self._gap = b"[\n"

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write an object."""
        self._stream.write(self._gap + _json({**fields_of(record), **(marks or {})}))
        self._gap = b",\n"

    def close(self) -> None:
        """Write the end of the array."""
        self._stream.write(b"[\n]\n" if self._gap.startswith(b"[") else b"\n]\n")


class CsvWriter:
    """Writes a table; its columns are the fields of the first record, and the marks."""

    def __init__(self, stream: IO[bytes], marks: Marks | None, delimiter: str = ",") -> None:
        self._text = TextIOWrapper(stream, "utf-8", "backslashreplace", newline="")
        self._writer = csv.writer(self._text, delimiter=delimiter)
        self._marks = marks or {}
        self._names: list[str] = []

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a row."""
        fields = fields_of(record)
        if not self._names:
            self._names = [name for name in fields if name not in self._marks]
            self._writer.writerow([*self._names, *self._marks])
        if not fields.keys() <= {*self._names, *self._marks}:
            name = next(name for name in fields if name not in self._names)
            raise KindError(
                f"{record.place}: {name!r} is no column of the table, which the first record has made:"
                " write JSON Lines instead"
            )
        values = [fields.get(name) for name in self._names] + [(marks or {})[name] for name in self._marks]
        self._writer.writerow(map(_cell, values))

    def close(self) -> None:
        """Write what waits."""
        self._text.flush()
        self._text.detach()


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain).encode("utf-8")
    except UnicodeEncodeError:
        # Half of a character, which JSON can name and UTF-8 cannot.
        return json.dumps(value, default=_plain).encode("ascii")


def _plain(value: Any) -> Any:
    """Return what JSON has no word for, as a column of Parquet may hold it."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _json(value).decode("utf-8") if isinstance(value, list | dict) else _plain(value)


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


#: By the ending of a name, before that of its compression.
ENDINGS: Mapping[str, Callable[[IO[bytes], Marks | None], Any]] = {
    ".jsonl": JsonLinesWriter,
    ".jl": JsonLinesWriter,
    ".jsonlines": JsonLinesWriter,
    ".ndjson": JsonLinesWriter,
    ".json": JsonWriter,
    ".csv": CsvWriter,
    ".tsv": partial(CsvWriter, delimiter="\t"),
    ".parquet": ParquetWriter,
    ".zip": ZipWriter,
}
#: These are compressed within, or by the record.
_NOT_COMPRESSED = (ParquetWriter, ZipWriter)


@contextmanager
def open_writer(path: str | Path, marks: Marks | None = None) -> Iterator[RecordWriter]:
    """Yield a writer for *path*; ``-`` is standard output. What it has written appears at the end, whole, or not.

    The kind is told by the ending of the name (``.jsonl``, ``.json``, ``.csv``, ``.tsv``, ``.parquet``, ``.warc``,
    ``.zip``, a slash for a folder), the compression by a further one (``.gz``, ``.zst``, ``.bz2``, ``.xz``). A name
    without one of them gets the kind in which the first record came. *marks* are fields to be added to each record.

    Raises FileError if it cannot be written, and KindError if the kind needs an extra or takes no compression.
    """
    writer = RecordWriter(str(path), marks)
    with writer._stack:
        if writer._ending:
            writer._open(writer._ending)
        yield writer
        writer._finish()


class RecordWriter:
    """Writes records to where `open_writer` has opened it."""

    def __init__(self, path: str, marks: Marks | None) -> None:
        self._path = path
        self._name = "standard output" if path == STDOUT else path
        self._marks = marks
        self._stack = ExitStack()
        self._writer: Any = None
        self._codec = codec_of(path)
        bare = path[: -len(self._codec.ending)] if self._codec else path
        self._ending = "/" if path.endswith(("/", "\\")) else PurePath(bare).suffix.lower()
        if self._ending not in (*ENDINGS, ".warc", "/"):
            self._ending = ""

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write *record*, with a value for each of the marks for which the writer was opened.

        Raises FileError if that does not work, and KindError for a record that this kind of file cannot hold.
        """
        if (marks is None) != (self._marks is None) or (
            marks is not None and self._marks is not None and marks.keys() != self._marks.keys()
        ):
            raise ValueError(f"the writer was opened for the marks {list(self._marks or ())}")
        if self._writer is None:
            self._open(self._kind_of(record))
        with failing(f"write {self._name}"):
            self._writer.write(record, marks)

    def _kind_of(self, record: Record) -> str:
        source = record.source
        if isinstance(source, Row):
            return source.ending
        if isinstance(source, TableRow):
            return ".parquet"
        if isinstance(source, WarcRecord):
            return ".warc"
        may_be_folder = self._path not in (STDOUT, os.devnull) and self._codec is None
        if isinstance(source, PageFile | CacheEntry) and may_be_folder:
            return "/"
        return ".jsonl"

    def _finish(self) -> None:
        """Write the end of what was begun, also if that was nothing."""
        if self._writer is None:
            self._open(".jsonl")
        with failing(f"write {self._name}"):
            self._writer.close()
            self._stack.pop_all().close()

    def _open(self, ending: str) -> None:
        codec = self._codec
        if ending == "/":
            folder = self._stack.enter_context(new_folder(self._path))
            self._writer = FolderWriter(folder, self._marks)
            self._stack.callback(self._writer.end)
            return
        kind = ENDINGS.get(ending)
        if codec and kind in _NOT_COMPRESSED:
            raise KindError(f"{self._path}: {ending} files are compressed already, drop the {codec.ending}")
        stream: IO[bytes] = self._stack.enter_context(writing(self._path))
        if kind is None:
            self._writer = WarcWriter(stream, self._marks, codec and codec.writer)
            return
        if codec:
            stream = self._stack.enter_context(codec.writer(stream))
        self._writer = kind(stream, self._marks)
        if isinstance(self._writer, ParquetWriter | ZipWriter):
            self._stack.callback(self._writer.end)
