"""Records of a store as JSON Lines, for ``export`` and ``import``, see ``docs/how-to/stored-pages.rst``.

The first line has the settings with which the fingerprints were computed and compared. Each other line is a page, or
the learned data about a site::

    {"format": "scrapy-simhash postings", "version": 4, "scheme": "web-4", "width": 64, ..., "settings": {...}}
    {"key": "5a...", "url": "https://example.com/ferry", "scope": "", "value": "41f1...", "sketch": "xL...", ...}

The lines are ASCII, so that editors and pipes do not change them.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple, TypeVar

from scrapy_simhash.cli.stores import SyncStore
from scrapy_simhash.cli.streams import Refused
from scrapy_simhash.config import Config
from scrapy_simhash.display import printable
from scrapy_simhash.notes import RULES, SITE
from scrapy_simhash.observers.url_rules.urls import Note as RuleNote
from scrapy_simhash.page.fingerprint import Fingerprint, is_sketch, is_unique_text
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.store import Header, History, Posting
from scrapy_simhash.times import parsed, written

FORMAT = "scrapy-simhash postings"
VERSION = 4
#: Max bytes per line; a URL takes a few thousand.
LONGEST = 1 << 20
#: Max bytes of a key, and of a scope, that all stores support.
LONGEST_NAME = 0xFFFF
_T = TypeVar("_T")


# --- The header.


def header_line(header: Header) -> str:
    """Return the first line of an export."""
    line = {
        "format": FORMAT,
        "version": VERSION,
        "scheme": header.scheme,
        "width": header.width,
        "own_parts": header.own_parts,
        "settings": header.settings,
    }
    return f"{json.dumps(line)}\n"


def parsed_header(text: str) -> Header:
    """Return the header in the first line of an export. Raises ValueError for any other line.

    >>> parsed_header(header_line(Header("web-4", scope="host"))).scope
    'host'
    """
    line = json.loads(text)
    if line.get("format") != FORMAT:
        raise ValueError(f'it must begin with {{"format": "{FORMAT}"')
    for name, known in (("version", VERSION), ("width", Header.width), ("own_parts", Header.own_parts)):
        if line[name] != known:
            raise ValueError(
                f"{name} is {line[name]!r}, but this release reads {known}: use the release that wrote it,"
                " or crawl the pages again"
            )
    header = Header.of(Config.from_settings(line["settings"]), str(line["scheme"]))
    if different := sorted(set(line["settings"]) ^ set(header.settings)):
        raise ValueError(f"missing or unknown settings: {', '.join(map(repr, different))}")
    return header


# --- Pages.


def posting_line(posting: Posting, duplicate_of: str | None = None, rank: int | None = None) -> str:
    """Return the line for *posting*, without default values; an import ignores *duplicate_of* and *rank*."""
    fingerprint = posting.fingerprint
    line = {
        "key": posting.key.hex(),
        "url": posting.url,
        "scope": posting.scope,
        "value": fingerprint.hex,
        "sketch": b64encode(fingerprint.sketch).decode("ascii") or None,
        "own": b64encode(fingerprint.own).decode("ascii") or None,
        "short": posting.is_short or None,
        "page_hash": None if posting.page_hash is None else f"{posting.page_hash:016x}",
        "text_hash": None if posting.text_hash is None else f"{posting.text_hash:016x}",
        "seen": written(posting.seen),
        "delivered": posting.is_delivered or None,
    }
    if (history := posting.history) is not None:
        for name in ("first_seen", "last_visit"):
            seen = getattr(history, name)
            line[name] = None if seen == posting.seen else written(seen)
        line |= {"visits": history.visits, "changes": history.changes or None}
    line |= {"host": host_of(posting.url) or None, "rank": rank or None, "duplicate_of": duplicate_of}
    return f"{json.dumps({name: value for name, value in line.items() if value is not None})}\n"


def parsed_posting(line: Mapping[str, Any]) -> Posting:
    """Return the posting in a line. Raises ValueError for any other line. Ignores unknown keys.

    >>> posting = Posting(b"a", "https://example.com/", "", Fingerprint(5))
    >>> parsed_posting(json.loads(posting_line(posting))) == posting
    True
    """
    found = _read(line, _PAGE, required=("key", "url", "scope", "value", "seen"))
    seen, sketch, own = found["seen"], found.get("sketch", b""), found.get("own", b"")
    if own and not sketch:
        raise ValueError("'own' needs 'sketch'")
    if max(len(found["key"]), len(found["scope"].encode("utf-8", "surrogatepass"))) > LONGEST_NAME:
        raise ValueError(f"'key' or 'scope' has more than {LONGEST_NAME:,} bytes")
    history = None
    # A line without a number of visits has no history.
    if "visits" in found:
        times = found.get("first_seen", seen), found.get("last_visit", seen)
        history = History(*times, found["visits"], found.get("changes", 0))
    return Posting(
        found["key"],
        found["url"],
        found["scope"],
        Fingerprint(found["value"], sketch=sketch, own=own),
        is_short=found.get("short", False),
        page_hash=found.get("page_hash"),
        seen=seen,
        is_delivered=found.get("delivered", False),
        text_hash=found.get("text_hash"),
        history=history,
    )


# --- Fields. Each name has the type of the value, or a function that returns the value or raises ValueError or
# TypeError.


def _hash(value: Any) -> int:
    digits = bytes.fromhex(value)
    if len(digits) != 8:
        raise ValueError("not 16 hexadecimal digits")
    return int.from_bytes(digits, "big")


def _base64(is_valid: Callable[[bytes], bool]) -> Callable[[Any], bytes]:
    def read(value: Any) -> bytes:
        found = b64decode(value, validate=True)
        if not is_valid(found):
            raise ValueError(f"{len(found):,} bytes is not a valid length")
        return found

    return read


def _time(value: Any) -> int:
    """Return a time in seconds; outside the years 1 to 9999, *value* is a number."""
    return value if type(value) is int else parsed(value)


_PAGE: Mapping[str, Callable[[Any], Any]] = {
    "key": bytes.fromhex,
    "url": str,
    "scope": str,
    "value": _hash,
    "sketch": _base64(is_sketch),
    "own": _base64(is_unique_text),
    "short": bool,
    "page_hash": _hash,
    "text_hash": _hash,
    "seen": _time,
    "delivered": bool,
    "first_seen": _time,
    "last_visit": _time,
    "visits": int,
    "changes": int,
}
_SITE: Mapping[str, Callable[[Any], Any]] = {
    "site": str,
    "kind": str,
    "note": _base64(lambda note: True),
}


def _read(
    line: Mapping[str, Any], fields: Mapping[str, Callable[[Any], Any]], required: tuple[str, ...]
) -> dict[str, Any]:
    """Return the values of *fields* that are in *line*. Raises ValueError with the name of a wrong field."""
    if missing := [name for name in required if name not in line]:
        raise ValueError(f"no {missing[0]!r}")
    found = {}
    for name in fields.keys() & line.keys():
        value, read = line[name], fields[name]
        try:
            if isinstance(read, type) and type(value) is not read:
                raise ValueError(f"not of type {read.__name__}")
            found[name] = value if isinstance(read, type) else read(value)
            if type(value) is int and abs(value) >> 63:
                raise ValueError("more than 63 bits")
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name!r} is wrong: {error}") from None
    return found


# --- Reading.


def read_export(stream: BinaryIO, name: str) -> tuple[Header, Iterator[Posting | Site]]:
    """Return the header of an export, and its pages and sites. *name* is the name for messages.

    Raises Refused for the first wrong line, with its number. The header is checked before the first result.
    """
    lines = enumerate(iter(lambda: stream.readline(LONGEST), b""), 1)

    def parse(number: int, line: bytes, read: Callable[[str], _T]) -> _T:
        try:
            if len(line) == LONGEST:
                raise ValueError(f"it has more than {LONGEST:,} bytes")
            return read(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        # Thousands of nested brackets overflow the stack of the JSON decoder.
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            what = "the header" if number == 1 else "a page or a site"
            raise Refused(f"{name}:{number}: the line is not {what} of an export: {error}") from None

    header = parse(*next(lines, (1, b"")), parsed_header)
    return header, (parse(number, line, _entry) for number, line in lines)


def _entry(text: str) -> Posting | Site:
    line = json.loads(text)
    if not isinstance(line, dict):
        raise ValueError("not a JSON object")
    return parsed_site(line) if "site" in line else parsed_posting(line)


# --- Sites.

#: The readers of the learned data about a site, by the kind of its note.
LEARNED: Mapping[str, type[SiteProfile | RuleNote]] = {SITE: SiteProfile, RULES: RuleNote}


class Site(NamedTuple):
    """A host, and a note with the learned data about it: a boilerplate model or URL rules."""

    host: str
    kind: str
    """The kind of the note, one of `LEARNED`."""
    note: bytes

    @property
    def learned(self) -> SiteProfile | RuleNote:
        """The contents of the note. Raises ValueError if it is damaged."""
        return LEARNED[self.kind].from_bytes(self.note)

    def joined(self, kept: bytes | None) -> bytes | None:
        """Merge this note into the *kept* note of a store, and return the result; None if nothing changes.

        A model counts title keys of pages, so merging the same model again changes nothing. A pinned model in the
        store is not changed; an imported pinned model replaces the stored one. A damaged note is replaced.
        """
        own = LEARNED[self.kind]()
        if kept is not None:
            with suppress(ValueError):
                own = LEARNED[self.kind].from_bytes(kept)
        if isinstance(own, RuleNote):
            rules = own.changed(learned=RuleNote.from_bytes(self.note).active).to_bytes()
            return None if rules == kept else rules
        if own.is_pinned:
            return None
        before = own.title_key_bits, sorted(own.pieces())
        own.join(self.note)
        is_same = not own.is_pinned and before == (own.title_key_bits, sorted(own.pieces()))
        return None if is_same and kept is not None else own.to_bytes()


def sites_of(store: SyncStore) -> Iterator[Site]:
    """Yield the learned data about sites in *store*, if it has any.

    The store counts damaged notes, which are left out, because crawls learn them again.
    """
    for kind in LEARNED:
        for host, data in store.notes(kind):
            site = Site(host, kind, data)
            try:
                if site.learned != RuleNote():
                    yield site
            except ValueError as error:
                store.note_damage(f"{kind} of {printable(host)} ({error})")


def site_line(site: Site) -> str:
    """Return the line of a site in an export."""
    line = {"site": site.host, "kind": site.kind, "note": b64encode(site.note).decode("ascii")}
    return f"{json.dumps(line)}\n"


def parsed_site(line: Mapping[str, Any]) -> Site:
    """Return the site in a line. Raises ValueError for any other line.

    >>> site = Site("example.com", SITE, SiteProfile().to_bytes())
    >>> parsed_site(json.loads(site_line(site))) == site
    True
    """
    found = _read(line, _SITE, required=("site", "kind", "note"))
    if found["kind"] not in LEARNED:
        raise ValueError(f"'kind' must be one of {', '.join(LEARNED)}")
    site = Site(found["site"], found["kind"], found["note"])
    _ = site.learned  # raises ValueError for a damaged note
    return site
