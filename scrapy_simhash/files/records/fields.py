"""Fields: find URL, page and time in the fields of a record of a feed or a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.times import parsed

#: Recognised names of fields, in any case. The first one of each group with a value is used.
URLS = ("url", "link", "uri")
HTML = ("html", "raw_html")
TEXT = ("text",)
TIME = "fetched"
#: HTML if it contains a tag, else text.
EITHER = ("body", "content")
_PAGES = (*HTML, *TEXT, *EITHER)
_TAG = re.compile(r"</?[a-z][a-z0-9]*[\s/>]|<!doctype|<!--", re.IGNORECASE)
_TAG_BYTES = re.compile(_TAG.pattern.encode("ascii"), re.IGNORECASE)


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
        """The names, for the message that no record has these fields."""
        url = repr(self.url) if self.url else "'url', 'link' or 'uri',"
        pages = [repr(name) for name in (self.html, self.text) if name]
        return f"{url} and {' or '.join(pages) if pages else 'one of html, text, body and content'}"

    def record(
        self, place: str, values: Mapping[str, Any], source: object = None
    ) -> Record | Broken | PassedOver:
        """Return the page in *values*."""
        named = {name.lower(): value for name, value in values.items() if isinstance(name, str)}
        url = values.get(self.url) if self.url else _first(named, URLS)
        html, text = self._page(values, named)
        page = html or text
        if not url or not page:
            return PassedOver(place, "no URL" if not url else "no HTML and no text", tuple(map(str, values)))
        if isinstance(url, bytes):
            url = url.decode("utf-8", "replace")
        if not isinstance(url, str):
            return Broken(place, f"the field {self.url or 'url'!r} is {_kind(url)}, not a text")
        if not isinstance(page, str | bytes):
            return Broken(place, f"the field {self._name(named, page)!r} is {_kind(page)}, not a text")
        if reason := wrong_url(url):
            return Broken(place, reason)
        if not html and isinstance(page, bytes):
            page = page.decode("utf-8", "replace")
        try:
            seen = self._seen(values, named)
        except ValueError as error:
            return Broken(place, f"the field {self.time!r} {error}")
        return Record(url, page, place, is_text=not html, seen=seen, source=source)

    def of_pages(self, names: Sequence[str]) -> list[str]:
        """Return those of *names* that can be a URL, a page or a time; other columns are not read."""
        found = {
            *(() if self.time else (TIME,)),
            *(URLS if self.url is None else ()),
            *(_PAGES if not (self.html or self.text) else ()),
        }
        given = {self.url, self.html, self.text, self.time}
        return [name for name in names if name in given or name.lower() in found]

    def _page(self, values: Mapping[str, Any], named: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return HTML and text, one of which may be empty."""
        if self.html or self.text:
            return values.get(self.html or ""), values.get(self.text or "")
        if html := _first(named, HTML):
            return html, None
        if text := _first(named, TEXT):
            return None, text
        either = _first(named, EITHER)
        return (either, None) if _has_tag(either) else (None, either)

    def _name(self, named: Mapping[str, Any], page: object) -> str:
        names = (self.html, self.text, *_PAGES)
        return next((name for name in names if name and named.get(name.lower()) is page), "html")

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


def _has_tag(value: object) -> bool:
    if isinstance(value, bytes):
        return bool(_TAG_BYTES.search(value))
    return isinstance(value, str) and bool(_TAG.search(value))


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def wrong_url(url: str) -> str | None:
    """Return why *url* is not a URL, for a Broken; None if it is one.

    >>> wrong_url("example.com"), wrong_url("https://example.com/é")
    ("'example.com' is not a URL: it has no scheme", None)
    """
    if not _SCHEME.match(url.lstrip()):
        return f"{url[:200]!r} is not a URL: it has no scheme"
    try:
        url.encode("utf-8")
    except UnicodeEncodeError:
        return f"{url[:200]!r} is not a URL: it has characters that are none"
    return None


def _kind(value: object) -> str:
    kinds: tuple[tuple[type[Any], str], ...] = (
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
        (list, "a list"),
        (dict, "an object"),
        (bytes, "bytes"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "something else")
