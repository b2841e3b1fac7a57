"""WARC: the records of a web archive, one after another, and which of them are pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import BufferedIOBase
from typing import NamedTuple

from scrapy_simhash.files.records.http import Answer, headers_of, page_of, unchunked
from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.files.records.source import LIMIT, TOO_LARGE, BrokenStream, Source
from scrapy_simhash.times import parsed

#: Bytes of a line in the header of a record, and how many lines.
_LONGEST_LINE = 1 << 16
_MOST_LINES = 1_000
_VERSION = re.compile(rb"WARC/[01]\.\d+\r?\n")
_EMPTY = (b"\r\n", b"\n")
_CUT = "the last record ends too early"
#: Bytes that are skipped at once.
_SKIPPED = 1 << 20


class WarcRecord(NamedTuple):
    """A record as it came, for a writer."""

    header: bytes
    """With its first line, and the empty line at its end."""
    block: bytes


def warc_pages(source: Source) -> Iterator[Record | Broken | PassedOver]:
    """Yield the pages of a WARC or WET file; what is wrong with one record does not hide the next."""
    stream = source.stream
    number = 0
    line = _line(stream)
    while line:
        number += 1
        place = f"{source.name}:{number}"
        header = _header(stream, line)
        fields = headers_of(header.partition(b"\n")[2])
        length = fields.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 19):
            while (line := stream.readline(_LONGEST_LINE)) and not _VERSION.fullmatch(line):
                pass
            yield Broken(place, "not a WARC record", is_rest=not line)
            continue
        size = int(length)
        kind = fields.get("warc-type", "").lower()
        if reason := _passed_over(kind, fields):
            _skip(stream, size)
            yield PassedOver(place, reason)
        elif size > LIMIT:
            _skip(stream, size)
            yield Broken(place, TOO_LARGE)
        else:
            block = stream.read(size)
            if len(block) < size:
                raise BrokenStream(_CUT)
            yield _page(place, kind, fields, WarcRecord(header, block))
        line = _line(stream)


def _passed_over(kind: str, fields: Mapping[str, str]) -> str | None:
    """Return why a record is no page, as far as its header tells."""
    if kind not in ("response", "resource", "conversion"):
        return f"WARC record of type {kind or 'none'}"
    if "warc-truncated" in fields:
        return "truncated"
    if "warc-segment-number" in fields:
        return "WARC record in segments"
    content = fields.get("content-type", "").lower()
    if kind == "response" and not content.startswith("application/http"):
        return "not HTTP"
    if kind == "conversion" and not content.startswith("text/plain"):
        return "not text"
    return None


def _page(
    place: str, kind: str, fields: Mapping[str, str], record: WarcRecord
) -> Record | Broken | PassedOver:
    url = fields.get("warc-target-uri", "").strip("<>")
    try:
        seen = parsed(fields["warc-date"]) if "warc-date" in fields else None
    except ValueError:
        seen = None  # the page is as good without
    if kind == "conversion":
        text = record.block.decode("utf-8", "replace")
        return Record(url, text, place, is_text=True, seen=seen, source=record)
    if kind == "resource":
        headers: Mapping[str, str] = {"content-type": fields.get("content-type", "")}
        return page_of(place, Answer(url, 200, headers, record.block), seen, record)
    head, gap, body = _parted(record.block)
    if not gap:
        return Broken(place, "no HTTP answer in the record")
    first, _, lines = head.partition(b"\n")
    words = first.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        return Broken(place, "no HTTP answer in the record")
    headers = headers_of(lines)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunked(body)
    return page_of(place, Answer(url, int(words[1]), headers, body), seen, record)


def _parted(block: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the head of an HTTP answer, what ends it, and the rest."""
    match = _END_OF_HEAD.search(block)
    return (block, b"", b"") if match is None else (block[: match.end()], match[0], block[match.end() :])


_END_OF_HEAD = re.compile(rb"\r?\n\r?\n|\A\r?\n")


def _line(stream: BufferedIOBase) -> bytes:
    """Return the next line that is not empty, b"" at the end of the file."""
    line = stream.readline(_LONGEST_LINE)
    while line in _EMPTY:
        line = stream.readline(_LONGEST_LINE)
    return line


def _header(stream: BufferedIOBase, line: bytes) -> bytes:
    """Return the header that begins with *line*, with its empty line; b"" if none begins so."""
    if not _VERSION.fullmatch(line):
        return b""
    lines = [line]
    while line not in _EMPTY:
        line = stream.readline(_LONGEST_LINE)
        if not line:
            raise BrokenStream(_CUT)
        lines.append(line)
        if len(lines) > _MOST_LINES:
            return b""
    return b"".join(lines)


def _skip(stream: BufferedIOBase, size: int) -> None:
    while size:
        piece = len(stream.read(min(size, _SKIPPED)))
        if not piece:
            raise BrokenStream(_CUT)
        size -= piece
