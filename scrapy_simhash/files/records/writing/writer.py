"""Writer: takes records one after another; and what every kind of file needs of a record of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from scrapy_simhash.files.records.feeds import Row
from scrapy_simhash.files.records.parquet import TableRow
from scrapy_simhash.files.records.record import Record
from scrapy_simhash.page.text import decode_html
from scrapy_simhash.times import written

#: Fields that are added to a record, and which types their values have, if they are not None: str, int, float, bool.
Marks: TypeAlias = "Mapping[str, type]"
Values: TypeAlias = "Mapping[str, str | int | float | bool | None]"


class Writer(Protocol):
    """Takes records one after another."""

    def write(self, record: Record, marks: Values | None = None) -> None:
        """Write *record*, with values for all marks if the writer was opened for marks.

        Raises FileError if that does not work, and KindError for a record that this kind of file cannot hold.
        """
        ...


def fields_of(record: Record) -> Mapping[str, Any]:
    """Return *record* as the fields of a feed: those that it came with, or those that its page makes."""
    if isinstance(record.source, Row):
        return record.source.fields
    if isinstance(record.source, TableRow):
        row: Mapping[str, Any] = record.source.batch.slice(record.source.number, 1).to_pylist()[0]
        return row
    fields: dict[str, Any] = {"url": record.url, "text" if record.is_text else "html": text_of(record)}
    if record.seen is not None:
        fields["fetched"] = written(record.seen)
    return fields


def text_of(record: Record) -> str:
    """Return the page of *record*, decoded as a crawl decodes it."""
    if isinstance(record.page, str):
        return record.page
    return decode_html(record.page, record.content_type)


def bytes_of(record: Record) -> bytes:
    """Return the page of *record* as a file that is decoded to the same text."""
    if isinstance(record.page, bytes):
        return record.page
    # The mark at the beginning decides, whatever encoding the page says it has.
    return b"\xef\xbb\xbf" + record.page.encode("utf-8", "replace")
