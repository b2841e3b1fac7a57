"""HTTP responses that were kept, in WARC files and in Scrapy's HTTP cache: which are pages, as a crawl would say.

Scrapy keeps its cache pickled. A pickle from elsewhere can run any code when it is read in the usual way; here it can
hold nothing but plain values.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BufferedIOBase
from mimetypes import guess_type
from pathlib import Path
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records.feeds import wrong_url
from scrapy_simhash.files.records.record import (
    LIMIT,
    NOT_HTML,
    TOO_LARGE,
    Broken,
    BrokenStream,
    PassedOver,
    Record,
    Source,
    brotli,
    zstd,
)
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.times import parsed

#: What Scrapy takes for HTML.
_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
#: What Scrapy takes for another text, whatever is in it; and all other types of text.
_OTHER = frozenset(
    (
        "application/atom+xml",
        "application/rdf+xml",
        "application/rss+xml",
        "application/xml",
        "application/json",
        "application/x-json",
        "application/json-amazonui-streaming",
        "application/javascript",
        "application/x-javascript",
    )
)
#: Bytes by which a body of no known type is told.
_LOOKED_AT = 5_000
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Answer(NamedTuple):
    """What a server answered."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    """Perhaps compressed, as ``content-encoding`` says."""


def page_of(place: str, answer: Answer, seen: int | None, source: object) -> Record | Broken | PassedOver:
    """Return the page that *answer* is, if a crawl would look at it: a status of 200 to 299, and HTML."""
    if not 200 <= answer.status < 300:
        return PassedOver(place, f"HTTP status {answer.status}")
    if reason := wrong_url(answer.url):
        return Broken(place, reason)
    headers = answer.headers
    content_type = headers.get("content-type")
    is_html = _is_html(content_type)
    if is_html is False:
        return PassedOver(place, NOT_HTML)
    body = answer.body
    if encoding := headers.get("content-encoding", "").lower().strip():
        try:
            body = _decoded(body, encoding)
        except _Unreadable as error:
            return Broken(place, str(error))
    if len(body) > LIMIT:
        return Broken(place, TOO_LARGE)
    if is_html is None:
        is_html = _is_html(guess_type(answer.url)[0])
    if not (_looks_like_html(body) if is_html is None else is_html) or is_xml_feed(body):
        return PassedOver(place, NOT_HTML)
    language = headers.get("content-language")
    return Record(
        answer.url, body, place, False, content_type or None, language or None, seen=seen, source=source
    )


def headers_of(lines: bytes) -> dict[str, str]:
    r"""Return the fields of a header, the last of each name, names in lower case.

    >>> headers_of(b"Content-Type: text/html;\r\n charset=utf-8\r\nnonsense\r\n\r\n")
    {'content-type': 'text/html; charset=utf-8'}
    """
    found: dict[str, str] = {}
    name = ""
    try:
        text = lines.decode("utf-8")
    except UnicodeDecodeError:
        text = lines.decode("latin-1")
    for line in text.split("\n"):
        if line[:1] in (" ", "\t") and name:
            found[name] = f"{found[name]} {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower() if colon else ""
        if name:
            found[name] = value.strip()
    return found


def unchunked(body: bytes) -> bytes:
    r"""Return a body that came in chunks as one; some archives have undone the chunks, and kept the header.

    >>> unchunked(b"4\r\n<p>a\r\n0\r\n\r\n"), unchunked(b"<p>a")
    (b'<p>a', b'<p>a')
    """
    pieces: list[bytes] = []
    at = 0
    while match := _CHUNK.match(body, at):
        size = int(match[1], 16)
        at = match.end()
        if size == 0:
            return b"".join(pieces)
        pieces.append(body[at : at + size])
        at += size + (2 if body[at + size : at + size + 2] == b"\r\n" else 1)
    # What ends too early is as far as it goes; what has no chunks is whole.
    return b"".join(pieces) if pieces else body


_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")


def _is_html(media_type: str | None) -> bool | None:
    """Return whether a media type is HTML, None if that cannot be said by it."""
    name = (media_type or "").partition(";")[0].strip().lower()
    if name in _HTML:
        return True
    return False if name in _OTHER or name.startswith("text/") else None


def _looks_like_html(body: bytes) -> bool:
    start = body[:_LOOKED_AT].lower()
    if _BINARY.search(start):
        return False
    return b"<html>" in start or (b"<?xml" not in start and b"<!doctype html>" in start)


class _Unreadable(Exception):
    """A body that cannot be decompressed; the message is the reason."""


def _decoded(body: bytes, encodings: str) -> bytes:
    """Return *body* without its encodings, up to a byte more than a record may have."""
    for encoding in reversed([name.strip() for name in encodings.split(",")]):
        decode = _DECODERS.get(encoding)
        if decode is None:
            raise _Unreadable(f"the content encoding {encoding[:40]!r} is not known")
        try:
            body = decode(body)
        except _Unreadable:
            raise
        except KindError as error:
            raise _Unreadable(str(error)) from None
        except Exception as error:
            raise _Unreadable(f"the {encoding} data of the page is damaged: {error}") from None
    return body


def _gzip(body: bytes) -> bytes:
    # Some archives have undone it, and kept the header.
    return _inflated(body, 31) if body.startswith(b"\x1f\x8b") else body


def _deflate(body: bytes) -> bytes:
    try:
        return _inflated(body, 15)
    except zlib.error:
        return _inflated(body, -15)


def _inflated(body: bytes, window: int) -> bytes:
    # A page that ends too early is as far as it goes, as in a browser.
    return zlib.decompressobj(window).decompress(body, LIMIT + 1)


def _brotli(body: bytes) -> bytes:
    decoder: Any = brotli().Decompressor()
    return _up_to_limit(lambda data: decoder.process(data), body)


def _zstd(body: bytes) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        return body
    decoder: Any = zstd().ZstdDecompressor()
    return bytes(decoder.decompress(body, LIMIT + 1))


def _up_to_limit(feed: Callable[[bytes], bytes], body: bytes) -> bytes:
    # Small pieces, so that what one of them becomes is small too.
    pieces, size = [], 0
    for at in range(0, len(body), 4096):
        pieces.append(feed(body[at : at + 4096]))
        size += len(pieces[-1])
        if size > LIMIT:
            break
    return b"".join(pieces)


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "identity": lambda body: body,
}


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
            yield _warc_page(place, kind, fields, WarcRecord(header, block))
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


def _warc_page(
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


#: The file of each page that is looked at first.
META = "pickled_meta"
_HEX = re.compile(r"[0-9a-f]{2,64}")
#: What Scrapy says of a body that is not complete.
_INCOMPLETE = ("dataloss", "download_stopped")


class CacheEntry(NamedTuple):
    """Under which key a cache had a page."""

    key: str


def is_cache(folder: str) -> bool:
    """Tell whether *folder* is the cache of a spider: ``3f/3f9a.../pickled_meta`` in there."""
    path = Path(folder)
    try:
        for _ in range(2):
            with os.scandir(path) as entries:
                inner = next((entry for entry in entries if _is_hex_folder(entry)), None)
            if inner is None:
                return False
            path = Path(inner.path)
    except OSError:
        return False
    return (path / META).is_file() and len(path.name) >= 32


def _is_hex_folder(entry: os.DirEntry[str]) -> bool:
    return _HEX.fullmatch(entry.name) is not None and entry.is_dir()


def cached_pages(folder: str) -> Iterator[Record | Broken | PassedOver]:
    """Yield the pages of the cache of a spider that is a folder. Some 200 bytes of memory for each, for the order."""
    entries: list[tuple[float, str]] = []
    for entry in _entries(folder):
        try:
            meta = _plain(_content(entry / META))
            entries.append((float(meta["timestamp"]), str(entry)))
        except (OSError, KeyError, TypeError, ValueError) as error:
            yield Broken(str(entry), f"the entry of the cache is damaged: {error}")
    entries.sort()
    for time, path in entries:
        entry = Path(path)
        try:
            meta = _plain(_content(entry / META))
            headers = headers_of(_content(entry / "response_headers"))
            more = entry / "response_data"
            data = _plain(_content(more)) if more.exists() else {}
            answer = Answer(
                str(meta["response_url"]), int(meta["status"]), headers, _content(entry / "response_body")
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            yield Broken(path, f"the entry of the cache is damaged: {error}")
            continue
        yield _cached_page(path, answer, data, time, entry.name)


def _entries(folder: str) -> Iterator[Path]:
    for group in sorted(Path(folder).iterdir()):
        if _HEX.fullmatch(group.name) and group.is_dir():
            yield from (entry for entry in sorted(group.iterdir()) if _HEX.fullmatch(entry.name))


def _cached_page(
    place: str, answer: Answer, data: Mapping[str, Any], time: float, key: str
) -> Record | Broken | PassedOver:
    if len(answer.body) > LIMIT:
        return Broken(place, TOO_LARGE)
    if any(flag in _INCOMPLETE for flag in data.get("flags") or ()):
        return PassedOver(place, "truncated")
    return page_of(place, answer, int(time), CacheEntry(key))


class _DamagedEntry(ValueError):
    """A file of a cache that says nothing; the message is the reason."""


def _content(path: Path) -> bytes:
    """Return what a file of the cache has, which is compressed or not."""
    with path.open("rb") as file:
        content = file.read(LIMIT + 1)
    # The pages of some caches are compressed as their servers sent them: those are decoded by their headers.
    if path.name != "response_body" or _is_gzip(path.parent / META):
        return _unzipped(content)
    return content


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _unzipped(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.GzipFile(fileobj=io.BytesIO(content)).read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _DamagedEntry(f"the gzip data is damaged: {error}") from None


class _PlainOnly(pickle.Unpickler):
    """Reads numbers, texts, bytes, lists and dictionaries; what an IP address is left out."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "ipaddress" and name in ("IPv4Address", "IPv6Address"):
            return str
        raise _DamagedEntry(f"its pickle wants {module}.{name}")


def _plain(content: bytes) -> dict[str, Any]:
    try:
        value = _PlainOnly(io.BytesIO(content)).load()
    except _DamagedEntry:
        raise
    # Bytes that are no pickle can raise anything.
    except Exception as error:
        raise _DamagedEntry(f"no pickle: {error}") from None
    if not isinstance(value, dict):
        raise _DamagedEntry("its pickle is no dictionary")
    return value
