"""open_writer(): write records as JSON Lines, CSV, Parquet or WARC, according to the file extension."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import date, datetime, time
from io import BytesIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias

from scrapy_simhash.exceptions import KindError, failing
from scrapy_simhash.files.records.feeds import Row, TableRow, parquet_library, table_rows
from scrapy_simhash.files.records.opening import CODECS, Codec, ending_of, is_remote
from scrapy_simhash.files.records.record import Record, extra
from scrapy_simhash.files.records.warc import WarcRecord
from scrapy_simhash.files.replacement import STDOUT, writing
from scrapy_simhash.page.text import decode_html
from scrapy_simhash.times import written

#: Fields that are added to a record, and the types of their values except None: str, int, float, bool.
Marks: TypeAlias = "Mapping[str, type]"
Values: TypeAlias = "Mapping[str, str | int | float | bool | None]"


def fields_of(record: Record) -> Mapping[str, Any]:
    """Return *record* as the fields of a feed: the original fields, or URL, page and time."""
    if isinstance(record.source, Row):
        return record.source.fields
    if isinstance(record.source, TableRow):
        return table_rows(record.source.batch.slice(record.source.number, 1))[0]
    # The page is decoded as in a crawl.
    page = record.page if isinstance(record.page, str) else decode_html(record.page, record.content_type)
    fields: dict[str, Any] = {"url": record.url, "text" if record.is_text else "html": page}
    if record.seen is not None:
        fields["fetched"] = written(record.seen)
    return fields


class JsonLinesWriter:
    """Writes one object per line, or the original line without marks."""

    def __init__(self, stream: IO[bytes], marks: Marks) -> None:
        self._stream = stream

    def write(self, record: Record, marks: Values) -> None:
        """Write a line."""
        source = record.source
        if not marks and isinstance(source, Row) and source.line is not None:
            self._stream.write(source.line.rstrip(b"\r\n") + b"\n")
        else:
            self._stream.write(_json({**fields_of(record), **marks}) + b"\n")

    def close(self) -> None:
        """Do nothing, because nothing is buffered."""


class CsvWriter:
    """Writes a CSV table; its columns are the fields of the first record, and the marks."""

    def __init__(self, stream: IO[bytes], marks: Marks) -> None:
        self._text = TextIOWrapper(stream, "utf-8", "backslashreplace", newline="")
        self._writer: csv.DictWriter[str] | None = None

    def write(self, record: Record, marks: Values) -> None:
        """Write a row."""
        fields = {**fields_of(record), **marks}
        if self._writer is None:
            self._writer = csv.DictWriter(self._text, list(fields))
            self._writer.writeheader()
        if unknown := fields.keys() - self._writer.fieldnames:
            raise KindError(
                f"{record.place}: {min(unknown)!r} is not a column, because the first record does not have it:"
                " write JSON Lines instead"
            )
        self._writer.writerow({name: _cell(value) for name, value in fields.items()})

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
    """Return a JSON value for a Parquet *value* without a JSON type."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _json(value).decode("utf-8") if isinstance(value, list | dict) else _plain(value)


#: Max rows, and max characters of pages, per row group. A row group is in memory.
ROWS = 4096
PAGES = 2 << 20
#: Rows after which the size of a Parquet data page is checked.
BATCH = 16
_TYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}


