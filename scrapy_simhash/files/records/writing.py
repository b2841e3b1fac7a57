"""open_writer(): write records to a file in the format of its name: JSON Lines, CSV, Parquet or WARC."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, datetime, time
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from scrapy_simhash.exceptions import KindError, failing
from scrapy_simhash.files.records.feeds import Row, TableRow, parquet_library
from scrapy_simhash.files.records.opening import CODECS, ending_of, is_remote
from scrapy_simhash.files.records.record import Record, extra
from scrapy_simhash.files.records.warc import WarcRecord
from scrapy_simhash.page.text import decode_html
from scrapy_simhash.replacement import STDOUT, writing
from scrapy_simhash.times import written

#: Fields that are added to a record, and the types of their values if they are not None: str, int, float, bool.
Marks: TypeAlias = "Mapping[str, type]"
Values: TypeAlias = "Mapping[str, str | int | float | bool | None]"


def fields_of(record: Record) -> Mapping[str, Any]:
    """Return *record* as the fields of a feed: the original ones, or URL, page and time."""
    if isinstance(record.source, Row):
        return record.source.fields
    if isinstance(record.source, TableRow):
        row: Mapping[str, Any] = record.source.batch.slice(record.source.number, 1).to_pylist()[0]
        return row
    # Decoded as a crawl decodes it.
    page = record.page if isinstance(record.page, str) else decode_html(record.page, record.content_type)
    fields: dict[str, Any] = {"url": record.url, "text" if record.is_text else "html": page}
    if record.seen is not None:
        fields["fetched"] = written(record.seen)
    return fields


class JsonLinesWriter:
    """Writes one object per line; without marks, the original line."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._stream = stream

    def write(self, record: Record, marks: Values | None) -> None:
        """Write a line."""
        source = record.source
        if marks is None and isinstance(source, Row) and source.line is not None:
            self._stream.write(source.line.rstrip(b"\r\n") + b"\n")
        else:
            self._stream.write(_json({**fields_of(record), **(marks or {})}) + b"\n")

    def close(self) -> None:
        """Do nothing: nothing is buffered."""


class CsvWriter:
    """Writes a CSV table; its columns are the fields of the first record, and the marks."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._text = TextIOWrapper(stream, "utf-8", "backslashreplace", newline="")
        self._writer = csv.writer(self._text)
        self._marks = marks or {}
        self._names: list[str] = []

    def write(self, record: Record, marks: Values | None) -> None:
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
        """Flush the buffer."""
        self._text.flush()
        self._text.detach()


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate, which JSON can escape but UTF-8 cannot contain.
        return json.dumps(value, default=_plain).encode("ascii")


def _plain(value: Any) -> Any:
    """Return a value of a column of Parquet for which JSON has no type."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _json(value).decode("utf-8") if isinstance(value, list | dict) else _plain(value)


#: Max rows, and max characters of pages, per row group, which is in memory.
ROWS = 4096
PAGES = 2 << 20
#: Rows after which the size of a page of a column is checked.
BATCH = 16


