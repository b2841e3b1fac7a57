"""Keys and binary records in Redis, as in ``begin.lua``. ``notes/redis-layout.rst`` describes the layout.

All numbers are big endian.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.page.fingerprint import Fingerprint, sketch_length, title_key_number, unique_value
from scrapy_simhash.store.base import History, Posting, Row, Run

#: Version of the layout. Stores with a different version are refused.
VERSION = 14
#: The remedy for a store that this release cannot read.
ANEW = "Nothing was changed. Set SIMHASH_RESET = True to delete the store, or set a different prefix in SIMHASH_STORE"
#: The keys, in the order of the arguments of scripts. All are hashes with an empty field, except the log, which is a
#: stream.
KEYS = ("header", "pages", "log", "texts", "runs", "notes")
#: Bytes of the random ids of stores and runs.
ID_BYTES = 8
#: Bytes of the version of a note, which is random, so that a server that lost a note does not reuse a version.
VERSION_BYTES = 8
#: The id of a store that does not exist yet, and the mark of an empty log.
NO_ID, NO_MARK = bytes(ID_BYTES), bytes(4)
#: Errors of records that cannot be read.
FAULTS = (IndexError, ValueError, StructError)

#: Prefix of the key of a page, so that no field of ``pages`` is empty.
_KEY_MARK = b"k"
# Version, number, original, rank, joined, delivered, first seen, last seen, last visit, visits, changes, and the
# lengths of the keys of two copies; these keys follow.
_HEAD = Struct(">IQQ8IBB")
# Length of the scope, kind of text, page hash; the scope follows.
_TEXT = Struct(">Bc8s")
# Flags of the values by which the page is found, value, whether there is a text hash, text hash, length of the
# fingerprint; fingerprint and URL follow.
_REST = Struct(">BQ?QH")
#: Kinds of texts in ``_TEXT``: of a page with a fingerprint, of a short page, or unknown.
_LONG, _SHORT, _NO_TEXT = b"t", b"s", b"n"
#: Fields in the head of a row that a visit changes: delivered, first seen, last seen, last visit, visits, changes.
_VISIT = Struct(">6I")
# The head of an event in a part of the log: the two numbers of its id, and the length of the rest.
_EVENT_HEAD = Struct(">QIH")
# Sign, mark, flags of the values by which the original is found, length of the scope; values, scope and key follow.
_EVENT = Struct(">c4sBB")
_VALUES = tuple(Struct(f">{way.bit_count()}Q") for way in range(8))
_RUN = Struct(f">{ID_BYTES}sqq")
_MAX_SECONDS = (1 << 32) - 1
_NO_HASH = bytes(8)


class Event(NamedTuple):
    """An original that was added or removed."""

    position: tuple[int, int]
    """Events are in the order of their positions."""
    mark: bytes
    is_removed: bool
    number: int
    values: tuple[int, ...]
    """The values by which the original is indexed; empty if it is not indexed."""
    scope: bytes


def names_of(prefix: str) -> list[str]:
    """Return the names of the keys of a store."""
    return [f"{prefix}:{key}" for key in KEYS]


def encoded(text: str) -> bytes:
    """Return *text* in UTF-8. Lone surrogates are kept as they are."""
    return text.encode("utf-8", "surrogatepass")


def decoded(text: bytes) -> str:
    """Return the text for a result of encoded()."""
    return text.decode("utf-8", "surrogatepass")


def field_of(key: bytes) -> bytes:
    """Return the field of a page in the hash ``pages``. Raises ValueError if its *key* is too long."""
    return _KEY_MARK + checked("key", key)


def checked(name: str, part: bytes) -> bytes:
    """Return *part*. Raises ValueError if it is too long for a record."""
    if len(part) >= 255:
        raise ValueError(f"a {name} must have at most 254 bytes, got {len(part)}")
    return part


def packed_time(seen: int) -> int:
    """Limit a time to the range of a row: seconds of Unix time, from 0 until the year 2106."""
    return min(max(seen, 0), _MAX_SECONDS)


def text_of(posting: Posting) -> bytes:
    """Return the field of a page's text in ``texts``. Short pages can only be equal to short pages."""
    page_hash = posting.own_page_hash
    if page_hash is None:
        return b""
    kind = _SHORT if posting.is_short else _LONG
    return kind + page_hash.to_bytes(8, "big") + encoded(posting.scope)


