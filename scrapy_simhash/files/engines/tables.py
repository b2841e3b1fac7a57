"""The tables of batch engines: their columns, in the words of SQL and of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.batch.marks import MARKS

#: Bands of a sketch, see ``bands``.
BANDS = 28
_ARROW = {
    "BIGINT": "int64",
    "INT": "int32",
    "BOOLEAN": "bool_",
    "DOUBLE": "float64",
    "STRING": "string",
    "BINARY": "binary",
}
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "STRING"}


class Table(NamedTuple):
    """The columns of a table."""

    columns: dict[str, str]
    """Their names and their types in SQL."""

    @property
    def ddl(self) -> str:
        """The columns as Spark reads them."""
        return ", ".join(f"{name} {kind}" for name, kind in self.columns.items())

    def arrow(self) -> Any:
        """Return the columns as a schema of Arrow."""
        pa = arrow()
        texts = pa.list_(pa.string())
        kinds = {name: getattr(pa, kind)() for name, kind in _ARROW.items()} | {"ARRAY<STRING>": texts}
        return pa.schema([(name, kinds[kind]) for name, kind in self.columns.items()])

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> Any:
        """Return *rows* as a batch of Arrow."""
        pa, schema = arrow(), self.arrow()
        columns = zip(*rows, strict=True) if rows else [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


#: The *outcome* of a page that could not be read; else it is the reason of a verdict.
FAULT = "fault"
#: Every page. One without a *content* is compared with no other, and *outcome* says why; pages with the same one are
#: equal as far as fingerprints tell. *page* is the hash of the URL.
FINGERPRINTS = Table(
    {
        "id": "BIGINT",
        "url": "STRING",
        "scope": "STRING",
        "host": "STRING",
        "value": "BIGINT",
        "text_hash": "BIGINT",
        "is_short": "BOOLEAN",
        "sketch": "BINARY",
        "own": "BINARY",
        "content": "BIGINT",
        "page": "BIGINT",
        "canonical": "STRING",
        "outcome": "STRING",
    }
)
#: The same, and from what its site learns.
READINGS = Table(FINGERPRINTS.columns | {"pieces": "BINARY"})
#: What sites repeat.
SITES = Table({"host": "STRING", "profile": "BINARY"})
#: What a site says about the pieces of a page; of pages whose site is known.
ANSWERS = Table({"id": "BIGINT", "answer": "BINARY"})
#: By what pages are found: a row for a page, and one for its own part.
KEYS = Table(
    {"id": "BIGINT", "scope": "BIGINT", "value": "BIGINT", "subject": "BIGINT"}
    | {f"band{band}": "INT" for band in range(BANDS)}
)
#: Near-duplicates by the rule; *a* is less than *b*.
PAIRS = Table({"a": "BIGINT", "b": "BIGINT", "similarity": "DOUBLE", "distance": "BIGINT"})
#: What ``dedup --mark`` says of a page; a cluster has the id of its first page.
VERDICTS = Table({"id": "BIGINT", "url": "STRING"} | {name: _TYPES[kind] for name, kind in MARKS.items()})
#: Pages that say the same, two or more.
CLUSTERS = Table({"cluster": "BIGINT", "members": "ARRAY<STRING>", "preferred": "STRING"})


def rows_of(batch: Any) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a batch of Arrow."""
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def arrow() -> Any:
    """Return the module pyarrow."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise KindError("pyarrow is missing: pip install 'scrapy-simhash[duckdb]' or '[spark]'") from None
