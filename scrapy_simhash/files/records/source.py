"""Source: a file, a member of an archive or a pipe, of which the beginning can be looked at before it is read."""

from __future__ import annotations

from io import BufferedIOBase, BufferedReader, RawIOBase
from typing import Any, NamedTuple, cast

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
    path: str | None = None
    """Where it lies on disk, if it is a file and not compressed."""


def source_of(name: str, stream: BufferedIOBase, origin: Origin, path: str | None = None) -> Source:
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
    return Source(name, stream, head, origin, path)


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