def record_of(row: Row) -> tuple[bytes, bytes]:
    """Return the two parts of a row's record that a claim stores; the server adds number, original and rank."""
    posting = row.posting
    fingerprint, scope = posting.fingerprint, checked("scope", encoded(posting.scope))
    rest = fingerprint.sketch + fingerprint.own if fingerprint.sketch else b""
    text = text_of(posting)
    head = _TEXT.pack(len(scope), text[:1] or _NO_TEXT, text[1:9] or _NO_HASH)
    text_hash = posting.text_hash
    tail = _REST.pack(row.found_by, fingerprint.value, text_hash is not None, text_hash or 0, len(rest))
    first_seen, last_visit, visits, changes = posting.history or History(posting.seen, posting.seen)
    times = map(packed_time, (first_seen, posting.seen, last_visit))
    visit = _VISIT.pack(row.delivered or 0, *times, visits, changes)
    return visit, head + scope + tail + rest + encoded(posting.url)


def read_row(key: bytes, record: bytes, original: str | None = None) -> Row:
    """Return the row in the record of the page with *key*. Raises one of `FAULTS` if it cannot be read."""
    _, number, cluster, rank, joined, delivered, first_seen, seen, *visits, first, second = _HEAD.unpack_from(
        record
    )
    at = _HEAD.size + first + second
    scope_length, kind, page_hash = _TEXT.unpack_from(record, at)
    at += _TEXT.size
    scope = decoded(record[at : at + scope_length])
    at += scope_length
    found_by, value, has_text_hash, text_hash, length = _REST.unpack_from(record, at)
    at += _REST.size
    rest = record[at : at + length]
    end = sketch_length(rest)
    if at + length > len(record) or end > length or max(number, cluster) >> 63 or found_by > 7:
        raise ValueError("a row is truncated")
    posting = Posting(
        key,
        decoded(record[at + length :]),
        scope,
        Fingerprint(value, 0, rest[:end], rest[end:]),
        kind == _SHORT,
        None if kind == _NO_TEXT else int.from_bytes(page_hash, "big"),
        seen,
        delivered > 0,
        text_hash if has_text_hash else None,
        History(first_seen, *visits),
    )
    return Row(number, posting, cluster, original, delivered or None, rank, joined, found_by)


def version_in(record: bytes) -> int:
    """Return the version of a row, 0 without a row. The version changes whenever the row is written for a visit."""
    return int.from_bytes(record[:4], "big")


def number_in(record: bytes) -> int:
    """Return the number in the record of a row."""
    return int.from_bytes(record[4:12], "big")


def packed_hash(page_hash: int | None) -> bytes:
    """Return a page hash as an argument of ``deliver``."""
    return b"" if page_hash is None else page_hash.to_bytes(8, "big")


def packed_values(posting: Posting) -> bytes:
    """Return the values of the text, the unique text and the title key; 0 for values that are not compared."""
    fingerprint = posting.fingerprint
    if posting.is_short or not fingerprint.sketch:
        return _VALUES[7].pack(fingerprint.value, 0, 0)
    return _VALUES[7].pack(
        fingerprint.value, unique_value(fingerprint.own), title_key_number(fingerprint.sketch)
    )


def read_events(packed: bytes, at: int) -> Iterator[Event]:
    """Yield the events in *packed* from byte *at* on. Raises one of `FAULTS` if they cannot be read."""
    while at < len(packed):
        first, second, length = _EVENT_HEAD.unpack_from(packed, at)
        at += _EVENT_HEAD.size
        event = packed[at : at + length]
        at += length
        sign, mark, found_by, scope_length = _EVENT.unpack_from(event)
        values = _VALUES[found_by].unpack_from(event, _EVENT.size)
        scope_at = _EVENT.size + 8 * len(values)
        scope = event[scope_at : scope_at + scope_length]
        is_removed = sign == b"-"
        number = int.from_bytes(event[-8:], "big") if is_removed else first - 1
        yield Event((first, second), mark, is_removed, number, values, scope)


def read_run(number: bytes, record: bytes) -> Run:
    """Return the run in a record. Raises ValueError or struct.error if it cannot be read."""
    _, started, ended = _RUN.unpack_from(record)
    if ended < 0:
        return Run(int(number), started, None, None)
    return Run(int(number), started, ended, decoded(record[_RUN.size :]))


def new_version() -> bytes:
    """Return a new version of a note."""
    return (int.from_bytes(os.urandom(VERSION_BYTES), "big") or 1).to_bytes(VERSION_BYTES, "big")


def read_note(record: bytes) -> tuple[int, bytes]:
    """Return the version and the data of a note."""
    return int.from_bytes(record[:VERSION_BYTES], "big"), record[VERSION_BYTES:]


@contextmanager
def readable(place: str) -> Iterator[None]:
    """Raise StoreDamaged for an unreadable header of the store at *place*."""
    try:
        yield
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{place} has a header that cannot be read: {error}. {ANEW}") from error
