"""The tables that engines write: their columns, in the words of Arrow and of SQL."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from scrapy_simhash.batch.marks import MARKS
from scrapy_simhash.exceptions import KindError

_ARROW = {"BIGINT": "int64", "INT": "int32", "BOOLEAN": "bool_", "DOUBLE": "float64", "STRING": "string", "BINARY": "binary"}
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "STRING"}


class Table(NamedTuple):
    """Names of columns and their types, as SQL has them."""

    columns: dict[str, str]

    @property
    def ddl(self) -> str:
        """The columns as Spark reads them."""
        return ", ".join(f"{name} {kind}" for name, kind in self.columns.items())

    def arrow(self) -> Any:
        """Return them as a schema of Arrow."""
        pa = arrow()
        return pa.schema(
            [(name, pa.list_(pa.string()) if kind == "ARRAY<STRING>" else getattr(pa, _ARROW[kind])())
             for name, kind in self.columns.items()]
        )

    def batch(self, rows: list[tuple[Any, ...]]) -> Any:
        """Return *rows* as a batch of Arrow."""
        columns = zip(*rows, strict=True) if rows else [()] * len(self.columns)
        schema = self.arrow()
        pa = arrow()
        return pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )


#: Every page. Without a `content` it is compared with none, and *outcome* says why.
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
#: What is known of a site.
SITES = Table({"host": "STRING", "profile": "BINARY"})
#: What a site says about the pieces of a page, of pages whose site is known.
ANSWERS = Table({"id": "BIGINT", "answer": "BINARY"})
#: By what pages are found: a row for each, and one for its own part.
KEYS = Table(
    {"id": "BIGINT", "scope": "BIGINT", "value": "BIGINT", "subject": "BINARY"}
    | {f"band{band}": "INT" for band in range(28)}
)
#: Near-duplicates by the rule, a < b.
PAIRS = Table({"a": "BIGINT", "b": "BIGINT", "similarity": "DOUBLE", "distance": "BIGINT"})
#: What a crawl would have said of a page, as ``dedup --mark`` says it; a cluster has the id of its first page.
VERDICTS = Table({"id": "BIGINT", "url": "STRING"} | {name: _TYPES[kind] for name, kind in MARKS.items()})
#: Pages that say the same, two or more.
CLUSTERS = Table({"cluster": "BIGINT", "members": "ARRAY<STRING>", "preferred": "STRING"})


def arrow() -> Any:
    """Return the module pyarrow."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise KindError(
            "batch engines need pyarrow: pip install 'scrapy-simhash[duckdb]' or 'scrapy-simhash[spark]'"
        ) from None
