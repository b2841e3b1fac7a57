"""Keys and binary records in Redis. ``begin.lua`` has the Lua half, ``notes/redis-layout.rst`` describes both.

All numbers are big endian.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint import Fingerprint, own_value, sketch_length, subject_number
from scrapy_simhash.store.base import History, Posting, Run, Visit

#: Version of the layout. Stores with another version are refused.
VERSION = 12
#: The remedy for a store that this release cannot read.
ANEW = "Nothing was changed. Set SIMHASH_RESET = True to begin anew, or give SIMHASH_STORE another prefix"
#: The keys, in the order of the arguments of scripts. All are hashes with an empty field.
KEYS = ("header", "pages", "log", "texts", "runs", "notes")
#: Bytes of the random ids of stores and runs.
ID_BYTES = 8
#: Bytes of the random version of a note. Random, so that a server that lost a note does not reuse a version.
VERSION_BYTES = 8
#: The id of a store that does not exist yet, and the mark of an empty log.
NO_ID, NO_MARK = bytes(ID_BYTES), bytes(4)
#: Replaces the number of changes for a log that is read from the beginning.
ALL_CHANGES = (1 << 32) - 1

#: Prefix of the key of a page, so that no field of ``pages`` is empty.
_KEY_MARK = b"k"
_HAS_HASH, _HAS_TEXT_HASH, _IS_SHORT = 1, 2, 4
# Flags, by which values it is found, number, original, rank, joined, delivered, first seen, last seen, last visit,
# visits, changes, claim, value, hash, text hash, lengths of scope and fingerprint.
_ROW = Struct(">BBQQ9IQ8s8sHH")
# Flags, claim, first seen, last seen, last visit, visits, changes, whether it was delivered, value, hash, text hash.
_VISIT = Struct(">B7IQ8s8s")
_EVENT = Struct(">cQ")
_ENTRY = Struct(">BB4sBBBB")
_VALUES = tuple(Struct(f">{way.bit_count()}Q") for way in range(8))
_RUN = Struct(f">{ID_BYTES}sqq")
_ORDER_BYTES = 8
_MOST_SECONDS = (1 << 32) - 1
_NO_HASH = bytes(8)


class Row(NamedTuple):
    """A row: the fields of its head, and its texts."""

    flags: int
    found_by: int
    number: int
    original: int
    rank: int
    joined: int
    delivered: int
    first_seen: int
    last_seen: int
    last_visit: int
    visits: int
    changes: int
    claim: int
    """Random number of the latest claim; it identifies a claim that is sent twice."""
    value: int
    page_hash: int | None
    text_hash: int | None
    scope: str = ""
    fingerprint: bytes = b""
    """Sketch and unique text."""
    url: str = ""

    @property
    def is_short(self) -> bool:
        """Whether only equal texts match."""
        return self.flags & _IS_SHORT > 0

    @property
    def compared(self) -> bytes:
        """``Fingerprint.compared_bytes``."""
        return self.value.to_bytes(8, "big") + self.fingerprint

    def visit(self, run: int) -> Visit:
        """Return the row as a claim of *run* returns it."""
        is_delivered = self.delivered not in (0, run)
        return Visit(
            *(self.value, self.page_hash, self.last_seen, self.original, self.is_short, is_delivered),
            history=self.history,
        )

    @property
    def history(self) -> History:
        """The visits of the page."""
        return History(self.first_seen, self.last_visit, self.visits, self.changes)

    def posting(self, key: bytes) -> Posting:
        """Return the posting of the page with *key*."""
        end = sketch_length(self.fingerprint)
        fingerprint = Fingerprint(self.value, 0, self.fingerprint[:end], self.fingerprint[end:])
        is_delivered = self.delivered > 0
        return Posting(
            *(key, self.url, self.scope, fingerprint, self.is_short, self.page_hash, self.last_seen),
            *(is_delivered, self.text_hash, self.history),
        )


class Event(NamedTuple):
    """An original that was added or removed."""

    sign: bytes
    """``CAME``, ``BECAME`` or ``WENT``."""
    number: int
    values: tuple[int, ...]
    """The values by which it is indexed; empty if it is not."""
    scope: bytes
    mark: bytes


#: A new page became an original; a known page became an original; an original was removed.
CAME, BECAME, WENT = b"+", b"*", b"-"


def names_of(prefix: str) -> list[str]:
    """Return the names of the keys of a store."""
    return [f"{prefix}:{key}" for key in KEYS]


def encoded(text: str) -> bytes:
    """Return *text* in UTF-8. Lone surrogates are kept as they are."""
    return text.encode("utf-8", "surrogatepass")


def decoded(text: bytes) -> str:
    """Decode the output of encoded()."""
    return text.decode("utf-8", "surrogatepass")


def readable_text(text: bytes) -> str:
    """Decode the output of encoded(), with replacement characters for damaged bytes."""
    try:
        return decoded(text)
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def field_of(key: bytes) -> bytes:
    """Return the field of a page. Raises ValueError for a key that is too long."""
    return _KEY_MARK + checked("key", key)


def key_of(field: bytes) -> bytes | None:
    """Return the page key in a field, None for the empty field."""
    return field[1:] if field else None


def checked(name: str, part: bytes) -> bytes:
    """Return *part*. Raises ValueError if its length does not fit an entry of the log."""
    if len(part) >= 255:
        raise ValueError(f"a {name} must have at most 254 bytes, got {len(part)}")
    return part


def packed_time(seen: int) -> int:
    """Clamp a time to the range of a row: seconds of Unix time until the year 2106."""
    return min(max(seen, 0), _MOST_SECONDS)


def packed_visit(posting: Posting, claim: int) -> bytes:
    """Return the part of *posting* that a claim stores besides key, texts and fingerprint."""
    page_hash, text_hash = posting.own_page_hash, posting.text_hash
    flags = (page_hash is not None) * _HAS_HASH + (text_hash is not None) * _HAS_TEXT_HASH
    flags += posting.is_short * _IS_SHORT
    first_seen, last_visit, visits, changes = posting.history or History(posting.seen, posting.seen)
    times = [packed_time(seen) for seen in (first_seen, posting.seen, last_visit)]
    numbers = claim, *times, visits, changes, int(posting.is_delivered)
    hashes = _packed_hash(page_hash), _packed_hash(text_hash)
    return _VISIT.pack(flags, *numbers, posting.fingerprint.value, *hashes)


def packed_hash(page_hash: int | None) -> bytes:
    """Return a hash in the format of ``deliver``: whether it is known, and its 8 bytes."""
    return bytes([page_hash is not None]) + _packed_hash(page_hash)


def packed_values(posting: Posting) -> bytes:
    """Return the values of text, unique text and title key, 0 for those that are not compared."""
    fingerprint = posting.fingerprint
    if posting.is_short or not fingerprint.sketch:
        return _VALUES[7].pack(fingerprint.value, 0, 0)
    return _VALUES[7].pack(fingerprint.value, own_value(fingerprint.own), subject_number(fingerprint.sketch))


def read_row_head(record: bytes) -> Row:
    """Return the head of a row without its texts. Raises struct.error if it is truncated."""
    *numbers, page_hash, text_hash, _, _ = _ROW.unpack_from(record)
    flags = numbers[0]
    its_hash = int.from_bytes(page_hash, "big") if flags & _HAS_HASH else None
    its_text_hash = int.from_bytes(text_hash, "big") if flags & _HAS_TEXT_HASH else None
    return Row._make((*numbers, its_hash, its_text_hash, "", b"", ""))


def read_row(record: bytes) -> Row:
    """Return the row in a record. Raises ValueError, IndexError or struct.error if it cannot be read."""
    head = read_row_head(record)
    *_, scope, fingerprint = _ROW.unpack_from(record)
    scope_end = _ROW.size + scope
    end = scope_end + fingerprint
    its_fingerprint = record[scope_end:end]
    if end > len(record) or sketch_length(its_fingerprint) > fingerprint:
        raise ValueError("a row is cut off")
    return head._replace(
        scope=decoded(record[_ROW.size : scope_end]),
        fingerprint=its_fingerprint,
        url=decoded(record[end:]),
    )


def read_events(packed: bytes, at: int, known: int) -> Iterator[Event]:
    """Yield the events in *packed* from byte *at* on, without new pages below *known*."""
    while at < len(packed):
        sign, number = _EVENT.unpack_from(packed, at)
        _, found_by, mark, key, scope, first, second = _ENTRY.unpack_from(packed, at + _EVENT.size)
        values = _VALUES[found_by]
        at += _EVENT.size + _ENTRY.size
        scope_at = at + values.size + key
        if sign != CAME or number >= known:
            its_scope = packed[scope_at : scope_at + scope]
            yield Event(sign, number, values.unpack_from(packed, at), its_scope, mark)
        at = scope_at + scope + first + second


def read_run(number: bytes, record: bytes) -> Run:
    """Return the run in a record. Raises ValueError or struct.error if it cannot be read."""
    _, started, ended = _RUN.unpack_from(record)
    if ended < 0:
        return Run(int(number), started, None, None)
    return Run(int(number), started, ended, decoded(record[_RUN.size :]))


def new_version() -> int:
    """Return a new version of a note."""
    return int.from_bytes(os.urandom(VERSION_BYTES), "big") or 1


def packed_version(version: int) -> bytes:
    """Return the version of a note as it is stored."""
    return version.to_bytes(VERSION_BYTES, "big")


def read_note(record: bytes) -> tuple[int, bytes]:
    """Return version and bytes of a note."""
    return int.from_bytes(record[:VERSION_BYTES], "big"), record[VERSION_BYTES + _ORDER_BYTES :]


def _packed_hash(number: int | None) -> bytes:
    return _NO_HASH if number is None else number.to_bytes(8, "big")
