"""Writers of feeds: JSON Lines, one JSON array, CSV."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime, time
from io import TextIOWrapper
from typing import IO, Any

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records.feeds import Row
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.files.records.writing.writer import Marks, Values, fields_of


class JsonLinesWriter:
    """Writes an object a line; a line that came and gets no marks is written as it was."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._stream = stream

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a line."""
        source = record.source
        if marks is None and isinstance(source, Row) and source.line is not None:
            self._stream.write(source.line.rstrip(b"\r\n") + b"\n")
        else:
            self._stream.write(_json({**fields_of(record), **(marks or {})}) + b"\n")

    def close(self) -> None:
        """Nothing is left to be written."""


class JsonWriter:
    """Writes one array, an object a line."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        self._stream = stream
        self._gap = b"[\n"

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write an object."""
        self._stream.write(self._gap + _json({**fields_of(record), **(marks or {})}))
        self._gap = b",\n"

    def close(self) -> None:
        """Write the end of the array."""
        self._stream.write(b"[\n]\n" if self._gap.startswith(b"[") else b"\n]\n")


class CsvWriter:
    """Writes a table; its columns are the fields of the first record, and the marks."""

    def __init__(self, stream: IO[bytes], marks: Marks | None, delimiter: str = ",") -> None:
        self._text = TextIOWrapper(stream, "utf-8", "backslashreplace", newline="")
        self._writer = csv.writer(self._text, delimiter=delimiter)
        self._marks = marks or {}
        self._names: list[str] = []

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write a row."""
        fields = fields_of(record)
        if not self._names:
            self._names = [name for name in fields if name not in self._marks]
            self._writer.writerow([*self._names, *self._marks])
        if not fields.keys() <= {*self._names, *self._marks}:
            name = next(name for name in fields if name not in self._names)
            raise KindError(
                f"{record.place}: {name!r} is no column of the table, which the first record has made:"
                " write JSON Lines instead"
            )
        values = [fields.get(name) for name in self._names] + [(marks or {})[name] for name in self._marks]
        self._writer.writerow(map(_cell, values))

    def close(self) -> None:
        """Write what waits."""
        self._text.flush()
        self._text.detach()


class TsvWriter(CsvWriter):
    """Writes a table with tabs between its columns."""

    def __init__(self, stream: IO[bytes], marks: Marks | None) -> None:
        super().__init__(stream, marks, "\t")


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain).encode("utf-8")
    except UnicodeEncodeError:
        # Half of a character, which JSON can name and UTF-8 cannot.
        return json.dumps(value, default=_plain).encode("ascii")


def _plain(value: Any) -> Any:
    """Return what JSON has no word for, as a column of Parquet may hold it."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _json(value).decode("utf-8") if isinstance(value, list | dict) else _plain(value)
