"""Record: a stored page, the other results of reading files, and the names of fields in feeds and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.times import parsed

#: The most frequent reason of `PassedOver`.
NOT_HTML = "not HTML"
#: Max bytes of a record after decompression. Larger records are broken.
LIMIT = 64 << 20
TOO_LARGE = f"larger than {LIMIT >> 20} MB"


@dataclass(frozen=True, slots=True)
class Record:
    """A page from an input of any format."""

    url: str
    page: str | bytes
    """HTML, as text or undecoded bytes, or plain text if `is_text`."""
    place: str
    """The place for messages: the input and the position in it, such as ``crawl.warc.gz:12`` or
    ``pages.jsonl:17``."""
    is_text: bool = False
    content_type: str | None = None
    """The HTTP header, if the input has it; used to decode bytes."""
    content_language: str | None = None
    """The HTTP header, if the input has it."""
    seen: int | None = None
    """When the page was fetched, in seconds of Unix time; None if the input has no time."""
    source: object = None
    """The original record, for a writer of the same format: fields of a feed, a WARC record, a row."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read. It is counted and reported, and reading continues."""

    place: str
    reason: str
    """One clause without a full stop: ``not JSON``, ``the gzip data ends too early``."""
    is_rest: bool = False
    """Whether the rest of the file cannot be read: the number of lost pages is unknown."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A valid record that is not a page of HTML or text, such as an image or a redirect."""

    place: str
    reason: str
    """A few words that are the same for similar records: ``not HTML``, ``HTTP status 301``."""
    names: tuple[str, ...] = ()
    """For a record of a feed without a URL or a page, the names of its fields."""


#: The result of reading a file.
Found: TypeAlias = "Iterator[Record | Broken | PassedOver]"


class BrokenStream(Exception):
    """A stream cannot be read to the end. The message is the reason of a Broken."""


def extra(what: str, *modules: str) -> Any:
    """Return the first of *modules* that is installed. Raises KindError with the name of the extra."""
    for module in modules:
        try:
            return import_module(module)
        except ImportError:
            continue
    raise KindError(f"{what} needs {modules[-1]}: pip install 'scrapy-simhash[files]'")


#: Recognised names of fields, ignoring case. The first field of each group with a value is used.
URLS = ("url", "link", "uri")
HTML = ("html", "raw_html")
TEXT = ("text",)
TIME = "fetched"
#: Names of fields with HTML, or with text if they contain no tag.
EITHER = ("body", "content")
_TAG = re.compile(r"</?[a-z][a-z0-9]*[\s/>]|<!doctype|<!--", re.IGNORECASE)
_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:")


class Fields(NamedTuple):
    """Names of the fields in a record; None for the recognised names."""

    url: str | None = None
    html: str | None = None
    text: str | None = None
    """The field with the text of a page; if *html* is also given, it is used for records without HTML."""
    time: str | None = None
    """The field with the time of the fetch; by default a field ``fetched`` if it has a time."""

    @property
    def shown(self) -> str:
        """The names of the fields, for an error message."""
        url = repr(self.url) if self.url else "'url', 'link' or 'uri',"
        pages = [repr(name) for name in (self.html, self.text) if name]
        return f"{url} and {' or '.join(pages) if pages else 'one of html, text, body and content'}"

    def record(
        self, place: str, values: Mapping[str, Any], source: object = None
    ) -> Record | Broken | PassedOver:
        """Return the page in *values*."""
        named = {str(name).lower(): value for name, value in values.items()}
        url = values.get(self.url) if self.url else _first(named, URLS)
        html, text = self._page(values, named)
        page = html or text
        if not url or not page:
            return PassedOver(place, "no URL" if not url else "no HTML and no text", tuple(map(str, values)))
        for what, value in (("URL", url), ("page", page)):
            if not isinstance(value, str | bytes):
                return Broken(place, f"the {what} is not text: its type is {type(value).__name__}")
        url = _decoded(url)
        if reason := wrong_url(url):
            return Broken(place, reason)
        try:
            seen = self._seen(values, named)
        except ValueError as error:
            return Broken(place, f"the field {self.time!r} {error}")
        return Record(url, page if html else _decoded(page), place, not html, seen=seen, source=source)

    def of_pages(self, names: Sequence[str]) -> list[str]:
        """Return those of *names* that can be a URL, a page or a time. Other columns are not read."""
        given = {self.url, self.html, self.text, self.time}
        found = {
            *(() if self.time else (TIME,)),
            *(() if self.url else URLS),
            *(() if self.html or self.text else (*HTML, *TEXT, *EITHER)),
        }
        return [name for name in names if name in given or name.lower() in found]

    def _page(self, values: Mapping[str, Any], named: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return HTML and text, of which one may be empty."""
        if self.html or self.text:
            return values.get(self.html or ""), values.get(self.text or "")
        html, text, either = _first(named, HTML), _first(named, TEXT), _first(named, EITHER)
        if html or text or not isinstance(either, str | bytes):
            return html, text or either
        return (either, None) if _TAG.search(_decoded(either)) else (None, either)

    def _seen(self, values: Mapping[str, Any], named: Mapping[str, Any]) -> int | None:
        value = values.get(self.time) if self.time else named.get(TIME)
        if value is None or value == "":
            return None
        try:
            # A column of Parquet may have dates.
            return parsed(value.isoformat() if isinstance(value, datetime) else value)
        except ValueError:
            if self.time:
                raise
            return None


def _first(named: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((value for name in names if (value := named.get(name))), None)


def _decoded(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def wrong_url(url: str) -> str | None:
    """Return the reason, for a Broken record, why *url* is not a valid URL; None if it is valid.

    >>> wrong_url("example.com"), wrong_url("https://example.com/é")
    ("'example.com' is not a URL: it has no scheme", None)
    """
    if not _SCHEME.match(url):
        return f"{url[:200]!r} is not a URL: it has no scheme"
    try:
        url.encode("utf-8")
    except UnicodeEncodeError:
        return f"{url[:200]!r} is not a URL: it has characters that URLs cannot contain"
    return None
