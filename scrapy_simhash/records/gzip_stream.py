"""GzipStream: gzip data of any number of members, decompressed step by step.

The readers of the libraries look ahead over several members: what one of them is missing costs those before it, too.
"""

from __future__ import annotations

from typing import Any

from scrapy_simhash.records.extras import inflater

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
