"""Pages in WARC, WET, ARC and WACZ files: the records that a crawl would compare.

warcio finds the records. Bodies are decoded here, since archives contain decoded bodies with the original headers,
chunks with trailers, and several encodings in a row.
"""

from __future__ import annotations

import logging
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedIOBase, BytesIO
from mimetypes import guess_type
from typing import Any, NamedTuple, cast

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records.fields import Fields, wrong_url
from scrapy_simhash.files.records.opening import guarded, unpacked
from scrapy_simhash.files.records.record import (
    LIMIT,
    NOT_HTML,
    TOO_LARGE,
    Broken,
    BrokenStream,
    PassedOver,
    Record,
    extra,
)
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.times import parsed

#: Media types that Scrapy treats as HTML.
_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
#: Media types that Scrapy treats as other text, regardless of the content; also all other text types.
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
#: Bytes by which a body of an unknown type is recognised.
_LOOKED_AT = 5_000
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CUT = "the last record ends too early"
_NOT_WARC = "not a WARC record"


class WarcRecord(NamedTuple):
    """A record of an archive, for a writer."""

    version: str
    """The first line, such as ``WARC/1.1``."""
    headers: Sequence[tuple[str, str]]
    block: bytes


def warc_pages(stream: BufferedIOBase, name: str, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the pages of a decompressed WARC, WET or ARC file.

    Raises BrokenStream at the first record that is damaged or truncated, since later records cannot be found.
    """
    for number, record in enumerate(_records(stream), 1):
        place = f"{name}:{number}"
        headers = {field.lower(): value for field, value in record.headers}
        if reason := _passed_over(headers):
            yield PassedOver(place, reason)
        elif len(record.block) > LIMIT:
            yield Broken(place, TOO_LARGE)
        else:
            yield _page(place, headers, record)


def wacz_pages(stream: BufferedIOBase, name: str, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the pages of the archives in a WACZ file, a zip with WARC files in the folder ``archive``."""
    try:
        with zipfile.ZipFile(cast(Any, stream)) as package:
            for member in sorted(package.namelist()):
                if not re.fullmatch(r"archive/[^/]+\.warc(\.gz)?", member):
                    continue
                with package.open(member) as packed:
                    records = unpacked(guarded(packed, "zip"), member)
                    yield from warc_pages(records, f"{name}!{member}", fields)
    # zipfile raises the other two for an unknown compression and for an encrypted member.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise BrokenStream(f"the zip data is damaged: {error}") from None


def _records(stream: BufferedIOBase) -> Iterator[WarcRecord]:
    """Yield all records. Raises BrokenStream with the number of the record that cannot be read."""
    library, errors = extra("WARC", "warcio.archiveiterator"), extra("WARC", "warcio.exceptions")
    # warcio warns of each URL with a space, which is frequent, and escapes it.
    logging.getLogger("warcio.recordloader").setLevel(logging.ERROR)
    records = library.ArchiveIterator(stream, no_record_parse=True, arc2warc=True)
    # Suppress its warning on standard error; the number of warnings is checked instead.
    records.INC_RECORD = ""
    number = 0
    try:
        for number, record in enumerate(records, 1):
            if records.err_count:
                raise BrokenStream(f"{_NOT_WARC}: the one before has a wrong Content-Length")
            yield WarcRecord(record.rec_headers.protocol, record.rec_headers.headers, _block(record))
            # The next step fails if the iterator failed.
            number += 1
    except (BrokenStream, errors.ArchiveLoadFailed) as error:
        reason = str(error) if isinstance(error, BrokenStream) else f"{_NOT_WARC}: {error}"
        raise BrokenStream(f"{reason} (record {max(number, 1)})") from None


def _block(record: Any) -> bytes:
    """Return the block of a record, at most one byte more than `LIMIT`. Raises BrokenStream if it is incomplete."""
    given = record.rec_headers.get_header("Content-Length")
    if given is None:
        raise BrokenStream(_CUT)
    if not (given.isascii() and given.isdigit()):
        raise BrokenStream(f"{_NOT_WARC}: its Content-Length is {given[:40]!r}")
    read: Callable[[int], bytes] = record.raw_stream.read
    block = read(LIMIT + 1)
    size = len(block)
    while size > LIMIT and (rest := len(read(1 << 20))):
        size += rest
    # warcio includes the header of an ARC record in its length.
    if size < record.length:
        raise BrokenStream(_CUT)
    return block


def _passed_over(headers: Mapping[str, str]) -> str | None:
    """Return why a record is not a page by its header, None if it may be one."""
    kind = headers.get("warc-type", "").lower()
    if kind not in ("response", "resource", "conversion"):
        return f"WARC record of type {kind or 'none'}"
    if "warc-truncated" in headers:
        return "truncated"
    if "warc-segment-number" in headers:
        return "WARC record in segments"
    content = headers.get("content-type", "").lower()
    if kind == "response" and not content.startswith("application/http"):
        return "not HTTP"
    if kind == "conversion" and not content.startswith("text/plain"):
        return "not text"
    return None


def _page(place: str, about: Mapping[str, str], record: WarcRecord) -> Record | Broken | PassedOver:
    # warcio escapes the space before the value of a folded header.
    url = about.get("warc-target-uri", "").removeprefix("%20").strip("<> ")
    if reason := wrong_url(url):
        return Broken(place, reason)
    try:
        seen = parsed(about["warc-date"]) if "warc-date" in about else None
    except ValueError:
        # The page is usable without a time.
        seen = None
    kind = about["warc-type"].lower()
    if kind == "conversion":
        text = record.block.decode("utf-8", "replace")
        return Record(url, text, place, is_text=True, seen=seen, source=record)
    if kind == "resource":
        return _html(url, place, {"content-type": about.get("content-type", "")}, record.block, seen, record)
    found = _http(record.block)
    if found is None:
        return Broken(place, "no HTTP response in the record")
    status, headers, body = found
    if not 200 <= status < 300:
        return PassedOver(place, f"HTTP status {status}")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunked(body)
    return _html(url, place, headers, body, seen, record)


def _http(block: bytes) -> tuple[int, dict[str, str], bytes] | None:
    """Return status, headers with lower-case names, and body of an HTTP response; None for anything else."""
    stream = BytesIO(block)
    parser = extra("WARC", "warcio.statusandheaders").StatusAndHeadersParser([], verify=False)
    try:
        found = parser.parse(stream)
    except EOFError:
        return None
    status = found.get_statuscode()
    if not (found.protocol.startswith("HTTP/") and status.isascii() and status.isdigit()):
        return None
    # Scrapy uses the last of several headers with one name.
    return int(status), {name.lower(): value for name, value in found.headers}, block[stream.tell() :]


def _html(
    url: str, place: str, headers: Mapping[str, str], body: bytes, seen: int | None, record: WarcRecord
) -> Record | Broken | PassedOver:
    """Return the page with these HTTP headers if a crawl would treat it as HTML."""
    content_type = headers.get("content-type")
    is_html = _is_html(content_type)
    if is_html is False:
        return PassedOver(place, NOT_HTML)
    if encodings := headers.get("content-encoding", "").lower().strip():
        try:
            body = _decoded(body, encodings)
        except _Unreadable as error:
            return Broken(place, str(error))
    if len(body) > LIMIT:
        return Broken(place, TOO_LARGE)
    if is_html is None:
        is_html = _is_html(guess_type(url)[0])
    if not (_looks_like_html(body) if is_html is None else is_html) or is_xml_feed(body):
        return PassedOver(place, NOT_HTML)
    language = headers.get("content-language")
    return Record(url, body, place, False, content_type or None, language or None, seen, record)


def _is_html(media_type: str | None) -> bool | None:
    """Return whether a media type is HTML, None if that depends on the content."""
    name = (media_type or "").partition(";")[0].strip().lower()
    if name in _HTML:
        return True
    return False if name in _OTHER or name.startswith("text/") else None


def _looks_like_html(body: bytes) -> bool:
    start = body[:_LOOKED_AT].lower()
    if _BINARY.search(start):
        return False
    return b"<html>" in start or (b"<?xml" not in start and b"<!doctype html>" in start)


_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")


def unchunked(body: bytes) -> bytes:
    r"""Join the chunks of a body; some archives have removed the chunks and kept the header.

    A truncated body is returned up to its end, as in a browser.

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
    return b"".join(pieces) if pieces else body


class _Unreadable(Exception):
    """A body cannot be decompressed; the message is the reason."""


def _decoded(body: bytes, encodings: str) -> bytes:
    """Decode *body*, to at most one byte more than `LIMIT`."""
    for encoding in reversed([name.strip() for name in encodings.split(",")]):
        decode = _DECODERS.get(encoding)
        if decode is None:
            raise _Unreadable(f"the content encoding {encoding[:40]!r} is not known")
        try:
            body = decode(body)
        except KindError as error:
            raise _Unreadable(str(error)) from None
        # Each library has its own errors.
        except Exception as error:
            raise _Unreadable(f"the {encoding} data of the page is damaged: {error}") from None
    return body


def _gzip(body: bytes) -> bytes:
    # Some archives have decompressed the body and kept the header.
    return _inflated(body, 31) if body.startswith(b"\x1f\x8b") else body


def _deflate(body: bytes) -> bytes:
    try:
        return _inflated(body, 15)
    except zlib.error:
        return _inflated(body, -15)


def _inflated(body: bytes, window: int) -> bytes:
    return zlib.decompressobj(window).decompress(body, LIMIT + 1)


def _brotli(body: bytes) -> bytes:
    decoder = extra("Brotli data", "brotli").Decompressor()
    pieces, size = [], 0
    # The decompressor has no limit, but small pieces become some megabytes at most.
    for at in range(0, len(body), 4096):
        pieces.append(decoder.process(body[at : at + 4096]))
        size += len(pieces[-1])
        if size > LIMIT:
            break
    return b"".join(pieces)


def _zstd(body: bytes) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        return body
    library = extra("zstd data", "compression.zstd", "backports.zstd")
    return bytes(library.ZstdDecompressor().decompress(body, LIMIT + 1))


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "identity": lambda body: body,
}
