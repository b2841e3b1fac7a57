"""The bytes in Redis: which keys there are, and what their records hold. ``begin.lua`` has the other half.

``notes/redis-layout.rst`` draws the records. All numbers are big endian.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from struct import Struct
from typing import NamedTuple

from scrapy_simhash.page.fingerprint import Fingerprint, own_part_length, sketch_length
from scrapy_simhash.store.base import Posting, Run, Visit
from scrapy_simhash.store.candidates import BY_OWN_PART, BY_SUBJECT, BY_TEXT, values_by

#: Of the layout. A store with another one is not touched.
VERSION = 11
#: What to do about a store that this release cannot read.
ANEW = "Nothing was changed. Set SIMHASH_RESET = True to begin anew, or give SIMHASH_STORE another prefix"
#: In the order in which the scripts take them.
KEYS = (
    *("header", "pages", "contents", "events", "short", "texts", "runs", "notes", "latest", "answers"),
    "copies",
)
#: Of the random names of stores and runs.
ID_BYTES = 8
MARK_BYTES = 4

_HAS_PAGE_HASH, _HAS_SKETCH, _IS_SHORT, _DIFFERS, _HAS_RANKS = 1, 2, 4, 16, 32
_HAS_OWN_PART = 128
# Value, time, hash of the text; before it, where a posting travels, its flags.
_STAMP = Struct(">QqQ")
_PAGE = Struct(">QQQIIB24s")
# Of a page, if its flags say so: its rank, how many have joined its cluster. Only the scripts look into it.
_RANKS_BYTES = 8
_CONTENT = Struct(">QQB24sHH")
# An event travels after its length.
_LENGTH_BYTES = 4
_EVENT = Struct(">IcQBQQQ")
_FOUND_BY = Struct(">BQQQ")
#: The kind of an event: a content came. The other is ``-``.
CAME = b"+"
#: In place of the kind of an event that cannot be read.
DAMAGED = b""
#: Of each version of a note: random, so that a server that lost one gives none twice.
VERSION_BYTES = 8
_TIME = Struct(">q")
_RUN = Struct(f">{ID_BYTES}sqq")
_LONGEST = 0xFFFF
#: Numbers are smaller: Lua cannot count further.
_MOST_NUMBER = 1 << 53


class PageRecord(NamedTuple):
    """A page as it is kept under its key."""

    number: int
    content: int
    own: int
    """One more than the number of the latest content that came from it, 0 if none did."""
    run: int
    """Of its latest claim."""
    delivered: int
    """The run that has delivered an item of it last, 0 if none has since it has its text."""
    value: int
    page_hash: int | None
    seen: int
    fingerprint: Fingerprint | None
    """None when sketch and own part are those of its content."""
    url: str


class ContentRecord(NamedTuple):
    """A content as it is kept under its number."""

    page: int
    """Number of the page it came from."""
    before: int
    """One more than the number of the content that came from that page before this one, 0 if none did."""
    fingerprint: Fingerprint
    page_hash: int | None
    seen: int
    is_short: bool
    key: bytes
    """Of the page it came from."""
    scope: str


def packed_time(seen: int) -> bytes:
    """Return a time as a stamp has it."""
    return _TIME.pack(seen)


def packed_hash(page_hash: int | None) -> bytes:
    """Return a text hash as the script ``deliver`` takes it: whether it is known, and its 8 bytes."""
    return bytes([page_hash is not None]) + (page_hash or 0).to_bytes(8, "big")


def new_version() -> int:
    """Return a version of a note that none had before."""
    return int.from_bytes(os.urandom(VERSION_BYTES), "big") or 1


def packed_version(version: int) -> bytes:
    """Return the version of a note as it is kept before its bytes."""
    return version.to_bytes(VERSION_BYTES, "big")


def read_note(record: bytes) -> tuple[int, bytes]:
    """Return version and bytes of a note."""
    return int.from_bytes(record[:VERSION_BYTES], "big"), record[VERSION_BYTES:]


def names_of(prefix: str) -> list[str]:
    """Return the names of the keys of a store."""
    return [f"{prefix}:{key}" for key in KEYS]


def encoded(text: str) -> bytes:
    """Return *text* in UTF-8. Lone surrogates are kept as they are."""
    return text.encode("utf-8", "surrogatepass")


def decoded(text: bytes) -> str:
    """Return the text that encoded() took."""
    return text.decode("utf-8", "surrogatepass")


def checked(name: str, part: bytes) -> bytes:
    """Return *part* if its length fits a record. Raises ValueError if it does not."""
    if len(part) > _LONGEST:
        raise ValueError(f"a {name} must have at most {_LONGEST} bytes, got {len(part)}")
    return part


def stamp_of(posting: Posting) -> bytes:
    """Return flags, value, time and hash of the text of *posting*, as scripts take them."""
    flags = 0 if posting.page_hash is None else _HAS_PAGE_HASH
    return bytes([flags]) + _STAMP.pack(posting.fingerprint.value, posting.seen, posting.page_hash or 0)


def read_visit(kind: int, flags: int, cluster: int, stamp: bytes) -> Visit | None:
    """Return a former visit as the script tells it: its *kind* is 0 for none, 2 if it was delivered.

    *flags* are those of the page, and that of its content which says that it is short.
    """
    if not kind:
        return None
    value, page_hash, seen = _read_stamp(flags, stamp)
    if flags & _IS_SHORT:
        page_hash = value
    return Visit(value, page_hash, seen, cluster, bool(flags & _IS_SHORT), kind == 2)


def read_page(record: bytes) -> PageRecord:
    """Return the page of a record. Raises as `Damage.read` expects for a damaged one."""
    number, content, own, run, delivered, flags, stamp = _PAGE.unpack_from(record)
    value, page_hash, seen = _read_stamp(flags, stamp)
    start = _PAGE.size + (_RANKS_BYTES if flags & _HAS_RANKS else 0)
    fingerprint, end = _read_fingerprint(value, flags, record, start)
    if end > len(record):
        raise ValueError("it ends too soon")
    its = fingerprint if flags & _DIFFERS else None
    return PageRecord(
        number, content, own, run, delivered, value, page_hash, seen, its, decoded(record[end:])
    )


def read_content(record: bytes) -> ContentRecord:
    """Return the content of a record. Raises as `Damage.read` expects for a damaged one."""
    page, before, flags, stamp, key_length, scope_length = _CONTENT.unpack_from(record)
    value, page_hash, seen = _read_stamp(flags, stamp)
    key_end = _CONTENT.size + key_length
    scope_end = key_end + scope_length
    key, scope = record[_CONTENT.size : key_end], decoded(record[key_end:scope_end])
    fingerprint, end = _read_fingerprint(value, flags, record, scope_end)
    if end != len(record):
        raise ValueError("its parts do not fit")
    return ContentRecord(page, before, fingerprint, page_hash, seen, bool(flags & _IS_SHORT), key, scope)


def read_run(number: int | bytes, record: bytes) -> Run:
    """Return the run of a record. Raises as `Damage.read` expects for a damaged one."""
    _, started, ended = _RUN.unpack_from(record)
    if ended < 0:
        return Run(int(number), started, None, None)
    return Run(int(number), started, ended, decoded(record[_RUN.size :]))


def read_events(
    packed: bytes, start: int, known: int = 0
) -> Iterator[tuple[bytes, int, tuple[int, ...], bytes]]:
    """Yield the events that a script returned from byte *start* on, but for the first *known*.

    Of each its kind, content, values and scope: a content came (``CAME``) or went. A damaged one is ``DAMAGED``, and
    says nothing. Half a microsecond an event.
    """
    while start < len(packed):
        length = int.from_bytes(packed[start : start + _LENGTH_BYTES], "big")
        if known > 0:
            known -= 1
            start += _LENGTH_BYTES + length
            continue
        if length < _EVENT.size - _LENGTH_BYTES + MARK_BYTES:
            start += _LENGTH_BYTES + length
            yield DAMAGED, 0, (), b""
            continue
        _, kind, content, found_by, *values = _EVENT.unpack_from(packed, start)
        scope, start = start + _EVENT.size, start + _LENGTH_BYTES + length
        if content >= _MOST_NUMBER:
            kind = DAMAGED
        its_values = tuple([value for place, value in enumerate(values) if found_by >> place & 1])
        yield kind, content, its_values, packed[scope : start - MARK_BYTES]


def packed_values(fingerprint: Fingerprint, found_by: int) -> bytes:
    """Return by which values a new page is found, see ``candidates``, and a place for each of the three."""
    by_each = [(way, values_by(fingerprint, way)) for way in (BY_TEXT, BY_OWN_PART, BY_SUBJECT)]
    there = sum(way for way, values in by_each if values and found_by & way)
    return _FOUND_BY.pack(there, *[values[0] if values else 0 for _, values in by_each])


def posting_of(page: PageRecord, content: ContentRecord, key: bytes) -> Posting:
    """Return the posting of the page with *key*: the fingerprint of an original is that of its content."""
    fingerprint = content.fingerprint
    if content.page != page.number:
        fingerprint = page.fingerprint or replace(fingerprint, value=page.value)
    its_hash = page.value if content.is_short else page.page_hash
    is_delivered = page.delivered > 0
    return Posting(
        key, page.url, content.scope, fingerprint, content.is_short, its_hash, page.seen, is_delivered
    )


def told(url: bytes) -> str:
    """Return a URL that encoded() took, with a mark in the place of what is damaged."""
    try:
        return decoded(url)
    except UnicodeDecodeError:
        return url.decode("utf-8", "replace")


def _read_stamp(flags: int, stamp: bytes) -> tuple[int, int | None, int]:
    value, seen, page_hash = _STAMP.unpack(stamp)
    return value, page_hash if flags & _HAS_PAGE_HASH else None, seen


def _read_fingerprint(value: int, flags: int, record: bytes, start: int) -> tuple[Fingerprint, int]:
    """Return the fingerprint whose sketch and own part begin at byte *start*, and where they end."""
    sketch_end = start + (sketch_length(record, start) if flags & _HAS_SKETCH else 0)
    end = sketch_end
    if flags & _HAS_OWN_PART:
        end += own_part_length(record[sketch_end])
    return Fingerprint(value, sketch=record[start:sketch_end], own=record[sketch_end:end]), end
