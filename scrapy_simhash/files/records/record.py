"""Record: one page that lies on disk. Source: the bytes it is read from, decompressed step by step.

Packages that only some kinds of input need are imported at first use, and named with their extra if missing.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from gzip import GzipFile
from importlib import import_module
from io import BufferedIOBase, BufferedReader, RawIOBase
from typing import Any, NamedTuple, cast

from scrapy_simhash.exceptions import KindError

#: The most frequent reason to pass something over.
NOT_HTML = "not HTML"


@dataclass(frozen=True, slots=True)
class Record:
    """One page, as any kind of input has it."""

    url: str
    page: str | bytes
    """HTML, as text or as the bytes that came; plain text where it `is_text`."""
    place: str
    """For messages: the input and where in it, as ``crawl.warc.gz:12`` or ``pages.jsonl:17``."""
    is_text: bool = False
    content_type: str | None = None
    """The HTTP header, if the input has kept it: it helps to decode bytes."""
    content_language: str | None = None
    """The HTTP header, if the input has kept it."""
    seen: int | None = None
    """When the page was fetched, in seconds of Unix time; None if the input does not say."""
    source: object = None
    """What came, for the writer of the same kind: the fields of a feed, the bytes of a WARC record, a row."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that is no page: it is counted and named, and what can be read after it is."""

    place: str
    reason: str
    """One clause without a full stop: ``not JSON``, ``no field 'url'``, ``the gzip data ends too early``."""
    is_rest: bool = False
    """Whether it stands for a file, or the rest of one, that cannot be read: nobody knows how many pages it has."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Something that is whole, and no page of HTML or text: a picture, a redirect. Inputs are full of them."""

    place: str
    reason: str
    """Few words, the same for all of a kind: ``not HTML``, ``HTTP status 301``."""
    names: tuple[str, ...] = ()
    """The fields that a record of a feed has, if what it lacks is a field."""


#: Bytes that are looked at to tell what a file is; so many that a pipe is waited for: a tar archive says it at 257.
HEAD = 4096
LEAST_HEAD = 512
#: Bytes that are read at once.
BUFFER = 1 << 18
#: Bytes of the largest record that is read, decompressed; larger ones are broken.
LIMIT = 64 << 20
TOO_LARGE = f"larger than {LIMIT >> 20} MB"


class BrokenStream(Exception):
    """A stream that cannot be read to its end; the message is the reason of a Broken."""


class Origin(NamedTuple):
    """Where a file lies, for the URL of a page that has none."""

    url: str
    """A file URL."""
    parts: tuple[str, ...]
    """The folders and the name below the input, which may be those of a mirror: ``("example.com", "a.html")``."""
    root: str = ""
    """The name of the folder that the input is."""


class Source(NamedTuple):
    """Bytes to be read, and what is known about them before."""

    name: str
    """What messages call it: the path as it was given, members of archives after it."""
    stream: BufferedIOBase
    head: bytes
    """The first bytes, which *stream* gives again."""
    origin: Origin


def source_of(name: str, stream: BufferedIOBase, origin: Origin) -> Source:
    """Return *stream* with its head. Raises OSError or BrokenStream."""
    head = b""
    while len(head) < (HEAD if stream.seekable() else LEAST_HEAD):
        more = stream.read1(HEAD - len(head))
        if not more:
            break
        head += more
    if stream.seekable():
        stream.seek(0)
    else:
        stream = _buffered(_Again(head, stream))
    return Source(name, stream, head, origin)


def guarded(stream: Any, kind: str) -> BufferedIOBase:
    """Return *stream*, which unpacks *kind* data: whatever goes wrong in there is a BrokenStream."""
    return _buffered(_Guarded(stream, kind))


def _buffered(raw: RawIOBase) -> BufferedIOBase:
    # A class of its own in the library, and a stream like any other to its users.
    return cast(BufferedIOBase, BufferedReader(raw, BUFFER))


class _Again(RawIOBase):
    """A stream that cannot go back, and the first bytes that were read of it."""

    def __init__(self, head: bytes, stream: BufferedIOBase) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        size = len(target)
        piece = self._head[:size] or self._stream.read1(size)
        self._head = self._head[size:]
        target[: len(piece)] = piece
        return len(piece)


class _Guarded(RawIOBase):
    """What can be read of packed data."""

    def __init__(self, stream: Any, kind: str) -> None:
        self._stream = stream
        self._kind = kind

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        try:
            # One step at a time: what was read before the fault is not lost.
            piece = self._stream.read1(len(target))
        except EOFError:
            raise BrokenStream(f"the {self._kind} data ends too early") from None
        except (BrokenStream, MemoryError):
            raise
        except Exception as error:
            # Each library has errors of its own, and bytes from outside meet them all.
            raise BrokenStream(f"the {self._kind} data is damaged: {error}") from None
        target[: len(piece)] = piece
        return len(piece)


def zstd() -> Any:
    """Return the module that reads and writes zstd: of the standard library from Python 3.14 on, else a backport."""
    return _first("zstd data", "zstd", "compression.zstd", "backports.zstd")


def brotli() -> Any:
    """Return the module that reads pages that servers compressed by Brotli."""
    return _first("Brotli data", "warc", "brotli")


def pyarrow(module: str) -> Any:
    """Return a module of pyarrow."""
    return _first("Parquet", "parquet", module)


def inflater() -> Any:
    """Return what makes a decompressor of zlib: that of isal, if it is there, takes less than half the time."""
    try:
        return import_module("isal.isal_zlib").decompressobj
    except ImportError:
        return import_module("zlib").decompressobj


def gzip_writer(stream: Any) -> Any:
    """Return what compresses into *stream*: isal, if it is there, takes a tenth to a fourth of the time of zlib.

    Both without a time, so that the same records are the same bytes; those of the two differ.
    """
    try:
        return import_module("isal.igzip").IGzipFile("", "wb", _ISAL_LEVEL, stream, mtime=0)
    except ImportError:
        return GzipFile("", "wb", _ZLIB_LEVEL, stream, mtime=0)


#: Half the time of the usual level 6 or less; pages become a tenth and a seventh larger.
_ZLIB_LEVEL = 3
_ISAL_LEVEL = 2


def _first(what: str, extra: str, *modules: str) -> Any:
    for module in modules:
        try:
            return import_module(module)
        except ImportError:
            continue
    raise KindError(f"{what} needs {modules[-1]}: pip install 'scrapy-simhash[{extra}]'")


#: Bytes that are decompressed at once: what they hold is lost if one of them is wrong.
_STEP = 1 << 15
#: As in zlib: a window of 32 KB, a header and a check sum of gzip.
_GZIP = 31


class GzipStream:
    """Gzip data of any number of members, decompressed step by step.

    The readers of the libraries look ahead over several members: what one of them is missing costs those before it.
    """

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
    module = zstd()
    # With a check sum, or damage is not seen.
    return module.open(stream, "wb", options={module.CompressionParameter.checksum_flag: 1})


CODECS = (
    Codec("gzip", ".gz", b"\x1f\x8b\x08", GzipStream, gzip_writer),
    Codec(
        "zstd",
        ".zst",
        b"\x28\xb5\x2f\xfd",
        lambda stream: zstd().open(stream, "rb"),
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
