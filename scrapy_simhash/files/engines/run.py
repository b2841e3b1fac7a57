"""From pages to verdicts, step by step, each a table in one folder.

pages  -->  fingerprints  -->  keys  -->  candidates  -->  pairs  -->  components  -->  verdicts, clusters
       read twice         bands      joins             rule       stars            a store for each
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scrapy_simhash.config import Config
from scrapy_simhash.detector import header_for
from scrapy_simhash.exceptions import SettingError, StoreMismatch
from scrapy_simhash.files.engines import sql
from scrapy_simhash.files.engines.mappers import (
    ComparePairs,
    GatherClusters,
    JudgePages,
    ReadPages,
    answer_pages,
    keys,
    learn_sites,
)
from scrapy_simhash.files.engines.sql import (
    ANSWERS,
    CLUSTERS,
    FINGERPRINTS,
    JUDGED_PAGES,
    KEY_COLUMNS,
    KEYS,
    PAIRS,
    READINGS,
    SITES,
    Table,
)
from scrapy_simhash.judge.rule import rule_of
from scrapy_simhash.page.fingerprint import number
from scrapy_simhash.store.sqlite.schema import signed

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


#: Types of columns, as DuckDB and Spark call them; that of a column in which all is NULL, too.
_NULL = '"null"|void'
_WHOLE, _TEXT = f"u?(tiny|small|big|huge)?int(eger)?|{_NULL}", f"varchar|string|json|blob|binary|{_NULL}"


class Counts(NamedTuple):
    """What came of all pages of a folder."""

    pages: int
    kept: int
    near_duplicates: int
    unknown: int
    """Pages without a URL, and such as could not be read: they are kept."""
    clusters: int
    pairs: int
    """Near-duplicates by the rule, of different contents."""
    large_buckets: int
    """Buckets that are too large to be compared as a whole; see `left_out`."""
    left_out: int
    """Pairs that were no candidates by one of their keys, since its bucket is too large. Most are by another one."""


class Result(NamedTuple):
    """What a run has written."""

    counts: Counts
    paths: Mapping[str, list[str]]
    """The files or folders in Parquet by table: fingerprints, pairs, clusters, representatives, verdicts."""


def deduplicate(engine: Engine, folder: str, columns: Mapping[str, str], config: Config) -> Result:
    """Judge the pages of the view ``simhash_pages`` of *engine*, and write all tables to *folder*.

    *columns* are those of the view, with their types as the engine calls them. If there are pages in the folder,
    these come after them.
    """
    # SQL has names in any case.
    lower = {name.lower(): kind.lower() for name, kind in columns.items()}
    return _Run(engine, folder, config).deduplicate(lower)


class _Run:
    def __init__(self, engine: Engine, folder: str, config: Config) -> None:
        rule = rule_of(config)
        if not rule.compares_sketches:
            raise SettingError(
                f"SIMHASH_RULE must be similarity for batch engines, got {rule.name!r}; use `scrapy-simhash find`"
            )
        self._engine, self._folder, self._config, self._reach = engine, folder, config, rule.reach
        self._run = 1
        while engine.has(self._kept("representatives", self._run)):
            self._run += 1
        #: The last page of earlier runs.
        self._last = -1

    def deduplicate(self, columns: Mapping[str, str]) -> Result:
        self._check_settings()
        if self._run > 1:
            self._view_all("fingerprints", self._run - 1)
            (self._last,) = self._engine.numbers("SELECT coalesce(max(id), -1) FROM simhash_fingerprints")
        self._read(columns)
        self._view_all("fingerprints", self._run)
        self._check_ids()
        large, left_out = self._find_candidates()
        self._engine.write_mapped(self._kept("pairs"), sql.COMPARED, ComparePairs(self._config), PAIRS)
        self._view_all("pairs", self._run)
        self._connect()
        self._judge()
        pages, kept, near_duplicates, unknown = self._engine.numbers(sql.COUNTS)
        (clusters,) = self._engine.numbers("SELECT count(*) FROM simhash_clusters")
        (pairs,) = self._engine.numbers("SELECT count(*) FROM simhash_pairs")
        grown = {name: self._all(name, self._run) for name in ("fingerprints", "pairs")}
        new = {name: [self._kept(name)] for name in ("clusters", "representatives", "verdicts")}
        counts = Counts(pages, kept, near_duplicates, unknown, clusters, pairs, large, left_out)
        return Result(counts, grown | new)

    def _all(self, table: str, last: int) -> list[str]:
        return [self._kept(table, run) for run in range(1, last + 1)]

    def _kept(self, table: str, run: int | None = None) -> str:
        return f"{self._folder}/{table}/run-{run or self._run}.parquet"

    def _view_all(self, table: str, last: int) -> None:
        self._engine.view(f"simhash_{table}", self._all(table, last))

    def _step(self, name: str, sql: str, part: int = 0) -> str:
        """Write an intermediate table, and make it a view."""
        path = self._between(name, part)
        self._engine.write(path, sql)
        self._engine.view(f"simhash_{name}", [path])
        return path

    def _between(self, name: str, part: int = 0) -> str:
        return f"{self._folder}/between/{name}-{part}.parquet"

    def _check_settings(self) -> None:
        """Raise StoreMismatch if the fingerprints of the folder were made with other settings."""
        settings = (header_for(self._config).to_dict(), self._config.site_learning)
        mine = signed(number(repr(settings)))
        path = self._kept("settings", 1)
        if self._run == 1:
            self._engine.write(path, f"SELECT CAST({mine} AS BIGINT) AS settings")
            return
        self._engine.view("simhash_settings", [path])
        if self._engine.numbers("SELECT settings FROM simhash_settings") != (mine,):
            raise StoreMismatch(
                f"{self._folder} holds fingerprints that were made or compared with other settings. Nothing was"
                " changed. Restore the settings, or use another folder"
            )

    def _check_ids(self) -> None:
        new = self._kept("fingerprints")
        self._engine.view("simhash_new_fingerprints", [new])
        pages, ids, first = self._engine.numbers(
            "SELECT count(*), count(DISTINCT id), min(id) FROM simhash_new_fingerprints"
        )
        if pages != ids:
            raise ValueError(f"ids must be different for all pages and not NULL, got {ids} for {pages} pages")
        if pages and first <= self._last:
            after = f", after those of earlier pages in {self._folder}" if self._run > 1 else ""
            raise ValueError(f"ids must be {self._last + 1} or more{after}, got {first}")

    def _read(self, columns: Mapping[str, str]) -> None:
        """Write the fingerprints of the pages; those that have fingerprints are taken as they are."""
        engine, config = self._engine, self._config
        if FINGERPRINTS.columns.keys() <= columns.keys():
            engine.write(
                self._kept("fingerprints"), f"SELECT {', '.join(FINGERPRINTS.columns)} FROM simhash_pages"
            )
            return
        page = "html" if "html" in columns else "text"
        if not {"id", "url", page} <= columns.keys():
            raise ValueError(f"the columns must be id, url, and html or text, got {', '.join(columns)}")
        for name, kinds, what in (("id", _WHOLE, "whole numbers"), (page, _TEXT, "text or bytes")):
            if not re.fullmatch(kinds, columns[name]):
                raise ValueError(f"the column {name} must be {what}, got {columns[name]}")
        reader = ReadPages(config, is_text=page == "text")
        readings = self._between("readings")
        engine.write_mapped(readings, sql.pages(columns, is_answered=False), reader, READINGS)
        engine.view("simhash_readings", [readings])
        if not config.site_learning or page == "text":
            engine.write(self._kept("fingerprints"), sql.AS_READ)
            return
        lessons = sql.LESSONS
        # Not every run has learned something.
        before = [run for run in range(1, self._run) if engine.has(self._kept("sites", run))]
        if before:
            engine.view("simhash_sites_before", [self._kept("sites", before[-1])])
            lessons += sql.KNOWN_BEFORE
        engine.write_mapped(self._kept("sites"), lessons, learn_sites, SITES, ("host", "turn", "id"), 2)
        engine.view("simhash_sites", [self._kept("sites")])
        answers, again = self._between("answers"), self._between("readings-again")
        engine.write_mapped(answers, sql.QUESTIONS, answer_pages, ANSWERS, ("host", "turn", "id"), 1)
        engine.view("simhash_answers", [answers])
        engine.write_mapped(again, sql.pages(columns, is_answered=True), reader, READINGS)
        engine.view("simhash_readings_again", [again])
        engine.write(self._kept("fingerprints"), sql.READ_TWICE)

    def _find_candidates(self) -> tuple[int, int]:
        """Write the candidates, and return how many buckets are large, and how many pairs that left out."""
        engine = self._engine
        self._step("firsts", sql.FIRSTS)
        found_by_keys = sql.FOUND_BY_KEYS.format(last=self._last)
        engine.write_mapped(self._kept("keys"), found_by_keys, keys, KEYS)
        self._view_all("keys", self._run)
        candidates = sql.CANDIDATES.format(last=self._last, reach=self._reach)
        paths, large, left_out = [], 0, 0
        for first in range(0, len(KEY_COLUMNS), engine.keys_at_once):
            numbers = range(len(KEY_COLUMNS))[first : first + engine.keys_at_once]
            entries = sql.entries(numbers)
            self._step("buckets", sql.BUCKETS.format(entries=entries), first)
            buckets, pairs = engine.numbers(sql.LEFT_OUT)
            large, left_out = large + buckets, left_out + pairs
            self._step("places", sql.PLACES.format(entries=entries), first)
            paths.append(self._step("candidates", candidates, first))
        engine.view("simhash_candidates", paths)
        return large, left_out

    def _connect(self) -> None:
        """Write for each page that repeats another one, or is repeated, the first one that it hangs together with."""
        self._step("edges", sql.EDGES)
        turn = 0
        while any(self._engine.numbers(sql.UNFINISHED)):
            self._step("edges", sql.LARGE_STARS, turn := turn + 1)
            self._step("edges", sql.SMALL_STARS, turn := turn + 1)
        self._step("members", sql.MEMBERS)

    def _judge(self) -> None:
        engine, config = self._engine, self._config
        self._step("titles", sql.TITLES)
        judged = self._between("judged")
        engine.write_mapped(judged, sql.JUDGED, JudgePages(config), JUDGED_PAGES, ("component", "id"))
        engine.view("simhash_judged", [judged])
        clusters = self._kept("clusters")
        by = ("component", "id")
        engine.write_mapped(clusters, sql.IN_CLUSTERS, GatherClusters(config), CLUSTERS, by, 1)
        engine.view("simhash_clusters", [clusters])
        engine.write(self._kept("verdicts"), sql.VERDICT_OF_ALL)
        engine.view("simhash_verdicts", [self._kept("verdicts")])
        # Last: with it the run is complete.
        engine.write(self._kept("representatives"), sql.REPRESENTATIVES)
