"""Engine: what a database or a cluster must be able to do. Tables are files of Parquet in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from scrapy_simhash.files.engines.tables import Table

#: From batches of Arrow to batches of Arrow, of any number of rows; can be pickled.
Mapper = Callable[[Iterator[Any]], Iterator[Any]]


class Engine(Protocol):
    """Runs SQL that DuckDB and Spark both understand, and functions over batches."""

    keys_at_once: int
    """Keys by which one query seeks candidates: with more of them there are fewer queries, which take more room."""

    def has(self, path: str) -> bool:
        """Return whether there is a table at *path*, written to its end."""
        ...

    def view(self, name: str, paths: Sequence[str]) -> None:
        """Call the tables at *paths*, one after the other, *name* from now on."""
        ...

    def write(self, path: str, sql: str) -> None:
        """Write what *sql* returns as the table *path*, in the place of what is there."""
        ...

    def write_mapped(
        self, path: str, sql: str, function: Mapper, table: Table, by: Sequence[str] = (), hidden: int = 0
    ) -> None:
        """Write what *function* makes of what *sql* returns: batches of *table*.

        Without *by*, one call of it may get any part of the batches. With *by*, names of columns, one call gets all
        rows with the same first of them, sorted by all of them. The last *hidden* columns are for that only: the
        function does not get them.
        """
        ...

    def numbers(self, sql: str) -> tuple[int, ...]:
        """Return the one row of whole numbers that *sql* returns, 0 for NULL."""
        ...
