"""The pages in WARC, WET, ARC and WACZ files, which are the records that a crawl would compare.

warcio finds the records. Bodies are decoded here, because archives may contain decoded bodies with the original
headers, chunks with trailers, and bodies with several encodings.
"""

from __future__ import annotations

import logging
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from mimetypes import guess_type
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records.opening import File, guarded, unpacked
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
    extra,
    wrong_url,
)
from scrapy_simhash.page.text import is_xml_feed
from scrapy_simhash.times import parsed

#: Types of records about pages, which are not counted, because each page may have several.
_ABOUT_PAGES = ("warcinfo", "request", "metadata")
#: Media types that Scrapy treats as HTML, and as other text regardless of the content.
_HTML = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_OTHER = re.compile("text/.*|application/.*(xml|json|javascript|amazonui-streaming)")
#: Bytes that are read to recognise the type of a body.
_LOOKED_AT = 5_000
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CUT = "the last record ends too early"
_NOT_WARC = "not a WARC record"


class WarcRecord(NamedTuple):
    """The record as read from an archive; a writer copies it."""

    version: str
    """The first line, such as ``WARC/1.1``."""
    headers: Sequence[tuple[str, str]]
    block: bytes

    @property
    def about(self) -> dict[str, str]:
        """The headers by lower-case name."""
        return {name.lower(): value for name, value in self.headers}


