"""Feeds, as Scrapy and others write them: JSON Lines, a JSON array, CSV, Parquet; and which fields are the page."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from io import BufferedIOBase
from typing import Any, NamedTuple

from scrapy_simhash.files.records.record import (
    LIMIT,
    TOO_LARGE,
    Broken,
    BrokenStream,
    PassedOver,
    Record,
    Source,
    pyarrow,
)
from scrapy_simhash.times import parsed

#: What fields are called that are found by themselves, whatever the case, the first of each that has something.
URLS = ("url", "link", "uri")
HTML = ("html", "raw_html")
TEXT = ("text",)
TIME = "fetched"
#: HTML if there is a tag in it, else text.
EITHER = ("body", "content")
_TAG = re.compile(r"</?[a-z][a-z0-9]*[\s/>]|<!doctype|<!--", re.IGNORECASE)
_TAG_BYTES = re.compile(_TAG.pattern.encode("ascii"), re.IGNORECASE)


class Fields(NamedTuple):
    """Names of the fields in a record; None for what is found by itself."""

    url: str | None = None
    html: str | None = None
    text: str | None = None
    """The field with the text of a page; with a field for HTML too, the page is text where there is no HTML."""
    time: str | None = None
    """The field with the time of the fetch; ``fetched`` is found, and what is no time there is passed over."""

    @property
    def shown(self) -> str:
        """The names, for a message that no record has them."""
        pages = [name for name in (self.html, self.text) if name]
        url = repr(self.url or "url")
        return (
            f"{url} and {' or '.join(map(repr, pages)) if pages else 'one of html, text, body and content'}"
        )

    def record(
        self, place: str, values: Mapping[str, Any], source: object = None
    ) -> Record | Broken | PassedOver:
        """Return the page that *values* are."""
        named = values if self.url and (self.html or self.text) and self.time else _folded(values)
        url = self._url(values, named)
        html, text = self._page(values, named)
        page = html or text
        if not url or not page:
            return PassedOver(place, NO_URL if not url else NO_PAGE, tuple(map(str, values)))
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
        """Return those of *names* that can be a URL, a page or a time: nothing else is to be read."""
        found = {
            *(() if self.time else (TIME,)),
            *(URLS if self.url is None else ()),
            *(_PAGES if not (self.html or self.text) else ()),
        }
        given = {self.url, self.html, self.text, self.time}
        return [name for name in names if name in given or name.lower() in found]

    def _url(self, values: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
        if self.url:
            return values.get(self.url)
        return next((value for name in URLS if (value := named.get(name))), None)

    def _page(self, values: Mapping[str, Any], named: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return HTML and text, of which one may be nothing."""
        if self.html or self.text:
            return values.get(self.html or ""), values.get(self.text or "")
        html = next((value for name in HTML if (value := named.get(name))), None)
        if html:
            return html, None
        text = next((value for name in TEXT if (value := named.get(name))), None)
        if text:
            return None, text
        either = next((value for name in EITHER if (value := named.get(name))), None)
        return (either, None) if _has_tag(either) else (None, either)

    def _name(self, named: Mapping[str, Any], page: object) -> str:
        return next(
            (name for name in (self.html, self.text, *_PAGES) if name and named.get(name) is page), "html"
        )

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


#: Nothing named: all is found.
NAMES_FOUND = Fields()
_PAGES = (*HTML, *TEXT, *EITHER)
NO_URL = "no URL"
NO_PAGE = "no HTML and no text"


def _folded(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name.lower(): value for name, value in values.items() if isinstance(name, str)}


def _has_tag(value: object) -> bool:
    if isinstance(value, bytes):
        return bool(_TAG_BYTES.search(value))
    return isinstance(value, str) and bool(_TAG.search(value))


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def wrong_url(url: str) -> str | None:
    """Return why *url* is none, for a Broken; None if it is one.

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
    return next((said for kind, said in _KINDS if isinstance(value, kind)), "something else")


_KINDS: tuple[tuple[type[Any], str], ...] = (
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "an object"),
    (bytes, "bytes"),
)


#: The delimiters that a CSV file may have: the one of which the first line has most.
DELIMITERS = ",\t;"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Bytes of a line that has no end after which the rest of a file is not looked at.
HOPELESS = 16
#: Bytes of the largest array that is read.
ARRAY_LIMIT = HOPELESS * LIMIT
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODE = json.JSONDecoder().raw_decode


class TooLarge(Exception):
    """A line that is larger than what is kept in memory."""


class Row(NamedTuple):
    """What a feed had of a page, for a writer."""

    fields: Mapping[str, Any]
    ending: str
    """How a file of this kind of feed is called at the end."""
    line: bytes | None = None
    """The line of JSON that it came in."""


def json_lines(source: Source, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the records of a feed with an object in each line."""
    for number, line in enumerate(lines_of(source.stream), 1):
        place = f"{source.name}:{number}"
        if line is None:
            yield Broken(place, TOO_LARGE)
            continue
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except UnicodeDecodeError:
            yield Broken(place, "not valid UTF-8", is_rest=not line.endswith(b"\n"))
        except (ValueError, RecursionError):
            # Without its end the last line is cut.
            yield Broken(place, "not JSON", is_rest=not line.endswith(b"\n"))
        else:
            yield _record(fields, place, value, line)