class ParquetWriter:
    """Writes rows in groups. All groups must have the columns of the first group."""

    def __init__(self, stream: IO[bytes], marks: Marks) -> None:
        self._parquet, self._arrow = parquet_library()
        self._stream = stream
        self._marks = {name: self._arrow.type_for_alias(_TYPES[kind]) for name, kind in marks.items()}
        self._rows: list[tuple[Record, Values]] = []
        self._size = 0
        self._writer: Any = None

    def write(self, record: Record, marks: Values) -> None:
        """Keep a row until its group is full."""
        self._rows.append((record, marks))
        self._size += len(record.page)
        if len(self._rows) >= ROWS or self._size >= PAGES:
            self._write_group()

    def close(self) -> None:
        """Write the last row group and the footer of the Parquet file."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()

    def end(self) -> None:
        """Release the stream, even after an error; otherwise the garbage collector would write to it."""
        with suppress(Exception):
            self._writer.close()

    def _write_group(self) -> None:
        rows, self._rows, self._size = self._rows, [], 0
        place = rows[0][0].place if rows else ""
        try:
            table = self._table([record for record, _ in rows])
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise KindError(
                f"{place}: its values do not fit one table ({error}): write JSON Lines instead"
            ) from None
        for name, kind in self._marks.items():
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, self._arrow.array([marks[name] for _, marks in rows], kind))
        if self._writer is None:
            # Write small data pages and no dictionaries, because a reader keeps a data page and the dictionary in
            # memory.
            self._writer = self._parquet.ParquetWriter(
                self._stream, table.schema, use_dictionary=False, write_batch_size=BATCH
            )
        elif table.schema != self._writer.schema:
            raise KindError(
                f"{place}: the columns of these rows differ from those of the first rows: write JSON Lines instead"
            )
        self._writer.write_table(table)

    def _table(self, records: list[Record]) -> Any:
        sources = [record.source for record in records if isinstance(record.source, TableRow)]
        if records and len(sources) == len(records):
            # The metadata of pandas describes only the input file.
            rows = [one.batch.slice(one.number, 1).replace_schema_metadata(None) for one in sources]
            return self._arrow.Table.from_batches(rows)
        values = [fields_of(record) for record in records]
        columns = {name: self._column(name, values) for name in dict.fromkeys(chain.from_iterable(values))}
        return self._arrow.table(columns)

    def _column(self, name: str, rows: list[Mapping[str, Any]]) -> Any:
        schema = self._writer.schema if self._writer is not None else self._arrow.schema([])
        kind = schema.field(name).type if name in schema.names else None
        column = self._arrow.array([row.get(name) for row in rows], kind)
        # A column without any value has no type.
        return column.cast("string") if column.type == self._arrow.null() else column


class WarcWriter:
    """Writes each record, followed by a metadata record with its marks."""

    def __init__(self, stream: IO[bytes], marks: Marks, codec: Codec | None = None) -> None:
        self._stream, self._codec = stream, codec
        self._writer: Any = extra("WARC", "warcio.warcwriter").WARCWriter
        self._make: Any = self._writer(None, warc_version="1.1").create_warc_record
        self._headers: Any = extra("WARC", "warcio.statusandheaders").StatusAndHeaders

    def write(self, record: Record, marks: Values) -> None:
        """Write a record. A record from an archive keeps its headers and its block."""
        source = record.source
        made = self._copy(source) if isinstance(source, WarcRecord) else self._made(record)
        self._append(made)
        if marks:
            self._append(self._metadata(record.url, made.rec_headers.get_header, marks))

    def close(self) -> None:
        """Do nothing, because nothing is buffered."""

    def _append(self, made: Any) -> None:
        # Each record is compressed separately, as the standard requires.
        with self._codec(self._stream, "wb") if self._codec else nullcontext(self._stream) as member:
            self._writer(member, gzip=False).write_record(made)

    def _copy(self, source: WarcRecord) -> Any:
        kind, block = source.about["warc-type"], BytesIO(source.block)
        headers = self._headers("", list(source.headers), protocol=source.version)
        return self._make("", kind, block, len(source.block), warc_headers=headers)

    def _made(self, record: Record) -> Any:
        """Return a record for a page from another file format."""
        page = record.page
        if isinstance(page, str):
            # The byte order mark overrides the encoding named in the page. WET files have none.
            page = (b"" if record.is_text else b"\xef\xbb\xbf") + page.encode("utf-8", "replace")
        url, date_of = _one_line(record.url), {"WARC-Date": str(written(record.seen or 0))}
        if record.is_text:
            return self._make(url, "conversion", BytesIO(page), len(page), "text/plain", date_of)
        headers = {
            "Content-Type": record.content_type or "text/html",
            "Content-Language": record.content_language,
            "Content-Length": str(len(page)),
        }
        lines = [(name, _one_line(value)) for name, value in headers.items() if value]
        http = self._headers("200 OK", lines, protocol="HTTP/1.1")
        return self._make(url, "response", BytesIO(page), len(page), "", date_of, http_headers=http)

    def _metadata(self, url: str, header: Callable[[str], str | None], marks: Values) -> Any:
        """Return the metadata record with the *marks* of the page with these headers."""
        lines = (f"{name}: {_mark(value)}\r\n" for name, value in marks.items() if value is not None)
        block = "".join(lines).encode()
        about = {"WARC-Date": header("WARC-Date"), "WARC-Refers-To": header("WARC-Record-ID")}
        known = {name: value for name, value in about.items() if value}
        return self._make(_one_line(url), "metadata", BytesIO(block), len(block), "", known)


def _mark(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())


#: Writers by file extension, without that of the compression.
WRITERS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys((".jsonl", ".jl", ".jsonlines", ".ndjson"), JsonLinesWriter),
    ".csv": CsvWriter,
    ".parquet": ParquetWriter,
    ".warc": WarcWriter,
}


class RecordWriter:
    """Writes records to the output of `open_writer`."""

    def __init__(self, name: str, writer: Any) -> None:
        self._name = name
        self._writer = writer

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write *record*, with a value for each mark of the writer.

        Raises FileError on failure, and KindError for a record that this format cannot contain.
        """
        with failing(f"write {self._name}"):
            self._writer.write(record, marks or {})


