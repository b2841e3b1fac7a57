"""read(): read the pages of any inputs, one after another. The file extension determines the format."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records.feeds import BYTE_ORDER_MARK, csv_rows, json_array, json_lines, parquet_rows
from scrapy_simhash.files.records.opening import File, ending_of, files_of, unpacked
from scrapy_simhash.files.records.record import (
    LIMIT,
    NOT_HTML,
    TOO_LARGE,
    Broken,
    BrokenStream,
    Fields,
    Found,
    PassedOver,
    Record,
)
from scrapy_simhash.files.records.warc import wacz_pages, warc_pages
from scrapy_simhash.page.text import is_xml_feed

#: The name of standard input.
STDIN = "-"
#: The URL of a page from a stream.
_STREAM = "file:///stdin"
Input: TypeAlias = "str | Path | BinaryIO"
#: Formats that need a seekable file, because reading begins at the end of the file.
_SEEKING = (".parquet", ".wacz")
#: Bytes that are read to recognise HTML in a file of a folder.
_HEAD = 4096
_HTML = re.compile(rb"\s*<(?!svg[\s>])(?:!doctype\s+html|!--|[a-z][a-z0-9]*[\s/>]|\?xml)", re.I)
_XHTML = re.compile(rb"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: The byte order marks of encodings with two bytes per character.
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def html_page(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the page in a file. In a folder, a file without an extension of `HTML_ENDINGS` must begin like HTML."""
    page = stream.read(_HEAD)
    if not is_html(page, is_named=not file.is_member or ending_of(file.name)[0] in HTML_ENDINGS):
        yield PassedOver(file.name, NOT_HTML)
        return
    page += stream.read(LIMIT + 1 - len(page))
    yield Broken(file.name, TOO_LARGE) if len(page) > LIMIT else Record(file.url, page, file.name)


HTML_ENDINGS = (".html", ".htm", ".xhtml", ".shtml", ".asp", ".aspx", ".php", ".jsp")
#: The reader of each format, by file extension.
KINDS: Mapping[str, Callable[[Any, File, Fields], Found]] = {
    **dict.fromkeys((".jsonl", ".jl", ".jsonlines", ".ndjson"), json_lines),
    ".json": json_array,
    **dict.fromkeys((".csv", ".tsv"), csv_rows),
    ".parquet": parquet_rows,
    **dict.fromkeys((".warc", ".wet", ".arc"), warc_pages),
    ".wacz": wacz_pages,
    **dict.fromkeys(HTML_ENDINGS, html_page),
}
#: The values of `--format`, which are file extensions.
FORMATS = ("jsonl", "json", "csv", "parquet", "warc", "wacz", "html")


def read(inputs: Sequence[Input], fields: Fields = Fields(), kind: str | None = None) -> Records:  # noqa: B008
    """Return the pages of *inputs*, in this order, as an iterator of Record and Broken.

    An input is a file, a folder, a pattern like ``*.html``, an fsspec URL such as ``s3://bucket/pages.jsonl.gz``,
    ``-`` for standard input, or a binary stream, which is left open. The file extension determines the format and the
    compression. *kind* (``jsonl``, ``json``, ``csv``, ``parquet``, ``warc``, ``wacz`` or ``html``) overrides the
    format; without it, streams are JSON Lines. In a folder, a file without a known extension is a page if its first
    bytes are HTML. The same inputs yield the same records in the same order.

    Raises FileError at once if an input is missing. While reading, raises FileError if an input cannot be opened, and
    KindError if its format is unknown or an extra is missing. Errors within an input are Broken records.
    """
    return Records(inputs, fields, kind)


