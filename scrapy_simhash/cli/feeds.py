"""Records of a feed, as Scrapy writes them: JSON Lines, one JSON array, CSV. Memory for one record at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import PurePath
from typing import Any, NamedTuple, TextIO

from scrapy_simhash.cli.failures import Refused, failing
from scrapy_simhash.cli.input import Input

#: Format by the ending of a file, as Scrapy has them.
ENDINGS = {
    ".jsonl": "jsonlines",
    ".jl": "jsonlines",
    ".jsonlines": "jsonlines",
    ".ndjson": "jsonlines",
    ".json": "json",
    ".csv": "csv",
}
#: Characters that are read at once.
CHUNK = 1 << 16
#: Where JSON breaks off so near the end of what was read, more of it may make it right.
_NEAR = 16
#: The longest field that a CSV file may have: what a C long holds everywhere.
_LONGEST_FIELD = 2**31 - 1


class Record(NamedTuple):
    """What one item of a feed has to say."""

    place: str
    """File and line, for messages: ``pages.jsonl:17``."""
    fields: Mapping[str, Any]


def format_of(path: str) -> str:
    """Return the format of a file by its ending: JSON Lines if that says nothing, as of standard input.

    >>> format_of("pages.JSON"), format_of("-")
    ('json', 'jsonlines')
    """
    return ENDINGS.get(PurePath(path).suffix.lower(), "jsonlines")


def records(given: Input, form: str) -> Generator[Record]:
    """Yield the records of a feed in the format *form*: jsonlines, json or csv. Close it before *given* is closed.

    Raises Refused for the first that is none, with the number of its line, and Failed if it cannot be read.
    """
    return _READERS[form](given)


def _json_lines(given: Input) -> Generator[Record]:
    with _text(given) as text:
        for number, line in enumerate(_read(text.readline, given), 1):
            if line.strip():
                place = f"{given.name}:{number}"
                try:
                    yield _record(place, json.loads(line))
                except (json.JSONDecodeError, RecursionError):
                    raise Refused(f"{place}: the line is not JSON") from None


def _json_array(given: Input) -> Generator[Record]:
    with _text(given) as text:
        values = _Values(lambda size: next(_read(lambda: text.read(size), given), ""))
        if values.mark() != "[":
            raise Refused(f"{given.name}:{values.line}: the file is not a JSON array; see --format")
        mark = values.mark() if values.next() == "]" else ","
        while mark == ",":
            values.next()
            place = f"{given.name}:{values.line}"
            try:
                yield _record(place, values.value())
            except (json.JSONDecodeError, RecursionError):
                raise Refused(f"{place}: not JSON from here on") from None
            mark = values.mark()
        if mark != "]":
            raise Refused(f"{given.name}:{values.line}: expected a comma or the end of the array")
        # As where one crawl after another appended to a file.
        if values.next():
            raise Refused(f"{given.name}:{values.line}: unexpected data after the end of the array")


class _Values:
    """JSON values, one after another, out of a text that is read as it is needed."""

    def __init__(self, read: Callable[[int], str]) -> None:
        self._read = read
        self._text = ""
        self._decode = json.JSONDecoder().raw_decode
        #: Of what comes next.
        self.line = 1

    def next(self) -> str:
        """Return the next character that is no white space, "" at the end, and stay before it."""
        while True:
            text = self._text.lstrip(" \t\n\r")
            self._pass(len(self._text) - len(text))
            if text:
                return text[0]
            self._text = self._read(CHUNK)
            if not self._text:
                return ""

    def mark(self) -> str:
        """Return the next character that is no white space, and pass it."""
        mark = self.next()
        self._pass(len(mark))
        return mark

    def value(self) -> Any:
        """Return the next value, which must not be a number, and pass it. Raises ValueError if it is not JSON."""
        while True:
            try:
                value, end = self._decode(self._text)
            except json.JSONDecodeError as error:
                is_cut = error.pos > len(self._text) - _NEAR or error.msg.startswith("Unterminated")
                # As much again each time, so that a long one is not begun too often.
                more = self._read(max(CHUNK, len(self._text))) if is_cut else ""
                if not more:
                    raise
                self._text += more
            else:
                self._pass(end)
                return value

    def _pass(self, characters: int) -> None:
        self.line += self._text.count("\n", 0, characters)
        self._text = self._text[characters:]


def _csv(given: Input) -> Generator[Record]:
    with _text(given) as text, _fields_of_any_length():
        rows = csv.DictReader(_read(text.readline, given), strict=True)
        try:
            for row in rows:
                yield Record(f"{given.name}:{rows.line_num}", row)
        except csv.Error as error:
            raise Refused(f"{given.name}:{rows.reader.line_num}: not CSV: {error}") from None


_READERS: Mapping[str, Callable[[Input], Generator[Record]]] = {
    "jsonlines": _json_lines,
    "json": _json_array,
    "csv": _csv,
}
FORMATS = tuple(_READERS)


def _record(place: str, value: Any) -> Record:
    if not isinstance(value, dict):
        raise Refused(f"{place}: the record is not a JSON object")
    return Record(place, value)


@contextmanager
def _text(given: Input) -> Iterator[TextIO]:
    """Read *given* as text, with its line ends as they are, and leave it open."""
    text = TextIOWrapper(given.stream, "utf-8-sig", newline="")
    try:
        yield text
    finally:
        text.detach()


def _read(read: Callable[[], str], given: Input) -> Iterator[str]:
    """Yield what *read* returns, until it is nothing."""
    while True:
        try:
            with failing(f"read {given.source}"):
                text = read()
        except UnicodeDecodeError:
            raise Refused(f"{given.name}: the file is not valid UTF-8") from None
        if not text:
            return
        yield text


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Let fields of CSV be as long as pages are: the limit is one for the whole process."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
