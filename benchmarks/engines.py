"""Measure the batch engines, from sketches to clusters: time, memory, and recall of pairs that the rule accepts.

    python benchmarks/engines.py --only duckdb --pages 1000000 --memory 1500MB       # --json for programs
    python benchmarks/engines.py --only spark --pages 1000000

* duckdb, spark: ``--pages`` generated fingerprints in one scope. The number of filled bins in a sketch is distributed
  as in the packs: one page in ten fills less than a fourth of the bins. The marks in the bins are independent. Seven
  pages in ten have a unique title key. Two in a hundred are copies of another page, with a share of .8 to 1 of its
  bins, a few different bits, and the same title key. *recall* is the found share of the copies that the rule accepts
  as near-duplicates. Processor time is that of all processes; *bound* is half of it, the least time on two free
  processors. Memory is the peak of this process plus that of its largest child process.

Not measured: the time while other programs use the processors; a cluster of machines.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# So that this file can be run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from benchmarks.lib.processes import alone
from benchmarks.lib.report import arguments_of, progress, show
from scrapy_simhash import Config, duckdb, spark
from scrapy_simhash.files.engines.run import Result
from scrapy_simhash.files.engines.sql import FINGERPRINTS
from scrapy_simhash.judge.rule import DEFAULT_RULE
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.page.fingerprint.facts import NONE
from scrapy_simhash.store.sqlite.schema import unsigned

PARTS = ("duckdb", "spark")
PAGES = 100_000
MEMORY = "1500MB"
#: Quantiles of the number of bins, of 448, that a page fills: from 11,000 pages of three data sets.
QUANTILES = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
FILLED = (14, 31, 70, 103, 191, 334, 432, 448, 448)
BINS = 448
COPIES = 0.02
#: Pages that are generated at a time.
CHUNK = 50_000
SCOPE = Config(scope="crawl")


def generated(path: Path, pages: int) -> list[tuple[int, int]]:
    """Write a table of fingerprints; return the pairs of copies that are near-duplicates by the rule."""
    randoms, near = np.random.default_rng(7), []
    with pq.ParquetWriter(path, FINGERPRINTS.arrow()) as writer:
        for first in range(0, pages, CHUNK):
            batch, pairs = _chunk(randoms, first, min(CHUNK, pages - first))
            writer.write_batch(batch)
            near += pairs
    return near


def _chunk(randoms: np.random.Generator, first: int, size: int) -> tuple[Any, list[tuple[int, int]]]:
    filled = np.interp(randoms.random(size), QUANTILES, FILLED) / BINS
    bins = _bins(randoms, filled)
    values = randoms.integers(0, 2**64, size, dtype=np.uint64)
    title_keys = randoms.integers(1, 256, (size, 16), dtype=np.uint8)
    title_keys[randoms.random(size) < 0.3] = 0
    copies = int(size * COPIES)
    originals, places = np.arange(copies), np.arange(size - copies, size)
    kept = 0.8 + 0.2 * randoms.random(copies)
    changed = randoms.random((copies, BINS)) > kept[:, None]
    bins[places] = np.where(changed, _bins(randoms, filled[originals]), bins[originals])
    title_keys[places] = title_keys[originals]
    flips = np.zeros(copies, np.uint64)
    for _ in range(10):
        bit = np.left_shift(np.uint64(1), randoms.integers(0, 64, copies, dtype=np.uint64))
        flips |= np.where(randoms.random(copies) < 4 * (1 - kept), bit, np.uint64(0))
    values[places] = values[originals] ^ flips
    packed = bins[:, 0::4] << 6 | bins[:, 1::4] << 4 | bins[:, 2::4] << 2 | bins[:, 3::4]
    sketches = [row.tobytes() + NONE for row in np.concatenate([packed, title_keys], axis=1)]
    numbers = values.astype(np.int64).tolist()
    ids = range(first, first + size)
    columns = {
        "id": list(ids),
        "url": [f"https://example.com/{id}" for id in ids],
        **dict.fromkeys(("scope", "host"), [""] * size),
        "value": numbers,
        "text_hash": numbers,
        "is_short": [False] * size,
        "sketch": sketches,
        "own": [b""] * size,
        **dict.fromkeys(("canonical", "outcome"), [None] * size),
    }
    fingerprints = [Fingerprint(unsigned(numbers[at]), 0, sketches[at]) for at in range(size)]
    near = [
        (first + int(a), first + int(b))
        for a, b in zip(originals, places, strict=True)
        if DEFAULT_RULE.similarity(fingerprints[a], fingerprints[b]) is not None
        # Equal fingerprints are connected without a pair.
        and (sketches[a], numbers[a]) != (sketches[b], numbers[b])
    ]
    return pa.RecordBatch.from_pydict(columns, schema=FINGERPRINTS.arrow()), near


def _bins(randoms: np.random.Generator, filled: Any) -> Any:
    """Return random bins of pages; *filled* is the share of non-empty bins of each page."""
    bins = randoms.integers(1, 4, (len(filled), BINS), dtype=np.uint8)
    bins[randoms.random(bins.shape) > filled[:, None]] = 0
    return bins


def by_duckdb(source: Path, folder: Path, memory: str) -> Result:
    """Deduplicate by DuckDB with at most *memory*."""
    import duckdb as database

    with database.connect() as connection:
        connection.execute(f"SET memory_limit = '{memory}'")
        connection.execute(f"SET temp_directory = '{folder / 'swapped'}'")
        connection.execute("SET preserve_insertion_order = false")
        return duckdb.deduplicate(f"SELECT * FROM '{source}'", folder, config=SCOPE, connection=connection)


def by_spark(source: Path, folder: Path, memory: str) -> Result:
    """Deduplicate by Spark on this machine, with *memory* for Java."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.driver.memory": memory.replace("MB", "m"),
        "spark.local.dir": str(folder),
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    result = spark.deduplicate(session.read.parquet(str(source)), str(folder), config=SCOPE)
    session.stop()
    return result


