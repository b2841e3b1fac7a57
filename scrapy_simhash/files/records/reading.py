"""read(): the pages of any inputs, one after another. The ending of a file name decides its format."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records.feeds import BYTE_ORDER_MARK, csv_rows, json_array, json_lines, parquet_rows
from scrapy_simhash.files.records.fields import Fields
from scrapy_simhash.files.records.opening import File, check, ending_of, files_of, unpacked
from scrapy_simhash.files.records.record import (
    LIMIT,
    NOT_HTML,
    TOO_LARGE,
    Broken,
    BrokenStream,
    PassedOver,
    Record,
)
from scrapy_simhash.files.records.warc import wacz_pages, warc_pages
from scrapy_simhash.page.text import is_xml_feed

#: The name of standard input.
STDIN = "-"
Input: TypeAlias = "str | Path | BinaryIO"
_Found: TypeAlias = "Iterator[Record | Broken | PassedOver]"
_Reader: TypeAlias = "Callable[[BufferedIOBase, str, Fields], _Found]"

#: The reader of each format, by the ending of a file name. `--format` selects one of them.
KINDS: Mapping[str, _Reader] = {
    ".jsonl": json_lines,
    ".jl": json_lines,
    ".jsonlines": json_lines,
    ".ndjson": json_lines,
    ".json": json_array,
    ".csv": csv_rows,
    ".tsv": csv_rows,
    ".parquet": parquet_rows,
    ".warc": warc_pages,
    ".wet": warc_pages,
    ".arc": warc_pages,
    ".wacz": wacz_pages,
}
#: The values of `--format`, and the ending of each.
FORMATS = {name: f".{name}" for name in ("jsonl", "json", "csv", "parquet", "warc", "wacz", "html")}
HTML_ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".asp", ".aspx", ".php", ".jsp"))
#: Formats that are read from their end, so only from a file.
_SEEKING = frozenset((".parquet", ".wacz"))
#: Bytes by which a file in a folder is recognised as HTML.
_HEAD = 4096
_HTML = re.compile(rb"\s*<(?!svg[\s>])(?:!doctype\s+html|!--|[a-z][a-z0-9]*[\s/>]|\?xml)", re.I)
_XHTML = re.compile(rb"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: The byte order marks of encodings with two bytes per character.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def read(inputs: Sequence[Input], fields: Fields = Fields(), kind: str | None = None) -> Records:  # noqa: B008
    """Return the pages of *inputs*, in the order given: an iterator of Record and Broken.

    An input is a file, a folder, a pattern like ``*.html``, a URL of a file system of fsspec such as
    ``s3://bucket/pages.jsonl.gz``, ``-`` for standard input, or a stream of bytes, which is left open. The ending of
    a name decides format and compression. *kind* (``jsonl``, ``json``, ``csv``, ``parquet``, ``warc``, ``wacz`` or
    ``html``) overrides the format; without it, streams are JSON Lines. In a folder, a file without a known ending is
    a page if its first bytes are HTML. The same inputs give the same records in the same order.

    Raises FileError at once if an input is missing. While reading, raises FileError if an input cannot be opened, and
    KindError if its format is unknown or an extra is missing. Errors inside an input are Broken records.
    """
    return Records(inputs, fields, kind)


class Records(Iterator["Record | Broken"]):
    """The pages of inputs. Read it to its end, or close it."""

    def __init__(self, inputs: Sequence[Input], fields: Fields, kind: str | None = None) -> None:
        if isinstance(inputs, str | Path) or hasattr(inputs, "columns"):
            raise TypeError(f"the inputs must be a list of paths or streams, got a {type(inputs).__name__}")
        if kind is not None and kind not in FORMATS:
            raise KindError(f"the format must be one of {', '.join(FORMATS)}, got {kind!r}")
        self.passed_over: Counter[str] = Counter()
        """Number of records that are no pages, by reason."""
        self.on_passed_over: Callable[[PassedOver], object] = lambda one: None
        """Called for each record that is no page."""
        self._fields = fields
        self._ending = FORMATS[kind] if kind else None
        self._inputs = [os.fspath(given) if isinstance(given, Path) else given for given in inputs]
        for given in self._inputs:
            if isinstance(given, str) and given != STDIN:
                check(given)
        self._pages = 0
        self._first_without: PassedOver | None = None
        self._all = self._read_all()

    def __next__(self) -> Record | Broken:
        for one in self._all:
            if not isinstance(one, PassedOver):
                self._pages += isinstance(one, Record)
                return one
            self.passed_over[one.reason] += 1
            self.on_passed_over(one)
            if one.names and self._first_without is None:
                self._first_without = one
        raise StopIteration

    def close(self) -> None:
        """Close the open file."""
        self._all.close()

    @property
    def complaint(self) -> str | None:
        """An error message if there are records and none of them has the fields of a page."""
        first = self._first_without
        if first is None or self._pages:
            return None
        names = ", ".join(map(repr, first.names[:20]))
        return f"no record has the fields {self._fields.shown}; {first.place} has {names}"

    def _read_all(self) -> Generator[Record | Broken | PassedOver]:
        for given in self._inputs:
            if not isinstance(given, str):
                yield from self._stream(given, _name_of(given))
            elif given == STDIN:
                if sys.stdin is None:
                    raise FileError("cannot read standard input: it is closed")
                yield from self._stream(sys.stdin.buffer, "<stdin>")
            else:
                for file in files_of(given):
                    yield from self._opened(file)

    def _opened(self, file: File) -> _Found:
        try:
            stream = file.open()
        # File systems of fsspec raise errors of their own.
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            if not file.is_member:
                raise FileError(f"cannot read {file.name}: {reason}") from error
            yield Broken(file.name, f"cannot be read: {reason}", is_rest=True)
            return
        with closing(stream):
            yield from self._named(stream, file)

    def _named(self, stream: IO[bytes], file: File) -> _Found:
        """Yield the records of a file by the ending of its name."""
        ending = self._ending or ending_of(file.name)[0]
        reader = KINDS.get(ending)
        if reader is not None:
            found = self._guarded(stream, file.name, reader, ending)
            yield from _of_member(found, file.name) if file.is_member and ending == ".json" else found
        elif ending in HTML_ENDINGS or file.is_member:

            def page(opened: BufferedIOBase, name: str, fields: Fields) -> _Found:
                yield _html_page(opened, file, is_named=ending in HTML_ENDINGS)

            yield from self._guarded(stream, file.name, page, ending)
        else:
            raise KindError(
                f"{file.name}: unknown kind of file; the name must end in one of {', '.join(KINDS)}, .html, or"
                " --format must say the kind"
            )

    def _stream(self, stream: BinaryIO, name: str) -> _Found:
        """Yield the records of an open stream; JSON Lines if no format is given."""
        ending = self._ending or ".jsonl"
        if ending in KINDS:
            yield from self._guarded(stream, name, KINDS[ending], ending)
        else:
            file = File(name, "file:///stdin", lambda: stream)
            yield _html_page(cast(BufferedIOBase, stream), file, is_named=True)

    def _guarded(self, stream: Any, name: str, reader: _Reader, ending: str) -> _Found:
        """Yield the records of a stream, and a Broken if it cannot be read further."""
        packed = ending_of(name)[1]
        if ending in _SEEKING and (packed or not stream.seekable()):
            yield Broken(name, f"{ending} can be read from a file only, not compressed or from a pipe", True)
            return
        try:
            yield from reader(unpacked(stream, name), name, self._fields)
        except BrokenStream as error:
            yield Broken(name, str(error), is_rest=True)
        except FileError:
            raise
        except OSError as error:
            yield Broken(name, f"cannot be read further: {error.strerror or error}", is_rest=True)


def _name_of(stream: BinaryIO) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "<stream>"


def _of_member(found: _Found, name: str) -> _Found:
    """Yield the records of a ``.json`` file in a folder; a saved site may have JSON files that are no feeds."""
    records = list(found)
    if any(isinstance(one, Record) for one in records):
        yield from records
    else:
        yield PassedOver(name, NOT_HTML)


def _html_page(stream: BufferedIOBase, file: File, is_named: bool) -> Record | Broken | PassedOver:
    """Return the page in a file; *is_named*: its name is that of a page."""
    page = stream.read(_HEAD)
    if not is_html(page, is_named):
        return PassedOver(file.name, NOT_HTML)
    page += stream.read(LIMIT + 1 - len(page))
    if len(page) > LIMIT:
        return Broken(file.name, TOO_LARGE)
    return Record(file.url, page, file.name)


def is_html(head: bytes, is_named: bool) -> bool:
    """Return whether a file with this *head* is HTML. *is_named*: its name is that of a page, and any text counts."""
    text = head.removeprefix(BYTE_ORDER_MARK)
    if is_xml_feed(head):
        return False
    if head.startswith(_WIDE):
        return b"<" in head
    match = _HTML.match(text)
    if match is None:
        return is_named and bool(head) and not _BINARY.search(head)
    # XML is a page only if it contains HTML, unlike a feed or a sitemap.
    return not match[0].lstrip().startswith(b"<?xml") or bool(_XHTML.search(text))
