"""Answers of servers, as archives and caches keep them: which are pages, as a crawl would say."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from mimetypes import guess_type
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records import extras
from scrapy_simhash.files.records.fields import wrong_url
from scrapy_simhash.files.records.record import NOT_HTML, Broken, PassedOver, Record
from scrapy_simhash.files.records.source import LIMIT, TOO_LARGE
from scrapy_simhash.page.text import is_xml_feed

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
    decoder: Any = extras.brotli().Decompressor()
    return _up_to_limit(lambda data: decoder.process(data), body)


def _zstd(body: bytes) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd"):
        return body
    decoder: Any = extras.zstd().ZstdDecompressor()
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
