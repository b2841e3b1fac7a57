"""Feeds, as Scrapy writes them and others do: JSON Lines, one JSON array, CSV."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from typing import Any, NamedTuple

from scrapy_simhash.files.records.fields import Fields
from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.files.records.source import LIMIT, TOO_LARGE, BrokenStream, Source

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
    for number, line in enumerate(_lines(source.stream), 1):
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


def _lines(stream: BufferedIOBase) -> Iterator[bytes | None]:
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
        self._lines = _lines(stream)
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
