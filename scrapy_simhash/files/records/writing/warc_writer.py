"""WarcWriter: web archives, in which a record that came from one is the same to the byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import IO, Any
from uuid import NAMESPACE_URL, uuid5

from scrapy_simhash.files.records.http import headers_of
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.files.records.warc import WarcRecord
from scrapy_simhash.files.records.writing.writer import Marks, Values, bytes_of
from scrapy_simhash.times import written


class WarcWriter:
    """Writes each record as a piece of its own, compressed by itself, and its marks as a metadata record after it."""

    def __init__(self, stream: IO[bytes], marks: Marks | None, compress: Callable[[Any], Any] | None) -> None:
        self._stream = stream
        self._compress = compress

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a record."""
        made = record.source if isinstance(record.source, WarcRecord) else _made(record)
        self._append(made)
        if marks is not None:
            self._append(_metadata(record.url, made, marks))

    def close(self) -> None:
        """Nothing is left to be written."""

    def _append(self, record: WarcRecord) -> None:
        piece = b"".join((record.header, record.block, b"\r\n\r\n"))
        if self._compress is None:
            self._stream.write(piece)
            return
        with self._compress(self._stream) as stream:
            stream.write(piece)


def _made(record: Record) -> WarcRecord:
    """Return a record of an archive for one that came from elsewhere; the same for the same page."""
    page = bytes_of(record)
    seen = record.seen or 0
    if record.is_text:
        return _record("conversion", record.url, seen, "text/plain", page.removeprefix(b"\xef\xbb\xbf"))
    headers = {
        "Content-Type": record.content_type or "text/html",
        "Content-Language": record.content_language,
    }
    lines = [f"{name}: {_one_line(value)}" for name, value in headers.items() if value]
    answer = "\r\n".join(["HTTP/1.1 200 OK", *lines, f"Content-Length: {len(page)}", "", ""])
    block = answer.encode("latin-1", "replace") + page
    return _record("response", record.url, seen, "application/http; msgtype=response", block)


def _metadata(url: str, about: WarcRecord, marks: Values) -> WarcRecord:
    """Return the record of the verdict on the page in *about*."""
    values = ((name, _shown(value)) for name, value in marks.items() if value is not None)
    block = "".join(f"{name}: {value}\r\n" for name, value in values).encode()
    fields = headers_of(about.header.partition(b"\n")[2])
    refers = {"WARC-Refers-To": fields["warc-record-id"]} if "warc-record-id" in fields else {}
    date = {"WARC-Date": fields["warc-date"]} if "warc-date" in fields else {}
    return _record("metadata", url, 0, "application/warc-fields", block, {**refers, **date})


def _record(
    kind: str, url: str, seen: int, media: str, block: bytes, more: Mapping[str, str] = MappingProxyType({})
) -> WarcRecord:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {seen} {len(block)} {url}')}>",
        "WARC-Target-URI": _one_line(url),
        # A date there must be.
        "WARC-Date": str(written(seen)),
        **more,
        "Content-Type": media,
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return WarcRecord(f"WARC/1.1\r\n{lines}\r\n".encode(), block)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())