@contextmanager
def open_writer(path: str | Path, marks: Marks | None = None) -> Iterator[RecordWriter]:
    """Yield a writer for *path*. The file is written completely or not at all.

    The file extension determines the format (``.jsonl``, ``.csv``, ``.parquet``, ``.warc``), and a second extension
    the compression (``.gz``, ``.zst``, ``.bz2``, ``.xz``). Standard output (``-``), pipes and devices get JSON Lines
    if their name has no such extension. *path* may be an fsspec URL. *marks* are the fields to add to each record.

    Raises KindError if the format is unknown, needs an extra or allows no compression, and FileError if the file
    cannot be written.
    """
    path = str(path)
    ending, packed = ending_of(path)
    kind = WRITERS.get(ending)
    if kind is None and (path == STDOUT or _is_device(Path(path))):
        kind = JsonLinesWriter
    if kind is None:
        raise KindError(f"{path}: the file extension of an output must be one of {', '.join(WRITERS)}")
    if kind is ParquetWriter and packed:
        raise KindError(f"{path}: .parquet files are already compressed: remove the {packed}")
    name = "standard output" if path == STDOUT else path
    codec = CODECS.get(packed)
    with ExitStack() as stack:
        stream: IO[bytes] = stack.enter_context(_remote(path) if is_remote(path) else writing(path))
        if kind is WarcWriter:
            writer: Any = WarcWriter(stream, marks or {}, codec)
        else:
            writer = kind(stack.enter_context(codec(stream, "wb")) if codec else stream, marks or {})
        if isinstance(writer, ParquetWriter):
            stack.callback(writer.end)
        yield RecordWriter(name, writer)
        with failing(f"write {name}"):
            writer.close()
            stack.pop_all().close()


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _remote(path: str) -> Iterator[IO[bytes]]:
    """Yield a stream to a file of another file system, which appears only when everything is written."""
    fsspec = extra("a URL of a file system", "fsspec")
    try:
        system, name = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise KindError(f"cannot write {path}: {error}") from error
    with failing(f"write {path}"), system.transaction, system.open(name, "wb") as stream:
        yield stream
