"""Journal: what was read of the records so far, in a file, so that a batch that was killed goes on where it was.

To read a page takes nearly all the time, to compare it hardly any. So only what was read is kept, and all verdicts
are given anew from that: what comes out is the same as if nothing had happened, and no page is read twice.

A line of JSON says what the batch is; after that comes a line for each record, a checksum and JSON. What a kill has
left of the last one is cut off.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

import xxhash

from scrapy_simhash.exceptions import SimhashError
from scrapy_simhash.files.batch.page import Read
from scrapy_simhash.files.records import Record
from scrapy_simhash.fingerprinter import Reading
from scrapy_simhash.page.fingerprint import Fingerprint

#: Bytes of entries that wait to be written: some hundred pages, which a kill loses.
_BUFFER = 1 << 16


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


def digest_of(page: Record | None) -> int:
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

    def next(self, part: int, page: Record | None, place: str) -> Entry | None:
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
        text = _packed(entry)
        self._file.write(_checksum(text) + b" " + text)

    def close(self) -> None:
        """Leave the file for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file: all is done."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _read(self) -> Iterator[Entry]:
        end = self._file.tell()
        for line in iter(self._file.readline, b""):
            checksum, _, text = line.partition(b" ")
            if checksum != _checksum(text):
                break
            end = self._file.tell()
            yield _unpacked(text)
        self._file.seek(end, os.SEEK_SET)
        self._file.truncate()


def _differences(theirs: object, ours: Mapping[str, object]) -> str:
    if not isinstance(theirs, dict):
        return ""
    names = [name for name in ours if theirs.get(name) != ours[name]]
    return f" ({', '.join(names)})" if names else ""


def _checksum(text: bytes) -> bytes:
    return f"{zlib.crc32(text):08x}".encode()


def _packed(entry: Entry) -> bytes:
    read, made = entry.read, None
    if (reading := read.reading) is not None:
        found = reading.fingerprint
        made = [
            reading.page_hash,
            reading.pieces.hex(),
            found and [found.value, found.features, found.sketch.hex(), found.own.hex()],
            reading.is_interstitial,
        ]
    facts = [
        *(entry.part, entry.digest, entry.is_kept, entry.protected, entry.fault),
        *(read.canonical, read.fault, made),
    ]
    return json.dumps(facts).encode() + b"\n"


def _unpacked(text: bytes) -> Entry:
    part, digest, is_kept, protected, fault, canonical, unread, made = json.loads(text)
    reading = None
    if made is not None:
        page_hash, pieces, found, is_interstitial = made
        fingerprint = found and Fingerprint(*found[:2], *map(bytes.fromhex, found[2:]))
        reading = Reading(fingerprint, page_hash, bytes.fromhex(pieces), is_interstitial=is_interstitial)
    return Entry(part, digest, Read(reading, canonical=canonical, fault=unread), is_kept, protected, fault)
