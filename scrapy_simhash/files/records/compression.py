"""gzip, zstd, bz2 and xz: told by the first bytes when read, by the ending of the name when written.

GzipStream: gzip data of any number of members, decompressed step by step.

The readers of the libraries look ahead over several members: what one of them is missing costs those before it, too.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import Any, NamedTuple

from scrapy_simhash.files.records import extras
from scrapy_simhash.files.records.extras import inflater
from scrapy_simhash.files.records.source import Source, guarded, source_of

#: Bytes that are decompressed at once: what they hold is lost if one of them is wrong.
_STEP = 1 << 15
#: As in zlib: a window of 32 KB, a header and a check sum of gzip.
_GZIP = 31


class GzipStream:
    """Reads what *stream* has; compressed data within is never more than one step in memory."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._new = inflater()
        self._member = self._new(_GZIP)
        self._waiting = b""
        #: Whether the member may have more to give without more data.
        self._is_full = False

    def read1(self, size: int) -> bytes:
        """Return some of the data, b"" at the end. Raises EOFError if it ends too early, and an error of zlib."""
        while True:
            if self._member.eof:
                self._waiting = self._next_member(self._member.unused_data)
                if not self._waiting:
                    return b""
                self._member = self._new(_GZIP)
            elif not self._waiting and not self._is_full:
                self._waiting = self._stream.read1(_STEP)
                if not self._waiting:
                    raise EOFError
            data: bytes = self._member.decompress(self._waiting, size)
            self._waiting = self._member.unconsumed_tail
            self._is_full = len(data) == size
            if data:
                return data

    def _next_member(self, start: bytes) -> bytes:
        """Return the beginning of the next member, b"" if there is none; zeros fill the last block of a tape."""
        start = start.lstrip(b"\x00")
        while not start and (more := self._stream.read1(_STEP)):
            start = more.lstrip(b"\x00")
        return start


#: So many layers may lie in each other: more is made to be nothing but that.
DEPTH = 3


class Codec(NamedTuple):
    """One way to compress."""

    name: str
    ending: str
    magic: bytes
    reader: Callable[[Any], Any]
    """Takes what is compressed, and returns a stream."""
    writer: Callable[[Any], Any]
    """Takes where it is written."""


def _opener(module: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return lambda stream: module.open(stream, "rb"), lambda stream: module.open(stream, "wb")


def _zstd_writer(stream: Any) -> Any:
    zstd = extras.zstd()
    # With a check sum, or damage is not seen.
    return zstd.open(stream, "wb", options={zstd.CompressionParameter.checksum_flag: 1})


CODECS = (
    Codec("gzip", ".gz", b"\x1f\x8b\x08", GzipStream, extras.gzip_writer),
    Codec(
        "zstd",
        ".zst",
        b"\x28\xb5\x2f\xfd",
        lambda stream: extras.zstd().open(stream, "rb"),
        _zstd_writer,
    ),
    Codec("bz2", ".bz2", b"BZh", *_opener(bz2)),
    Codec("xz", ".xz", b"\xfd7zXZ\x00", *_opener(lzma)),
)


def decompressed(source: Source) -> Source:
    """Return what *source* is when all compression is taken off; itself if there is none.

    Raises BrokenStream where its beginning cannot be decompressed, and KindError if an extra is missing.
    """
    for _ in range(DEPTH):
        codec = next((codec for codec in CODECS if source.head.startswith(codec.magic)), None)
        if codec is None:
            break
        parts = source.origin.parts
        if parts and parts[-1].lower().endswith(codec.ending):
            parts = (*parts[:-1], parts[-1][: -len(codec.ending)])
        stream = guarded(codec.reader(source.stream), codec.name)
        source = source_of(source.name, stream, source.origin._replace(parts=parts))
    return source


def codec_of(name: str) -> Codec | None:
    """Return how a file that is called *name* is compressed, None if it is not.

    >>> codec_of("pages.jsonl.GZ").name, codec_of("pages.jsonl")
    ('gzip', None)
    """
    return next((codec for codec in CODECS if name.lower().endswith(codec.ending)), None)