def measure_engine(
    name: str, source: str, pages: int, memory: str
) -> tuple[dict[str, float], set[tuple[int, int]]]:
    """Return the time and memory that an engine takes, and the pairs it finds. Call it in a separate process."""
    engine: Callable[[Path, Path, str], Result] = {"duckdb": by_duckdb, "spark": by_spark}[name]
    with tempfile.TemporaryDirectory() as folder:
        since, (before, _) = time.perf_counter(), _spent()
        result = engine(Path(source), Path(folder), memory)
        seconds, (spent, peak) = time.perf_counter() - since, _spent()
        files = list(_files(Path(result.paths["pairs"])))
        found = {(row["a"], row["b"]) for file in files for row in pq.read_table(file).to_pylist()}
    figures = {
        "pages": pages,
        "seconds": seconds,
        "processor_seconds": spent - before,
        "bound": (spent - before) / 2,
        "peak_megabytes": peak / 1e6,
        "pairs": len(found),
    }
    return figures, found


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _spent() -> tuple[float, float]:
    """Return the processor time so far, and the memory in bytes of this process plus its largest child process."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 1 if sys.platform == "darwin" else 1024
    return sum(one.ru_utime + one.ru_stime for one in used), unit * sum(one.ru_maxrss for one in used)


def measure(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name and the figures of each engine."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "fingerprints.parquet")
        progress(f"generating {options.pages:,} fingerprints")
        near = set(generated(source, options.pages))
        for name in options.only or PARTS:
            progress(name)
            figures, found = alone(measure_engine, name, str(source), options.pages, options.memory)
            yield name, {**figures, "recall": len(near & found) / len(near)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part; may be repeated")
    parser.add_argument("--pages", type=int, default=PAGES, help=f"generated pages (default: {PAGES:,})")
    parser.add_argument("--memory", default=MEMORY, help=f"for DuckDB, or for Java (default: {MEMORY})")
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, dict(measure(options)))


if __name__ == "__main__":
    sys.exit(main())
