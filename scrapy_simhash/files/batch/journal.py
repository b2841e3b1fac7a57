"""Journal: what was read of the records so far, in a file, so that a batch that was killed goes on where it was.

To read a page takes nearly all the time, to compare it hardly any. So only what was read is kept, and all verdicts
are given anew from that: what comes out is the same as if nothing had happened, and no page is read twice.

A line of JSON says what the batch is; after that comes an entry for each record, with its length and a checksum.
What a kill has left of the last one is cut off.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import Struct, error
from typing import IO, NamedTuple

import xxhash

from scrapy_simhash.exceptions import SimhashError
from scrapy_simhash.files.batch.page import Page, Read
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.fingerprint import Fingerprint

#: Bytes of entries that wait to be written: some hundred pages, which a kill loses.
_BUFFER = 1 << 16
_FRAME = Struct("<II")
_HEAD = Struct("<BQBQIQHHIIHI")
_HAS_READING, _HAS_FINGERPRINT, _HAS_HASH, _HAS_CANONICAL, _IS_KEPT = 1, 2, 4, 8, 16


class JournalMismatch(SimhashError, ValueError):
    """A journal of another batch: other records, or other settings."""


class Entry(NamedTuple):
    """What is kept of a record."""

    part: int
    """In which pass over the records it was read."""
    digest: int
    """Of the record: see `digest_of`."""
    read: Read
    is_kept: bool = True
    protected: str = ""
    fault: str = ""
    """The last three: the ruling on a copy."""


def digest_of(page: Page | None) -> int:
    """Return 64 bits by which a page is known again; 0 for a broken record."""
    if page is None:
        return 0
    digest = xxhash.xxh3_64(repr((page.url, page.is_text, page.content_type, page.content_language)).encode())
    digest.update(page.page if isinstance(page.page, bytes) else page.page.encode("utf-8", "surrogatepass"))
    return digest.intdigest()


class Journal:
    """The journal at *path*, for a batch that *facts* describe. Read what there is, then add to it."""

    def __init__(self, path: Path, facts: Mapping[str, object]) -> None:
        """Open it, or begin one. Raises JournalMismatch for that of another batch, and OSError."""
        self.path = path
        self._facts = json.loads(json.dumps(facts, sort_keys=True, default=str))
        self._file: IO[bytes] = path.open("r+b" if path.exists() else "x+b", buffering=_BUFFER)
        #: Whether an earlier run has left anything.
        self.is_resumed = False
        #: Whether there is nothing in it that would have to be read again.
        self.is_empty = True
        try:
            self._begin()
        except BaseException:
            self._file.close()
            raise
        self._entries = self._read()
        self._next = next(self._entries, None)
        self.is_empty = self._next is None

    def _begin(self) -> None:
        line = self._file.readline()
        if not line.endswith(b"\n"):
            # New, or killed before there was anything in it.
            self._file.seek(0)
            self._file.truncate()
            self._file.write(json.dumps(self._facts).encode() + b"\n")
            self._file.flush()
            return
        try:
            facts = json.loads(line)
        except ValueError:
            facts = None
        if facts != self._facts:
            raise JournalMismatch(
                f"{self.path} is what another run has left, with other inputs or settings"
                f"{_differences(facts, self._facts)}"
            )
        self.is_resumed = True

    def next(self, part: int, page: Page | None, place: str) -> Entry | None:
        """Return what was kept of the next record, None if it is to be read.

        Raises JournalMismatch for another record than was read before.
        """
        entry = self._next
        if entry is None or entry.part != part:
            return None
        if entry.digest != digest_of(page):
            raise JournalMismatch(f"{place} is not what it was when {self.path} was begun")
        self._next = next(self._entries, None)
        return entry

    def add(self, entry: Entry) -> None:
        """Keep an entry, after all that were there."""
        self.is_empty = False
        payload = _packed(entry)
        self._file.write(_FRAME.pack(len(payload), zlib.crc32(payload)) + payload)

    def close(self) -> None:
        """Leave the file for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file: all is done."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _read(self) -> Iterator[Entry]:
        end = self._file.tell()
        while True:
            head = self._file.read(_FRAME.size)
            if len(head) < _FRAME.size:
                break
            size, checksum = _FRAME.unpack(head)
            payload = self._file.read(size)
            if len(payload) < size or zlib.crc32(payload) != checksum:
                break
            end = self._file.tell()
            try:
                entry = _unpacked(payload)
            except (ValueError, error):
                break
            yield entry
        self._file.seek(end, os.SEEK_SET)
        self._file.truncate()


def _differences(theirs: object, ours: Mapping[str, object]) -> str:
    if not isinstance(theirs, dict):
        return ""
    names = [name for name in ours if theirs.get(name) != ours[name]]
    return f" ({', '.join(names)})" if names else ""


def _packed(entry: Entry) -> bytes:
    read = entry.read
    reading = read.reading or Reading(None, None)
    fingerprint = reading.fingerprint or Fingerprint(0)
    flags = (
        _HAS_READING * (read.reading is not None)
        + _HAS_FINGERPRINT * (reading.fingerprint is not None)
        + _HAS_HASH * (reading.text_hash is not None)
        + _HAS_CANONICAL * (read.canonical is not None)
        + _IS_KEPT * entry.is_kept
    )
    parts = (
        fingerprint.sketch,
        fingerprint.own,
        reading.pieces,
        _bytes(read.canonical or ""),
        _bytes(entry.protected),
        _bytes(entry.fault or read.fault),
    )
    return _HEAD.pack(
        entry.part,
        entry.digest,
        flags,
        fingerprint.value,
        fingerprint.features,
        reading.text_hash or 0,
        *map(len, parts),
    ) + b"".join(parts)


def _unpacked(data: bytes) -> Entry:
    part, digest, flags, value, features, text_hash, *sizes = _HEAD.unpack_from(data)
    pieces, start = [], _HEAD.size
    for size in sizes:
        pieces.append(data[start : start + size])
        start += size
    sketch, own, keys, canonical, protected, fault = pieces
    fingerprint = Fingerprint(value, features, sketch, own) if flags & _HAS_FINGERPRINT else None
    reading = Reading(fingerprint, text_hash if flags & _HAS_HASH else None, keys)
    has_reading = flags & _HAS_READING
    read = Read(
        reading if has_reading else None,
        canonical=canonical.decode("utf-8", "surrogatepass") if flags & _HAS_CANONICAL else None,
        fault="" if has_reading else fault.decode("utf-8", "surrogatepass"),
    )
    return Entry(
        part,
        digest,
        read,
        bool(flags & _IS_KEPT),
        protected.decode(),
        fault.decode("utf-8", "surrogatepass"),
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
