"""open_writer(): a file that gets records, of the kind that its name says, or of the kind in which the first came."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter
from pathlib import Path, PurePath
from typing import IO, Any, cast

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.failing import failing
from scrapy_simhash.files.records.compression import codec_of
from scrapy_simhash.files.records.feeds import Row
from scrapy_simhash.files.records.folder import PageFile
from scrapy_simhash.files.records.http_cache import CacheEntry
from scrapy_simhash.files.records.parquet import TableRow
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.files.records.source import BUFFER
from scrapy_simhash.files.records.warc import WarcRecord
from scrapy_simhash.files.records.writing.feed_writers import (
    CsvWriter,
    JsonLinesWriter,
    JsonWriter,
    TsvWriter,
)
from scrapy_simhash.files.records.writing.file_writers import FolderWriter, ZipWriter
from scrapy_simhash.files.records.writing.parquet_writer import ParquetWriter
from scrapy_simhash.files.records.writing.warc_writer import WarcWriter
from scrapy_simhash.files.records.writing.writer import Marks, Values
from scrapy_simhash.replacement import new_folder, replacing

#: The path that stands for standard output.
STDOUT = "-"
#: By the ending of a name, before that of its compression.
ENDINGS: Mapping[str, Callable[[IO[bytes], Marks | None], Any]] = {
    ".jsonl": JsonLinesWriter,
    ".jl": JsonLinesWriter,
    ".jsonlines": JsonLinesWriter,
    ".ndjson": JsonLinesWriter,
    ".json": JsonWriter,
    ".csv": CsvWriter,
    ".tsv": TsvWriter,
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
        with failing(f"write {self._path}"):
            self._writer.write(record, marks)

    def _kind_of(self, record: Record) -> str:
        source = record.source
        if isinstance(source, Row):
            return source.ending
        if isinstance(source, TableRow):
            return ".parquet"
        if isinstance(source, WarcRecord):
            return ".warc"
        if isinstance(source, PageFile | CacheEntry) and self._path != STDOUT and self._codec is None:
            return "/"
        return ".jsonl"

    def _finish(self) -> None:
        """Write the end of what was begun, also if that was nothing."""
        if self._writer is None:
            self._open(".jsonl")
        with failing(f"write {self._path}"):
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
        stream = self._stack.enter_context(self._stream())
        if kind is None:
            self._writer = WarcWriter(stream, self._marks, codec and codec.writer)
            return
        if codec:
            stream = self._stack.enter_context(codec.writer(stream))
        self._writer = kind(stream, self._marks)
        if isinstance(self._writer, ParquetWriter | ZipWriter):
            self._stack.callback(self._writer.end)

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        with ExitStack() as stack:
            if self._path == STDOUT:
                if sys.stdout is None:
                    raise FileError("cannot write standard output: it is closed")
                # Past the buffer of sys.stdout, which would try once more at exit to write what could not be written.
                raw: Any = stack.enter_context(open(sys.stdout.fileno(), "wb", buffering=0, closefd=False))
            else:
                raw = stack.enter_context(replacing(self._path))
            stream = BufferedWriter(raw, BUFFER)
            try:
                yield cast("IO[bytes]", stream)
                with failing(f"write {self._path}"):
                    stream.flush()
            finally:
                # What could not be written a moment ago cannot be written now.
                with suppress(OSError):
                    stream.detach()
