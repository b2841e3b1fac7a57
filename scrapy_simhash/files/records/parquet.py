"""Parquet: the rows of a table as records, a few of them in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from scrapy_simhash.files.records.extras import pyarrow
from scrapy_simhash.files.records.fields import Fields
from scrapy_simhash.files.records.record import Broken, PassedOver, Record
from scrapy_simhash.files.records.source import LIMIT, TOO_LARGE, Source

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
