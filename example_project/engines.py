"""The stored pages of a crawl, deduplicated by DuckDB and by Spark as by ``dedup``: ``python engines.py``.

Crawls the example site, keeps its pages in a file, writes them to a table, and compares the clusters of the three.
Everything goes to ``out/engines/``. Spark needs Java (``apt install default-jre-headless``).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from crawler.running import OUT, run
from magazine.server import serving
from pyspark.sql import SparkSession
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.utils.project import get_project_settings

from scrapy_simhash import cluster, duckdb, spark
from scrapy_simhash.files.engines.run import Result
from scrapy_simhash.files.records import Record, read

FOLDER = OUT / "engines"
#: For few pages: to compile a query takes longer than to answer it.
SPARK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.log.level": "ERROR",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
#: The URLs of a cluster, the first one at first, and the preferred one.
Cluster = tuple[tuple[str, ...], str]


class KeepPages:
    """An extension that writes each page of HTML to a file of JSON Lines."""

    def __init__(self, crawler: Crawler) -> None:
        """Write to the file that the setting KEPT_PAGES names."""
        self._path = Path(crawler.settings["KEPT_PAGES"])
        crawler.signals.connect(self.response_received, signal=signals.response_received)

    def response_received(self, response: Response) -> None:
        """Append a line."""
        if isinstance(response, HtmlResponse) and 200 <= response.status < 300:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"url": response.url, "html": response.text}) + "\n")

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))


def crawl(path: Path) -> None:
    """Crawl the example site, one page after another, and keep the pages in the file at *path*."""
    settings = get_project_settings()
    settings.update({"CONCURRENT_REQUESTS": 1, "EXTENSIONS": {KeepPages: 0}, "KEPT_PAGES": str(path)})
    with serving() as server:
        run("pages", f"{server.url}/", settings)


def write_table(records: Iterable[Record], path: Path) -> None:
    """Write *records* as a table, with ids in their order."""
    rows = [
        {
            "id": id,
            "url": record.url,
            "html": record.page,
        }
        for id, record in enumerate(records)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)


def session() -> SparkSession:
    """Start Spark in this process."""
    # Its workers are else those of the first Python in the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[2]")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    started: SparkSession = builder.getOrCreate()
    return started


def clusters_of(result: Result) -> set[Cluster]:
    """Return the clusters that an engine has written."""
    rows = pq.read_table(result.paths["clusters"]).to_pylist()
    return {(tuple(row["members"]), row["preferred"]) for row in rows}


def main() -> int:
    """Run it; 0 when all three say the same."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    crawl(FOLDER / "pages.jsonl")
    records = [record for record in read([FOLDER / "pages.jsonl"]) if isinstance(record, Record)]
    table = FOLDER / "pages.parquet"
    write_table(records, table)

    wanted = {(found.members, found.preferred) for found in cluster(records, two_pass=True)}
    print(f"dedup:  {len(wanted)} clusters of {len(records)} pages")
    answers = {}
    for name, result in (
        ("DuckDB", duckdb.deduplicate(f"SELECT * FROM '{table}'", FOLDER / "duckdb")),
        ("Spark", spark.deduplicate(session().read.parquet(str(table)), str(FOLDER / "spark"))),
    ):
        answers[name] = clusters_of(result)
        print(f"{name + ':':<7} {len(answers[name])} clusters of {result.counts.pages} pages")
    session().stop()
    equal = wanted.intersection(*answers.values())
    print(f"clusters equal to dedup: {len(equal)} of {len(wanted.union(*answers.values()))}")
    return 0 if wanted and all(found == wanted for found in answers.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
