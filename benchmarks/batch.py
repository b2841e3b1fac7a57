"""Measure pages that are deduplicated from files: time, processes, memory, and what a second pass changes.

    SIMHASH_EVAL_PACK=/path/to/pack:/path/to/another python benchmarks/batch.py      # --json for programs

* speed: ``--pages`` pages of each pack, of generated sites without one, are written to a gzipped WARC. *kernel* is
  ``PageFingerprinter.read`` of each page in memory, *check* is ``NearDuplicateDetector.check``, *warc* is a whole run
  over the file, *written* one that also writes a gzipped WARC of what is kept; all in one process, processor time a
  page, median of the rounds. *of_kernel* and *of_check* are these times as a share of that of *warc*: 1 would be a
  run that costs nothing beside.
* processes: the same pages from memory, each ``--copies`` times with other URLs, in one process and in two; processor
  time a page of the process that compares, and of those that read, less what starting them takes. *bound* is how many
  times faster two processes can be on two free processors: one / max(parent, (parent + readers) / 2).
* inputs: how fast the same pages are read from each kind of file: milliseconds a page, beside those of their
  fingerprints, and the share of the rate of fingerprints that is left to a process that does both in turn.

Not measured: disks (the files are in the cache), how long anything takes while others use the processors.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clusters import address, read_pages
from benchmarks.lib.pack import Pack
from benchmarks.lib.processes import alone, timed
from benchmarks.lib.report import arguments_of, progress, show
from benchmarks.lib.shared_text import sites
from scrapy_simhash import NearDuplicateDetector, PageFingerprinter
from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.batch import Options, Run
from scrapy_simhash.files.records import Record, open_writer, read

PAGES = 1_500
COPIES = 5
ROUNDS = 3
PARTS = ("speed", "processes", "inputs")
KINDS = "jsonl jsonl.gz jsonl.zst csv parquet warc warc.gz warc.zst".split()


def records_of(pack: Pack | None, number: int) -> list[Record]:
    """Return *number* pages of *pack* in random order, of generated sites without one."""
    if pack is None:
        pages = [(page.url, page.html) for site in sites() for page in site.pages]
        return [Record(url, html, str(at)) for at, (url, html) in enumerate(pages[:number])]
    html = read_pages(pack)
    ids = Random(0).sample(sorted(html), min(number, len(html)))
    # Some URLs of the packs have no scheme, and a file keeps none of those.
    urls = (address(pack.docs[id]) for id in ids)
    named = (url if "://" in url else f"https://{url}" for url in urls)
    return [Record(url, html[id], id, content_type="text/html") for id, url in zip(ids, named, strict=True)]


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the processor time of *work*, the median of the rounds."""
    return median(timed(work)[1] for _ in range(rounds)) / 1e9


def speed(pack: Pack | None, number: int) -> dict[str, float]:
    """Return microseconds a page, by what is done."""
    records = records_of(pack, number)
    fingerprinter = PageFingerprinter()

    def check() -> None:
        detector = NearDuplicateDetector()
        for record in records:
            detector.check(record.page, record.url, content_type=record.content_type)

    def kernel() -> None:
        for record in records:
            fingerprinter.read(record.page, content_type=record.content_type)

    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "pages.warc.gz"), Path(folder, "out.warc.gz")
        with open_writer(file) as writer:
            for record in records:
                writer.write(record)

        def warc() -> None:
            for _ in Run(lambda: read([file]), Options()).steps():
                pass

        def written() -> None:
            with open_writer(out) as writer:
                for step in Run(lambda: read([file]), Options()).steps():
                    if isinstance(step.item, Record) and step.outcome.is_kept:
                        writer.write(step.item)

        kernel()
        found = {work.__name__: seconds(work) / len(records) * 1e6 for work in (kernel, check, warc, written)}
    return {
        "pages": len(records),
        **found,
        "of_kernel": found["kernel"] / found["warc"],
        "of_check": found["check"] / found["warc"],
    }


def _spent() -> tuple[float, float]:
    """Return processor time of this process, and of those that it has started and that are over."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


def processes(pack: Pack | None, number: int, copies: int) -> dict[str, float]:
    """Return microseconds a page with one process and with two."""
    pages = records_of(pack, number)
    records = [replace(page, url=f"{page.url}-{copy}") for copy in range(copies) for page in pages]

    def spent(of: Sequence[Record], number: int) -> tuple[float, float]:
        before = _spent()
        run = Run(lambda: iter(of), Options(processes=number))
        for _ in run.steps():
            pass
        after = _spent()
        return after[0] - before[0], after[1] - before[1]

    spent(pages[:200], 1)
    one, _ = spent(records, 1)
    start = spent(records[:1], 2)
    parent, readers = spent(records, 2)
    a_page = 1e6 / len(records)
    parent, readers = parent - start[0], readers - start[1]
    return {
        "pages": len(records),
        "one": one * a_page,
        "parent": parent * a_page,
        "readers": readers * a_page,
        "bound": one / max(parent, (parent + readers) / 2),
        "start_seconds": start[1],
    }


def written(records: Sequence[Record], folder: Path) -> dict[str, str]:
    """Write *records* as a file of each kind, and return their paths; kinds whose extra is missing are left out."""
    paths = {}
    for kind in KINDS:
        path = f"{folder}/pages.{kind}"
        try:
            with open_writer(path) as writer:
                for record in records:
                    writer.write(record)
        except KindError as error:
            progress(f"{error}\n")
            continue
        paths[kind] = path
    return paths


def by_us(path: str) -> None:
    """Read all pages of a file."""
    for _ in read([path]):
        pass


def inputs(pack: Pack | None, number: int) -> dict[str, dict[str, float]]:
    """Return milliseconds a page by kind of file, medians of the rounds, and the share of the rate."""
    records, fingerprinter = records_of(pack, number), PageFingerprinter()
    times: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = written(records, Path(folder))
        work: dict[str, Callable[[], object]] = {
            "fingerprints": lambda: [fingerprinter.read(record.page) for record in records],
            **{kind: partial(by_us, path) for kind, path in paths.items()},
        }
        # One after another, so that all have the same minutes; the first round warms up.
        for _ in range(ROUNDS + 1):
            for name, one in work.items():
                times.setdefault(name, []).append(timed(one)[1])
    a_page = {name: median(each[1:]) / len(records) / 1e6 for name, each in times.items()}
    unit = a_page["fingerprints"]
    return {
        name: {"ms a page": one, "share of the rate": unit / (unit + one)} for name, one in a_page.items()
    }


def measure(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield each part with its figures."""
    packs: list[Pack | None] = [*Pack.locate_all()] or [None]
    for part in options.only or PARTS:
        for pack in packs:
            name = pack.name if pack is not None else "generated"
            progress(f"{part} {name}")
            if part == "speed":
                yield f"speed {name}", alone(speed, pack, options.pages)
            elif part == "processes":
                yield f"processes {name}", processes(pack, options.pages, options.copies)
            else:
                yield f"inputs {name}", inputs(pack, options.pages)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write tables or JSON."""
    parser = arguments_of(__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part; may be repeated")
    parser.add_argument("--pages", type=int, default=PAGES, help=f"pages of each source (default: {PAGES:,})")
    parser.add_argument("--copies", type=int, default=COPIES, help=f"of each page (default: {COPIES})")
    options = parser.parse_args(arguments)
    return show(__file__, options, arguments, dict(measure(options)))


if __name__ == "__main__":
    sys.exit(main())
