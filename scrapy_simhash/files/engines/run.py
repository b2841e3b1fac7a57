"""Run the steps from pages to verdicts, each of which writes a table in a folder.

pages  -->  fingerprints  -->  keys  -->  candidates  -->  pairs  -->  components  -->  verdicts, clusters
       read twice         bands      joins             rule       stars            a store for each
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scrapy_simhash.config import Config
from scrapy_simhash.exceptions import SettingError
from scrapy_simhash.files.engines import mappers, sql
from scrapy_simhash.files.engines.sql import KEY_COLUMNS, Table
from scrapy_simhash.judge.rule import rule_of

#: A function from batches of Arrow to batches of Arrow with any number of rows, which can be pickled.
Mapper = Callable[[Iterator[Any]], Iterator[Any]]
#: Patterns for the names of column types in DuckDB and Spark, also for a column of NULLs.
_NULL = '"null"|void'
_WHOLE, _TEXT = f"u?(tiny|small|big|huge)?int(eger)?|{_NULL}", f"varchar|string|json|blob|binary|{_NULL}"
#: The result tables. The intermediate tables can be removed.
RESULTS = ("fingerprints", "pairs", "clusters", "representatives", "verdicts")


class Counts(NamedTuple):
    """Numbers of pages by their result."""

    pages: int
    kept: int
    near_duplicates: int
    unknown: int
    """Pages without a URL, and unreadable pages; they are kept."""
    clusters: int
    pairs: int
    """Pairs of near-duplicates with different texts."""


class Result(NamedTuple):
    """The counts of a run, and the tables that the run has written."""

    counts: Counts
    paths: Mapping[str, str]
    """The Parquet file or folder of each of `RESULTS`."""


class Engine(ABC):
    """Compares pages with SQL that DuckDB and Spark both understand, and with functions over batches."""

    keys_at_once = 1
    """Number of keys per query for candidates. With more keys there are fewer queries, but each takes more space."""

    hash_function = "hash"
    """SQL function that returns a 64-bit hash of its arguments."""

    def __init__(self, folder: str, config: Config) -> None:
        """Write all tables to *folder*. Raises SettingError for a rule that compares no sketches."""
        rule = rule_of(config)
        if not rule.compares_sketches:
            raise SettingError(
                f"SIMHASH_RULE must be 'similarity' in DuckDB and Spark, got {rule.name!r}: compare hashes with"
                ' "scrapy-simhash find"'
            )
        self._folder, self._config, self._reach = folder, config, rule.reach

    @abstractmethod
    def view(self, name: str, paths: Sequence[str]) -> None:
        """Register the concatenated tables at *paths* as the view *name*."""

    @abstractmethod
    def write(self, path: str, sql: str) -> None:
        """Write the result of *sql* as the table *path*, replacing an old table."""

    @abstractmethod
    def write_mapped(
        self, path: str, sql: str, function: Mapper, table: Table, by: Sequence[str] = (), hidden: int = 0
    ) -> None:
        """Apply *function* to the result of *sql*, and write its batches, with the columns of *table*, to *path*.

        Without *by*, a call may get any part of the batches. With *by*, names of columns, a call gets all rows with
        the same value in the first of these columns, sorted by all these columns. *hidden* is the number of last
        columns that are only for sorting, and are not passed on.
        """

    @abstractmethod
    def numbers(self, sql: str) -> tuple[int, ...]:
        """Return the only row of the result of *sql*, which has whole numbers; 0 for NULL."""

    def deduplicate(self, columns: Mapping[str, str]) -> Result:
        """Deduplicate the view ``simhash_pages``; *columns* maps the names of its columns to SQL types.

        Tables of an earlier run are replaced.
        """
        # Names in SQL are case-insensitive.
        self._read({name.lower(): kind.lower() for name, kind in columns.items()})
        self._find_candidates()
        self._mapped("pairs", sql.COMPARED, mappers.ComparePairs(self._config), sql.PAIRS)
        self._connect()
        by = ("component", "id")
        self._step("titles", sql.TITLES)
        self._mapped("judged", sql.JUDGED, mappers.JudgePages(self._config), sql.JUDGED_PAGES, by)
        self._mapped("clusters", sql.IN_CLUSTERS, mappers.gather_clusters, sql.CLUSTERS, by, 1)
        self._step("verdicts", sql.VERDICT_OF_ALL)
        self._step("representatives", sql.REPRESENTATIVES)
        return Result(Counts(*self.numbers(sql.COUNTS)), {name: self._path(name) for name in RESULTS})

    def _read(self, columns: Mapping[str, str]) -> None:
        """Write the fingerprints of the pages; existing fingerprints are used unchanged."""
        if sql.FINGERPRINTS.columns.keys() <= columns.keys():
            self._step("fingerprints", f"SELECT {', '.join(sql.FINGERPRINTS.columns)} FROM simhash_pages")
        else:
            self._read_pages(columns, "html" if "html" in columns else "text")
        pages, ids, first = self.numbers(
            "SELECT count(*), count(DISTINCT id), min(id) FROM simhash_fingerprints"
        )
        if pages != ids:
            raise ValueError(f"ids must be unique and not NULL, got {ids} different ids for {pages} pages")
        if first < 0:
            raise ValueError(f"ids must be 0 or more, got {first}")

    def _read_pages(self, columns: Mapping[str, str], page: str) -> None:
        if not {"id", "url", page} <= columns.keys():
            raise ValueError(f"the columns must be id, url, and html or text, got {', '.join(columns)}")
        for name, kinds, what in (("id", _WHOLE, "whole numbers"), (page, _TEXT, "text or bytes")):
            if not re.fullmatch(kinds, columns[name]):
                raise ValueError(f"the column {name} must be {what}, got {columns[name]}")
        reader = mappers.ReadPages(self._config, is_text=page == "text")
        self._mapped("readings", sql.pages(columns, is_answered=False), reader, sql.READINGS)
        if not self._config.site_learning or page == "text":
            self._step("fingerprints", sql.AS_READ)
            return
        self._mapped("sites", sql.LESSONS, mappers.learn_sites, sql.SITES, ("host", "id"), 1)
        self._mapped("answers", sql.QUESTIONS, mappers.answer_pages, sql.ANSWERS, ("host", "turn", "id"), 1)
        self._mapped("readings_again", sql.pages(columns, is_answered=True), reader, sql.READINGS)
        self._step("fingerprints", sql.READ_TWICE)

    def _find_candidates(self) -> None:
        self._step("contents", sql.CONTENTS.format(hash=self.hash_function))
        self._step("firsts", sql.FIRSTS)
        self._mapped("keys", sql.FOUND_BY_KEYS, mappers.keys, sql.KEYS)
        paths = []
        for first in range(0, len(KEY_COLUMNS), self.keys_at_once):
            entries = sql.entries(range(len(KEY_COLUMNS))[first : first + self.keys_at_once])
            self._step("buckets", sql.BUCKETS.format(entries=entries), first)
            self._step("places", sql.PLACES.format(entries=entries), first)
            paths.append(self._step("candidates", sql.CANDIDATES.format(reach=self._reach), first))
        self.view("simhash_candidates", paths)

    def _connect(self) -> None:
        """Write, for each page with near-duplicates, the first page of its connected component."""
        self._step("edges", sql.EDGES)
        turn = 0
        while any(self.numbers(sql.UNFINISHED)):
            self._step("edges", sql.LARGE_STARS, turn := turn + 1)
            self._step("edges", sql.SMALL_STARS, turn := turn + 1)
        self._step("members", sql.MEMBERS)

    def _path(self, table: str, part: int = 0) -> str:
        """Return the path of a table: results are in the folder, intermediate tables in a subfolder."""
        if table in RESULTS:
            return f"{self._folder}/{table}.parquet"
        return f"{self._folder}/between/{table}-{part}.parquet"

    def _step(self, name: str, sql: str, part: int = 0) -> str:
        """Write the result of *sql* as a table, and register it as a view."""
        path = self._path(name, part)
        self.write(path, sql)
        self.view(f"simhash_{name}", [path])
        return path

    def _mapped(
        self, name: str, sql: str, function: Mapper, table: Table, by: Sequence[str] = (), hidden: int = 0
    ) -> None:
        """Apply *function* to the result of *sql*, write it as a table, and register it as a view."""
        path = self._path(name)
        self.write_mapped(path, sql, function, table, by, hidden)
        self.view(f"simhash_{name}", [path])
