"""Pages deduplicated by DuckDB: the results of dedup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_simhash import Config, Fingerprint
from scrapy_simhash.duckdb import deduplicate
from scrapy_simhash.files.engines import sql
from scrapy_simhash.files.engines.sql import FOLLOWERS
from scrapy_simhash.files.records import Record
from scrapy_simhash.page.fingerprint import WHOLE, UniqueText
from scrapy_simhash.store import Header
from scrapy_simhash.store.sqlite import SqliteStore
from scrapy_simhash.store.sqlite.schema import signed
from tests.files.engines.pages import answers_in, answers_of_dedup, pa, pages, rows_of, table_of
from tests.store.cases import content, posting

duckdb: Any = pytest.importorskip("duckdb")

PAGES = pages(240)
many_queries = pytest.mark.slow("some hundred queries for each run")


def judged(records: list[Any], folder: Path, first: int = 0, **options: Any) -> Any:
    with duckdb.connect() as connection:
        # The queries are small.
        connection.execute("SET threads = 1")
        connection.register("records", table_of(records, first))
        return deduplicate("SELECT * FROM records", folder, connection=connection, **options)


def test_verdicts_and_clusters_are_those_of_dedup_with_two_passes(tmp_path: Path) -> None:
    result = judged(PAGES, tmp_path)
    assert answers_in(result) == answers_of_dedup(PAGES)
    assert result.counts.pages == len(PAGES)
    assert result.counts.clusters == len(rows_of(result, "clusters")) > 20
    representatives = {row["id"] for row in rows_of(result, "representatives")}
    assert representatives == {row["id"] for row in rows_of(result, "verdicts") if row["simhash_kept"]}
    assert len(representatives) == result.counts.kept < len(PAGES)


def judged_by_fingerprints(pages: list[Fingerprint], folder: Path) -> Any:
    rows = []
    for id, page in enumerate(pages):
        its_page = (signed(page.value), None, False, page.sketch, page.own, None, None)
        rows.append((id, f"https://example.com/{id}", "", "example.com", *its_page))
    with duckdb.connect() as connection:
        connection.register("fingerprints", pa.Table.from_batches([sql.FINGERPRINTS.batch(rows)]))
        return deduplicate("SELECT * FROM fingerprints", folder, connection=connection)


@many_queries
@pytest.mark.parametrize("seed", range(2))
def test_titles_of_several_clusters_are_generic_as_in_a_crawl(tmp_path: Path, seed: int) -> None:
    random, store = Random(seed), SqliteStore(header=Header())
    titles = {text: random.choice(("night pilots", "day pilots", "boats")) for text in "abcdefghijkl"}
    pages, answers = [], []
    for id in range(120):
        text = random.choice(list(titles))
        value = int.from_bytes(text.encode() * 8, "big")
        page = content(value, random.choice((0, 20, 40, 60)), titles[text], text)
        pages.append(replace(page, own=UniqueText(WHOLE, 100).to_bytes()))
        answers.append(store.claim(posting(str(id), pages[-1])).original)
    result = judged_by_fingerprints(pages, tmp_path)
    verdicts = sorted(rows_of(result, "verdicts"), key=lambda row: row["id"])
    assert [row["simhash_duplicate_of"] for row in verdicts] == answers
    # Without this column the result is different.
    found = [row for row in rows_of(result, "pairs") if row["similarity"] < 0.8]
    assert any(answers[row["b"]] is None for row in found)


@many_queries
def test_fingerprints_of_several_runs_are_judged_together(tmp_path: Path) -> None:
    config = Config(site_learning=False)
    runs = [
        judged(PAGES[start:end], tmp_path / str(start), start, config=config)
        for start, end in ((0, 100), (100, 170), (170, 240))
    ]
    files = [run.paths["fingerprints"] for run in runs]
    result = deduplicate(f"SELECT * FROM read_parquet({files})", tmp_path / "all", config=config)
    assert answers_in(result) == answers_of_dedup(PAGES, config)


@many_queries
def test_copies_in_large_buckets_are_found(tmp_path: Path) -> None:
    # With the same title, all pages are in one bucket.
    number = 2 * FOLLOWERS
    title = "<title>One</title>"
    stories = [page.page for page in pages(number, 5)]
    records = [
        Record(
            f"https://example.com/{at}",
            re.sub("<title>.*?</title>|<h1>.*?</h1>", title, str(page)),
            "",
        )
        for at, page in enumerate(stories)
    ]
    result = judged(records, tmp_path)
    assert answers_in(result) == answers_of_dedup(records)


@many_queries
def test_duplicate_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ids must be unique and not NULL, got 0 different ids for 1"):
        deduplicate("SELECT NULL::INT AS id, 'https://example.com/' AS url, '' AS html", tmp_path)
    with pytest.raises(ValueError, match="ids must be 0 or more, got -1"):
        deduplicate("SELECT -1 AS id, 'https://example.com/' AS url, '' AS html", tmp_path)
    with pytest.raises(ValueError, match="ids must be unique and not NULL, got 1 different ids for 2"):
        deduplicate("SELECT 1 AS id, 'https://example.com/' AS url, '' AS html FROM range(2)", tmp_path)


@many_queries
def test_column_names_are_case_insensitive_and_their_types_are_checked(tmp_path: Path) -> None:
    story = PAGES[0].page
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE stored AS SELECT ?::BLOB AS page", [bytes(str(story), "utf-8")])
        pages = """
            SELECT number::HUGEINT AS ID, 'https://example.com/' || number AS Url, page AS HTML,
                7 AS scope, 8 AS content_type, 'mine' AS sketch
            FROM range(3) AS numbers (number), stored
        """
        result = deduplicate(pages, tmp_path, connection=connection)
    assert (result.counts.kept, result.counts.near_duplicates) == (1, 2)
    assert {row["scope"] for row in rows_of(result, "fingerprints")} == {"7"}


@many_queries
def test_a_page_without_a_url_is_not_compared(tmp_path: Path) -> None:
    story = PAGES[0].page
    records = [Record(url, story, "") for url in ("", "example.com", "https://example.com/ä\n\x01", "")]
    result = judged(records, tmp_path)
    rows = rows_of(result, "verdicts")
    assert [row["simhash_status"] for row in rows] == ["unknown", "unknown", "new", "unknown"]
    assert result.counts.unknown == 3
    assert all(row["simhash_kept"] for row in rows)