class Records(Iterator["Record | Broken"]):
    """An iterator over the pages of inputs. Exhaust it, or close it."""

    def __init__(self, inputs: Sequence[Input], fields: Fields, kind: str | None) -> None:
        if isinstance(inputs, str | Path) or hasattr(inputs, "columns"):
            raise TypeError(f"the inputs must be a list of paths or streams, got a {type(inputs).__name__}")
        if kind is not None and kind not in FORMATS:
            raise KindError(f"the format must be one of {', '.join(FORMATS)}, got {kind!r}")
        self.passed_over: Counter[str] = Counter()
        """Number of records that are not pages, by reason."""
        self._fields = fields
        self._ending = None if kind is None else f".{kind}"
        # Files are looked up at once, so that a missing input is reported before an output is opened.
        self._files = [self._files_of(given) for given in inputs]
        self._pages = 0
        self._first_without: PassedOver | None = None
        self._all = self._read_all()

    def __next__(self) -> Record | Broken:
        for one in self._all:
            if not isinstance(one, PassedOver):
                self._pages += isinstance(one, Record)
                return one
            self.passed_over[one.reason] += 1
            if one.names and self._first_without is None:
                self._first_without = one
        raise StopIteration

    def close(self) -> None:
        """Close the open file."""
        self._all.close()

    @property
    def complaint(self) -> str | None:
        """An error message if no record has the fields of a page."""
        first = self._first_without
        if first is None or self._pages:
            return None
        names = ", ".join(map(repr, first.names[:20]))
        return f"no record has the fields {self._fields.shown}; {first.place} has {names}"

    def _files_of(self, given: Input) -> Iterator[File]:
        if given == STDIN:
            if sys.stdin is None:
                raise FileError("cannot read standard input: it is closed")
            given = sys.stdin.buffer
        if isinstance(given, str | Path):
            return files_of(os.fspath(given))
        name = "<stdin>" if given is getattr(sys.stdin, "buffer", None) else getattr(given, "name", None)
        shown = name if isinstance(name, str) else "<stream>"
        return iter([File(shown, _STREAM, lambda: nullcontext(given))])

    def _read_all(self) -> Generator[Record | Broken | PassedOver]:
        for files in self._files:
            for file in files:
                found = self._read(file)
                # A folder with a saved site may have JSON files that are not feeds.
                if file.is_member and ending_of(file.name)[0] == ".json":
                    records = list(found)
                    is_feed = any(isinstance(one, Record) for one in records)
                    found = iter(records if is_feed else [PassedOver(file.name, NOT_HTML)])
                yield from found

    def _read(self, file: File) -> Found:
        """Yield the records of a file, and a Broken if the rest cannot be read."""
        ending, packed = ending_of(file.name)
        ending = self._ending or (".jsonl" if file.url == _STREAM else ending)
        reader = KINDS.get(ending)
        if reader is None and not file.is_member:
            known = ", ".join(ending for ending in KINDS if ending not in HTML_ENDINGS)
            raise KindError(
                f"{file.name}: unknown file format: the file extension must be one of {known}, .html;"
                " otherwise set --format"
            )
        try:
            opened = file.open()
        # Each fsspec file system raises different exceptions.
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            if not file.is_member:
                raise FileError(f"cannot read {file.name}: {reason}") from error
            yield Broken(file.name, f"cannot be read: {reason}", is_rest=True)
            return
        with opened as stream:
            if ending in _SEEKING and (packed or not stream.seekable()):
                reason = f"{ending} can only be read from a file, not compressed or from a pipe"
                yield Broken(file.name, reason, is_rest=True)
                return
            try:
                yield from (reader or html_page)(unpacked(stream, file.name), file, self._fields)
            except BrokenStream as error:
                yield Broken(file.name, str(error), is_rest=True)
            except FileError:
                raise
            except OSError as error:
                yield Broken(file.name, f"the rest cannot be read: {error.strerror or error}", is_rest=True)


def is_html(head: bytes, is_named: bool) -> bool:
    """Return whether a file with this *head* is HTML. If it *is_named* like a page, any text counts as HTML."""
    if is_xml_feed(head):
        return False
    if head.startswith(_WIDE):
        return b"<" in head
    match = _HTML.match(head.removeprefix(BYTE_ORDER_MARK))
    if match is None:
        return is_named and bool(head) and not _BINARY.search(head)
    # XML is a page only if it contains HTML, unlike a feed or a sitemap.
    return not match[0].lstrip().startswith(b"<?xml") or bool(_XHTML.search(head))