def warc_pages(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the pages of a decompressed WARC, WET or ARC file.

    Raises BrokenStream at the first record that is damaged or truncated, because later records cannot be found.
    """
    for number, record in enumerate(_records(stream), 1):
        place, about = f"{file.name}:{number}", record.about
        if about.get("warc-type", "").lower() in _ABOUT_PAGES:
            continue
        if reason := _passed_over(about):
            yield PassedOver(place, reason)
        elif len(record.block) > LIMIT:
            yield Broken(place, TOO_LARGE)
        else:
            yield _page(place, about, record)


def wacz_pages(stream: Any, file: File, fields: Fields) -> Found:
    """Yield the pages of the archives in a WACZ file, a zip with WARC files in the folder ``archive``."""
    try:
        with zipfile.ZipFile(stream) as package:
            for member in sorted(package.namelist()):
                if re.fullmatch(r"archive/[^/]+\.warc(\.gz)?", member):
                    with package.open(member) as packed:
                        archive = file._replace(name=f"{file.name}!{member}")
                        yield from warc_pages(unpacked(guarded(packed, "zip"), member), archive, fields)
    except zipfile.BadZipFile as error:
        raise BrokenStream(f"the zip data is damaged: {error}") from None
    # zipfile raises NotImplementedError for an unknown compression, RuntimeError for an encrypted member.
    except (NotImplementedError, RuntimeError) as error:
        raise BrokenStream(f"the zip member cannot be read: {error}") from None


def _records(stream: Any) -> Iterator[WarcRecord]:
    """Yield all records. Raises BrokenStream with the number of the record that cannot be read."""
    library, errors = extra("WARC", "warcio.archiveiterator"), extra("WARC", "warcio.exceptions")
    # warcio warns of each URL with a space, which is frequent, and escapes it.
    logging.getLogger("warcio.recordloader").setLevel(logging.ERROR)
    records = library.ArchiveIterator(stream, no_record_parse=True, arc2warc=True)
    # Suppress a warning on standard error; err_count is checked instead.
    records.INC_RECORD = ""
    number = 0
    try:
        for number, record in enumerate(records, 1):
            if records.err_count:
                raise BrokenStream(f"{_NOT_WARC}: the record before it has a wrong Content-Length")
            yield WarcRecord(record.rec_headers.protocol, record.rec_headers.headers, _block(record))
            # If the iterator raises, the next record is damaged.
            number += 1
    except (BrokenStream, errors.ArchiveLoadFailed) as error:
        reason = str(error) if isinstance(error, BrokenStream) else f"{_NOT_WARC}: {error}"
        raise BrokenStream(f"{reason} (record {max(number, 1)})") from None


def _block(record: Any) -> bytes:
    """Return the block of a record, at most `LIMIT` + 1 bytes. Raises BrokenStream if it is incomplete."""
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


def _passed_over(about: Mapping[str, str]) -> str | None:
    """Return why a record is not a page, according to its header; None if it may be a page."""
    kind, content = about.get("warc-type", "").lower(), about.get("content-type", "").lower()
    if kind not in ("response", "resource", "conversion"):
        return f"WARC record of type {kind or 'none'}"
    if "warc-truncated" in about:
        return "truncated"
    if "warc-segment-number" in about:
        return "WARC record in segments"
    if kind == "response" and not content.startswith("application/http"):
        return "not HTTP"
    return "not text" if kind == "conversion" and not content.startswith("text/plain") else None


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
    headers, body = {"content-type": about.get("content-type", "")}, record.block
    if kind == "response":
        found = _http(body)
        if found is None:
            return Broken(place, "no HTTP response in the record")
        status, headers, body = found
        if not 200 <= status < 300:
            return PassedOver(place, f"HTTP status {status}")
    content_type, language = headers.get("content-type", ""), headers.get("content-language")
    # Check this before the body is decoded, which takes longer.
    if _is_html(content_type, url) is False:
        return PassedOver(place, NOT_HTML)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunked(body)
    for encoding in reversed(headers.get("content-encoding", "").lower().split(",")):
        try:
            body = _DECODERS[encoding.strip()](body)
        except KeyError:
            return Broken(place, f"the content encoding {encoding[:40]!r} is not known")
        except KindError as error:
            return Broken(place, str(error))
        # Each library raises different errors.
        except Exception as error:
            return Broken(place, f"the {encoding} data of the page is damaged: {error}")
    if len(body) > LIMIT:
        return Broken(place, TOO_LARGE)
    if not _is_html(content_type, url, body) or is_xml_feed(body):
        return PassedOver(place, NOT_HTML)
    return Record(url, body, place, False, content_type or None, language or None, seen, record)


def _http(block: bytes) -> tuple[int, dict[str, str], bytes] | None:
    """Return status, headers with lower-case names, and body of an HTTP response; None for other data."""
    stream = BytesIO(block)
    parser = extra("WARC", "warcio.statusandheaders").StatusAndHeadersParser([], verify=False)
    try:
        found = parser.parse(stream)
    except EOFError:
        return None
    status = found.get_statuscode()
    if not (found.protocol.startswith("HTTP/") and status.isascii() and status.isdigit()):
        return None
    # Scrapy uses the last of several headers with the same name.
    return int(status), {name.lower(): value for name, value in found.headers}, block[stream.tell() :]


def _is_html(content_type: str, url: str, body: bytes | None = None) -> bool | None:
    """Return whether a page is HTML; None if this depends on *body*, which is None."""
    for media_type in (content_type.partition(";")[0].strip().lower(), guess_type(url)[0] or ""):
        if media_type in _HTML:
            return True
        if _OTHER.fullmatch(media_type):
            return False
    if body is None:
        return None
    start = body[:_LOOKED_AT].lower()
    is_html = b"<html>" in start or (b"<?xml" not in start and b"<!doctype html>" in start)
    return is_html and not _BINARY.search(start)


_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")


def unchunked(body: bytes) -> bytes:
    r"""Join the chunks of a body. A body without chunks is returned unchanged: some archives keep only the header.

    A truncated body is returned as far as it goes, as in a browser.

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


# --- Content encodings. Each function decodes a body to at most one byte more than `LIMIT`.


def _gzip(body: bytes) -> bytes:
    # Some archives have decompressed the body, but kept the Content-Encoding header.
    return zlib.decompressobj(31).decompress(body, LIMIT + 1) if body.startswith(b"\x1f\x8b") else body


def _deflate(body: bytes) -> bytes:
    try:
        return zlib.decompressobj(15).decompress(body, LIMIT + 1)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(body, LIMIT + 1)


def _brotli(body: bytes) -> bytes:
    decoder = extra("Brotli data", "brotli").Decompressor()
    decoded = bytearray()
    # The decompressor has no limit, but small pieces expand to a few megabytes at most.
    for at in range(0, len(body), 4096):
        decoded += decoder.process(body[at : at + 4096])
        if len(decoded) > LIMIT:
            break
    return bytes(decoded)


def _zstd(body: bytes) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        return body
    library = extra("zstd data", "compression.zstd", "backports.zstd")
    return bytes(library.ZstdDecompressor().decompress(body, LIMIT + 1))


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    **dict.fromkeys(("gzip", "x-gzip"), _gzip),
    **dict.fromkeys(("", "identity"), bytes),
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
