"""Records of a store as lines of text, for ``export`` and ``import``: ``docs/how-to/stored-pages.rst``.

The first line has the settings that made and compared the fingerprints; each further line is a page or the learned
data about a site::

    {"format": "scrapy-simhash postings", "version": 3, "scheme": "web-4", "width": 64, ..., "settings": {...}}
    {"key": "5a...", "url": "https://example.com/ferry", "scope": "", "value": "41f1...", "sketch": "xL...", ...}

ASCII only, so that editors and pipes do not change it.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from scrapy_simhash.cli.stores import Waited
from scrapy_simhash.cli.streams import Input, Refused
from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import SettingError, failing
from scrapy_simhash.notes import RULES, SITE
from scrapy_simhash.observers.url_rules.kept import Note as RuleNote
from scrapy_simhash.page.fingerprint import Fingerprint, is_own_part, is_sketch
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.page.site.profile import BUCKET, MOST_BUCKETS
from scrapy_simhash.scope import host_of
from scrapy_simhash.store import Header, History, Posting
from scrapy_simhash.store.sqlite.files import printable
from scrapy_simhash.times import parsed, written

FORMAT = "scrapy-simhash postings"
VERSION = 3
#: Max bytes per line; a URL takes some thousands.
LONGEST = 1 << 20
#: Max text blocks of a site.
MOST_PIECES = BUCKET * MOST_BUCKETS
#: Max bytes of a key, and of a scope, that all stores support.
LONGEST_NAME = 0xFFFF
_VALUE = re.compile("[0-9a-fA-F]{16}")
_T = TypeVar("_T")


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
    """Return the header in the first line of an export. Raises ValueError, whose message continues "the line".

    >>> parsed_header(header_line(Header("web-4", scope="host"))).scope
    'host'
    """
    try:
        line = _object(text)
    except ValueError:
        line = {}
    if line.get("format") != FORMAT:
        raise ValueError(f'is not the first line of an export, which begins with {{"format": "{FORMAT}"')
    for name, known in (("version", VERSION), ("width", Header.width), ("own_parts", Header.own_parts)):
        if (found := _field(line, name, _number)) != known:
            older = "an older release wrote it; crawl the pages again"
            what = "install a newer release" if found > known else older
            raise ValueError(f"has {name} {found}, this release reads {known}: {what}")
    scheme, settings = _field(line, "scheme", _text), _field(line, "settings", _mapping)
    try:
        header = Header.of(Config.from_settings(settings), scheme)
    except SettingError as error:
        raise ValueError(f"is wrong: {error}") from None
    if different := sorted(set(settings) ^ set(header.settings)):
        raise ValueError(f"has missing or unknown settings: {', '.join(map(repr, different))}")
    return header


def posting_line(posting: Posting, duplicate_of: str | None = None, rank: int | None = None) -> str:
    """Return the line of *posting*, without default values; *duplicate_of* and *rank* are for users."""
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


def parsed_posting(text: str) -> Posting:
    """Return the posting in a line. Raises ValueError, whose message continues "the line". Ignores unknown names.

    >>> posting = Posting(b"a", "https://example.com/", "", Fingerprint(5))
    >>> parsed_posting(posting_line(posting)) == posting
    True
    >>> parsed_posting('{"key": "61"}')
    Traceback (most recent call last):
        ...
    ValueError: has no 'url'
    """
    line = _object(text)
    key = _field(line, "key", _key)
    url = _field(line, "url", _text)
    sketch, own = _field(line, "sketch", _sketch, b""), _field(line, "own", _own, b"")
    if own and not sketch:
        raise ValueError("has 'own' without 'sketch'")
    seen = _field(line, "seen", _seen)
    history = None
    # Without a number of visits there is no history.
    if "visits" in line:
        history = History(
            _field(line, "first_seen", _seen, seen),
            _field(line, "last_visit", _seen, seen),
            _field(line, "visits", _count),
            _field(line, "changes", _count, 0),
        )
    return Posting(
        key,
        url,
        _field(line, "scope", _scope),
        Fingerprint(_field(line, "value", _value), sketch=sketch, own=own),
        is_short=_field(line, "short", _truth, False),
        page_hash=_field(line, "page_hash", _value, None),
        seen=seen,
        is_delivered=_field(line, "delivered", _truth, False),
        text_hash=_field(line, "text_hash", _value, None),
        history=history,
    )


class Export:
    """An export: read once, its header first, then line by line."""

    def __init__(self, given: Input) -> None:
        """Read the header. Raises Refused, with the number of the line, if it is invalid, and FileError."""
        self._given = given
        self._lines = enumerate(iter(self._line, b""), 1)
        self.header = self._parsed(parsed_header, *next(self._lines, (1, b"")))

    def __iter__(self) -> Iterator[Posting | Site]:
        """Yield pages and sites. Raises Refused for the first line that is neither, with its number."""
        for number, line in self._lines:
            yield self._parsed(_entry, number, line)

    def _line(self) -> bytes:
        with failing(f"read {self._given.source}"):
            return self._given.stream.readline(LONGEST)

    def _parsed(self, parse: Callable[[str], _T], number: int, line: bytes) -> _T:
        try:
            if len(line) == LONGEST:
                raise ValueError(f"has more than {LONGEST:,} bytes")
            return parse(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            problem = "is not UTF-8"
        except ValueError as error:
            problem = str(error)
        raise Refused(f"{self._given.name}:{number}: the line {problem}")


def _entry(text: str) -> Posting | Site:
    if f'"{NAME}"' in text and NAME in (line := _object(text)):
        return parsed_site(line)
    return parsed_posting(text)


def _object(text: str) -> Mapping[str, Any]:
    """Return the JSON object in *text*, or raise ValueError."""
    try:
        line = json.loads(text)
    # Thousands of nested brackets overflow the stack of the decoder.
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    if not isinstance(line, dict):
        raise ValueError("is not a JSON object")
    return line


# --- Fields. Each function returns the value of a field, or raises ValueError, whose message continues "it".

_REQUIRED: Any = object()


def _field(line: Mapping[str, Any], name: str, parse: Callable[[Any], _T], default: Any = _REQUIRED) -> _T:
    """Return the value of a field by *parse*, or raise ValueError, which names the field."""
    if name not in line:
        if default is _REQUIRED:
            raise ValueError(f"has no {name!r}")
        return default  # type: ignore[no-any-return]
    try:
        return parse(line[name])
    except ValueError as error:
        raise ValueError(f"has a wrong value in {name!r}: it {error}") from None


def _checked(kind: type[_T], problem: str) -> Callable[[Any], _T]:
    """Return the function that returns a value of exactly this *kind*, and raises ValueError for any other."""

    def parse(value: Any) -> _T:
        # True is also an int.
        if type(value) is not kind:
            raise ValueError(problem)
        return value

    return parse


_text = _checked(str, "is not a string")
_mapping: Callable[[Any], Mapping[str, Any]] = _checked(dict, "is not an object")
_truth = _checked(bool, "is neither true nor false")
_number = _checked(int, "is not a whole number")


def _key(value: Any) -> bytes:
    try:
        key = bytes.fromhex(_text(value))
    except ValueError:
        raise ValueError("is not hexadecimal, two digits a byte") from None
    return _short(key)


def _scope(value: Any) -> str:
    _short(_text(value).encode("utf-8", "surrogatepass"))
    return str(value)


def _short(name: bytes) -> bytes:
    if len(name) > LONGEST_NAME:
        raise ValueError(f"has more than {LONGEST_NAME:,} bytes")
    return name


def _value(value: Any) -> int:
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise ValueError("is not 16 hexadecimal digits")
    return int(value, 16)


def _count(value: Any) -> int:
    if not 0 <= _number(value) < 1 << 63:
        raise ValueError("is not from 0 to 2**63 - 1")
    return int(value)


def _seen(value: Any) -> int:
    seen = _number(value) if isinstance(value, int) else parsed(value)
    if not -(1 << 63) <= seen < 1 << 63:
        raise ValueError("does not fit into 64 bits")
    return seen


def _sketch(value: Any) -> bytes:
    if not is_sketch(sketch := _base64(value)):
        raise ValueError("is no sketch in base64")
    return sketch


def _own(value: Any) -> bytes:
    if not is_own_part(own := _base64(value)):
        raise ValueError("is no unique text of 11 or 131 bytes in base64")
    return own


def _base64(value: Any) -> bytes:
    try:
        return b64decode(_text(value), validate=True)
    except ValueError:
        return b""


#: The name that distinguishes a line about a site from a posting; its value is the host.
NAME = "site"
#: The name in a line with URL rules: active, pinned and forbidden ones.
_RULES = "url_rules"


class Site(NamedTuple):
    """A host, and the learned data about it: a boilerplate model, or URL rules as in a store."""

    host: str
    learned: SiteProfile | RuleNote

    @property
    def kind(self) -> str:
        """The kind of the note in a store."""
        return RULES if isinstance(self.learned, RuleNote) else SITE

    def joined(self, kept: bytes | None) -> bytes | None:
        """Return the note that merges this into the *kept* note of a store; None if nothing changes."""
        if isinstance(self.learned, RuleNote):
            own = RuleNote()
            # A damaged note is learned again.
            with suppress(ValueError):
                own = RuleNote.from_bytes(kept)
            both = own.joined(self.learned).to_bytes()
            return None if both == kept else both
        return _joined_profile(kept, self.learned)


def sites_of(store: Waited, note: Callable[[str], object] | None = None) -> Iterator[Site]:
    """Yield the learned data about sites in *store*, if it keeps any.

    Damaged notes are left out, since they are learned again; their names are passed to *note*, or else to the store.
    """
    note = note or store.note_damage
    for kind, what in ((SITE, "profile"), (RULES, "URL rules")):
        for host, data in store.notes(kind):
            try:
                if kind == SITE:
                    yield Site(host, SiteProfile.from_bytes(data))
                elif any(rules := RuleNote.from_bytes(data)):
                    yield Site(host, rules)
            except ValueError as error:
                note(f"{what} of {printable(host)} ({error})")


def site_line(site: Site) -> str:
    """Return the line of a site in an export."""
    learned = site.learned
    if isinstance(learned, RuleNote):
        line: dict[str, Any] = {NAME: site.host, _RULES: learned.to_dict()}
    else:
        line = {
            NAME: site.host,
            "pages": learned.pages,
            "since": written(learned.since) if learned.since else None,
            "subjects": f"{learned.subject_bits:016x}",
            "pieces": {f"{key:016x}": f"{subjects:016x}" for key, subjects in learned.pieces()},
            "pinned": learned.is_pinned,
        }
    return f"{json.dumps(line)}\n"


def parsed_site(line: Mapping[str, Any]) -> Site:
    """Return the boilerplate model or the URL rules in a line. Raises ValueError with the reason.

    >>> parsed_site(json.loads(site_line(Site("example.com", SiteProfile())))).host
    'example.com'
    """
    host = _field(line, NAME, _text)
    if _RULES in line:
        try:
            return Site(host, RuleNote.from_dict(line[_RULES]))
        except ValueError as error:
            raise ValueError(f"has wrong URL rules: {error}") from error
    subjects, found = _field(line, "subjects", _value), _field(line, "pieces", _pieces)
    if not all(of_piece and not of_piece & ~subjects for _, of_piece in found):
        raise ValueError("has a piece with none of its 'subjects', or with others")
    profile = SiteProfile.of_pieces(subjects, found)
    profile.pages = _field(line, "pages", _pages)
    profile.since = _field(line, "since", lambda since: 0 if since is None else parsed(since))
    profile.is_pinned = _field(line, "pinned", _truth, False)
    return Site(host, profile)


def _pages(value: Any) -> int:
    if not 0 <= _number(value) < 2**32:
        raise ValueError("is not from 0 to 4294967295")
    return int(value)


def _pieces(value: Any) -> list[tuple[int, int]]:
    if len(pieces := _mapping(value)) > MOST_PIECES:
        raise ValueError(f"has more than {MOST_PIECES:,} keys")
    return [(_value(key), _value(subjects)) for key, subjects in pieces.items()]


def _joined_profile(kept: bytes | None, profile: SiteProfile) -> bytes | None:
    """Return the note of a host after merging *profile*; None if nothing changes.

    A model counts title keys of pages, so merging the same model again changes nothing. A pinned model in the store
    is not changed; an imported pinned model replaces the stored one.
    """
    own = SiteProfile()
    if kept is not None:
        # A damaged model is learned again.
        with suppress(ValueError):
            own = SiteProfile.from_bytes(kept)
    if own.is_pinned:
        return None
    before = own.subject_bits, sorted(own.pieces())
    own.join(profile.to_bytes())
    is_same = not own.is_pinned and before == (own.subject_bits, sorted(own.pieces()))
    return None if is_same and kept is not None else own.to_bytes()