class ParquetWriter:
    """Writes rows in groups. All must have the columns of the first group."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._parquet, self._arrow = parquet_library()
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

    def write(self, record: Record, marks: Values | None) -> None:
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
        """Release the stream, also after an error; otherwise the garbage collector would write to it."""
        with suppress(Exception):
            self._writer.close()

    def _write_group(self) -> None:
        rows, self._rows, self._size = self._rows, [], 0
        place = rows[0][0].place if rows else ""
        try:
            table = self._table([record for record, _ in rows])
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise KindError(f"{place}: no row of one table, write JSON Lines instead: {error}") from None
        for field in self._marks:
            values = self._arrow.array([(marks or {}).get(field.name) for _, marks in rows], field.type)
            at = table.schema.get_field_index(field.name)
            table = table.append_column(field, values) if at < 0 else table.set_column(at, field, values)
        if self._writer is None:
            self._schema = table.schema
            # Without dictionaries and with small pages, since a reader has a page and the dictionary in memory.
            self._writer = self._parquet.ParquetWriter(
                self._stream, table.schema, use_dictionary=False, write_batch_size=BATCH
            )
        elif table.schema != self._schema:
            raise KindError(
                f"{place}: these rows have other columns than the first ones: write JSON Lines instead"
            )
        self._writer.write_table(table)

    def _table(self, records: list[Record]) -> Any:
        sources = [record.source for record in records if isinstance(record.source, TableRow)]
        if records and len(sources) == len(records):
            # The metadata of pandas describes the input file only.
            rows = [one.batch.slice(one.number, 1).replace_schema_metadata(None) for one in sources]
            return self._arrow.Table.from_batches(rows)
        values = [fields_of(record) for record in records]
        names = list(dict.fromkeys(name for row in values for name in row))
        columns = {name: self._column(name, [row.get(name) for row in values]) for name in names}
        return self._arrow.table(columns)

    def _column(self, name: str, values: list[Any]) -> Any:
        known = self._schema is not None and self._schema.get_field_index(name) >= 0
        column = self._arrow.array(values, self._schema.field(name).type if known else None)
        # A column without any value has no type.
        return column.cast("string") if column.type == self._arrow.null() else column


class WarcWriter:
    """Writes each record as a separate member, followed by a metadata record with its marks."""

    def __init__(
        self, stream: IO[bytes], marks: Marks | None, compress: Callable[[Any], Any] | None = None
    ) -> None:
        self._stream = stream
        self._compress = compress
        self._writer: Any = extra("WARC", "warcio.warcwriter").WARCWriter
        self._headers: Any = extra("WARC", "warcio.statusandheaders").StatusAndHeaders
        self._record: Any = extra("WARC", "warcio.recordloader").ArcWarcRecord

    def write(self, record: Record, marks: Values | None) -> None:
        """Write a record; one from an archive keeps its headers and its block."""
        source = record.source if isinstance(record.source, WarcRecord) else _made(record)
        self._append(source)
        if marks is not None:
            self._append(_metadata(record.url, source, marks))

    def close(self) -> None:
        """Do nothing: nothing is buffered."""

    def _append(self, record: WarcRecord) -> None:
        about = {name.lower(): value for name, value in record.headers}
        headers = self._headers("", list(record.headers), protocol=record.version)
        made = self._record(
            "warc",
            about["warc-type"],
            headers,
            BytesIO(record.block),
            None,
            about.get("content-type"),
            len(record.block),
        )
        if self._compress is None:
            self._writer(self._stream, gzip=False).write_record(made)
            return
        with self._compress(self._stream) as member:
            self._writer(member, gzip=False).write_record(made)


def _made(record: Record) -> WarcRecord:
    """Return a WARC record for a page from another file format; the same for the same page."""
    seen = record.seen or 0
    page = record.page
    if isinstance(page, str):
        # The byte order mark overrides the encoding named in the page. WET files have none.
        page = (b"" if record.is_text else b"\xef\xbb\xbf") + page.encode("utf-8", "replace")
    if record.is_text:
        return _new("conversion", record.url, seen, "text/plain", page)
    headers = {
        "Content-Type": record.content_type or "text/html",
        "Content-Language": record.content_language,
        "Content-Length": str(len(page)),
    }
    lines = (f"{name}: {_one_line(value)}\r\n" for name, value in headers.items() if value)
    block = f"HTTP/1.1 200 OK\r\n{''.join(lines)}\r\n".encode("latin-1", "replace") + page
    return _new("response", record.url, seen, "application/http; msgtype=response", block)


def _metadata(url: str, source: WarcRecord, marks: Values) -> WarcRecord:
    """Return the metadata record with the verdict on the page in *source*."""
    lines = (f"{name}: {_mark(value)}\r\n" for name, value in marks.items() if value is not None)
    block = "".join(lines).encode()
    about = {name.lower(): value for name, value in source.headers}
    record = _new("metadata", url, 0, "application/warc-fields", block)
    more = [("WARC-Refers-To", about["warc-record-id"])] if "warc-record-id" in about else []
    date_of = {"WARC-Date": about["warc-date"]} if "warc-date" in about else {}
    headers = [(name, date_of.get(name, value)) for name, value in record.headers]
    return record._replace(headers=[*headers, *more])


def _new(kind: str, url: str, seen: int, media: str, block: bytes) -> WarcRecord:
    headers = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {seen} {len(block)} {url}')}>"),
        ("WARC-Target-URI", _one_line(url)),
        # Required by the standard.
        ("WARC-Date", str(written(seen))),
        ("Content-Type", media),
        ("Content-Length", str(len(block))),
    ]
    return WarcRecord("WARC/1.1", headers, block)


def _mark(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())


#: By the ending of a name, before that of its compression.
WRITERS: Mapping[str, Callable[..., Any]] = {
    ".jsonl": JsonLinesWriter,
    ".jl": JsonLinesWriter,
    ".jsonlines": JsonLinesWriter,
    ".ndjson": JsonLinesWriter,
    ".csv": CsvWriter,
    ".parquet": ParquetWriter,
    ".warc": WarcWriter,
}


class RecordWriter:
    """Writes records to the output of `open_writer`."""

    def __init__(self, name: str, writer: Any, marks: Marks | None) -> None:
        self._name = name
        self._writer = writer
        self._marks = marks

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write *record*, with a value for each mark of the writer.

        Raises FileError on failure, and KindError for a record that this format cannot contain.
        """
        if (None if marks is None else [*marks]) != (None if self._marks is None else [*self._marks]):
            raise ValueError(f"the writer was opened for the marks {list(self._marks or ())}")
        with failing(f"write {self._name}"):
            self._writer.write(record, marks)