def json_array(source: Source, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the records of a feed that is one array of objects. All of its text is in memory, unlike JSON Lines."""
    data = source.stream.read(ARRAY_LIMIT + 1)
    place = f"{source.name}:1"
    if len(data) > ARRAY_LIMIT:
        yield Broken(place, f"an array larger than {ARRAY_LIMIT >> 20} MB: write it as JSON Lines")
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield Broken(place, "not valid UTF-8, the rest is not read", is_rest=True)
        return
    at = _behind_space(text, text.index("[") + 1)
    line = 1 + text.count("\n", 0, at)
    mark = "]" if text[at : at + 1] == "]" else ","
    while mark == ",":
        place = f"{source.name}:{line}"
        try:
            value, end = _DECODE(text, at)
        except (ValueError, RecursionError):
            yield Broken(place, "not JSON from here on, the rest is not read", is_rest=True)
            return
        yield _record(fields, place, value) if end - at <= LIMIT else Broken(place, TOO_LARGE)
        end = _behind_space(text, end)
        mark = text[end : end + 1]
        line, at = line + text.count("\n", at, end), end
        if mark == ",":
            at = _behind_space(text, end + 1)
            line += text.count("\n", end, at)
    end = _behind_space(text, at + 1)
    if mark != "]":
        yield Broken(
            f"{source.name}:{line}",
            "a comma or the end of the array should be here, the rest is not read",
            is_rest=True,
        )
    # As where one crawl after another appended to a file.
    elif end < len(text):
        line += text.count("\n", at, end)
        place = f"{source.name}:{line}"
        yield Broken(place, "there is more after the end of the array, which is not read", is_rest=True)


def _behind_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def csv_rows(source: Source, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the records of a table; its first row has the names."""
    lines = _TextLines(source.stream)
    delimiter = delimiter_of(source.head)
    ending = ".tsv" if delimiter == "\t" else ".csv"
    with _fields_of_any_length():
        rows = csv.reader(lines, strict=True, delimiter=delimiter)
        names: list[str] | None = None
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except (csv.Error, UnicodeDecodeError, TooLarge) as error:
                place = f"{source.name}:{lines.number}"
                yield Broken(place, _why(error), is_rest="unexpected end" in str(error))
                if names is None:
                    return
                continue
            place = f"{source.name}:{lines.number}"
            if names is None:
                names = row
            elif len(row) > len(names):
                yield Broken(place, f"{len(row)} fields, and {len(names)} names in the first row")
            elif row:
                values = dict(zip(names, row, strict=False))
                yield fields.record(place, values, Row(values, ending))


def delimiter_of(head: bytes) -> str:
    r"""Return what parts the fields of a table that begins with *head*.

    >>> delimiter_of(b"url\thtml\n"), delimiter_of(b"url\n")
    ('\t', ',')
    """
    first = head.removeprefix(BYTE_ORDER_MARK).partition(b"\n")[0].decode("utf-8", "replace")
    return max(DELIMITERS, key=first.count)


def _record(
    fields: Fields, place: str, value: Any, line: bytes | None = None
) -> Record | Broken | PassedOver:
    if not isinstance(value, dict):
        return Broken(place, "not a JSON object")
    return fields.record(place, value, Row(value, ".json" if line is None else ".jsonl", line))


def lines_of(stream: BufferedIOBase) -> Iterator[bytes | None]:
    """Yield lines; None for one that is too long, whose rest is skipped."""
    line = stream.readline(LIMIT + 1).removeprefix(BYTE_ORDER_MARK)
    while line:
        if len(line) > LIMIT:
            for _ in range(HOPELESS):
                if line.endswith(b"\n") or not line:
                    break
                line = stream.readline(LIMIT)
            else:
                raise BrokenStream(f"a line of more than {HOPELESS * LIMIT >> 20} MB, the rest is not read")
            yield None
        else:
            yield line
        line = stream.readline(LIMIT + 1)


class _TextLines:
    """The lines of a table, as a reader of CSV takes them."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._lines = lines_of(stream)
        #: Of the last one.
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        if line is None:
            raise TooLarge
        return line.decode("utf-8")


def _why(error: Exception) -> str:
    if isinstance(error, csv.Error):
        return TOO_LARGE if "field limit" in str(error) else f"not CSV: {error}"
    return TOO_LARGE if isinstance(error, TooLarge) else "not valid UTF-8"


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Let fields of CSV be as long as pages are: the limit is one for the whole process."""
    limit = csv.field_size_limit(LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


#: Rows that are read at once. A page may be large, and a hostile one is.
ROWS = 64


class TableRow(NamedTuple):
    """A row as it came, for a writer."""

    batch: Any
    """The rows that it was read with: a RecordBatch of Arrow."""
    number: int


def parquet_rows(source: Source, fields: Fields) -> Iterator[Record | Broken | PassedOver]:
    """Yield the records of a table, found by their columns as the fields of a feed are."""
    parquet, lib = pyarrow("pyarrow.parquet"), pyarrow("pyarrow")
    if not source.stream.seekable():
        reason = "Parquet can be read from a file only, not through a pipe or compressed"
        yield Broken(source.name, reason, is_rest=True)
        return
    number = 0
    try:
        with parquet.ParquetFile(source.stream) as table:
            names = table.schema_arrow.names
            wanted = fields.of_pages(names)
            for batch in table.iter_batches(ROWS, use_threads=False):
                rows = batch.select(wanted).to_pylist()
                for at, values in enumerate(rows):
                    number += 1
                    place = f"{source.name}:{number}"
                    if any(
                        isinstance(value, str | bytes) and len(value) > LIMIT for value in values.values()
                    ):
                        yield Broken(place, TOO_LARGE)
                    else:
                        yield fields.record(place, values, TableRow(batch, at))
    except (lib.ArrowException, OSError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        yield Broken(f"{source.name}:{number + 1}", f"the Parquet data is damaged: {said}", is_rest=True)