@contextmanager
def open_writer(path: str | Path, marks: Marks | None = None) -> Iterator[RecordWriter]:
    """Yield a writer for *path*. The file is written completely or not at all.

    The ending of the name decides the format (``.jsonl``, ``.csv``, ``.parquet``, ``.warc``), a second ending the
    compression (``.gz``, ``.zst``, ``.bz2``, ``.xz``). Standard output (``-``), pipes and devices get JSON Lines if
    their name has no such ending. *path* may be a URL of a file system of fsspec. *marks* are the fields to add to
    each record.

    Raises KindError if the format is unknown, needs an extra or allows no compression, and FileError if the file
    cannot be written.
    """
    path = str(path)
    ending, packed = ending_of(path)
    kind = WRITERS.get(ending)
    if kind is None and (path == STDOUT or _is_device(path)):
        kind = JsonLinesWriter
    if kind is None:
        raise KindError(f"{path}: the name of an output must end in one of {', '.join(WRITERS)}")
    if kind is ParquetWriter and packed:
        raise KindError(f"{path}: .parquet files are compressed already, drop the {packed}")
    name = "standard output" if path == STDOUT else path
    with ExitStack() as stack:
        stream: IO[bytes] = stack.enter_context(_remote(path) if is_remote(path) else writing(path))
        codec = CODECS[packed] if packed else None
        if kind is WarcWriter:
            writer: Any = WarcWriter(stream, marks, codec and codec.writer)
        else:
            writer = kind(stack.enter_context(codec.writer(stream)) if codec else stream, marks)
        if isinstance(writer, ParquetWriter):
            stack.callback(writer.end)
        yield RecordWriter(name, writer, marks)
        with failing(f"write {name}"):
            writer.close()
            stack.pop_all().close()


def _is_device(path: str) -> bool:
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()


@contextmanager
def _remote(path: str) -> Iterator[IO[bytes]]:
    """Yield a stream into a file of another file system, which appears once everything is written."""
    fsspec = extra("a URL of a file system", "fsspec")
    try:
        system, name = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise KindError(f"cannot write {path}: {error}") from error
    with failing(f"write {path}"), system.transaction, system.open(name, "wb") as stream:
        yield stream
