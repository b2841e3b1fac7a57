"""Measure how fast pages are read from each kind of input, beside what it takes to make their fingerprints.

    python benchmarks/records.py                    # a table; --json for programs
    python benchmarks/records.py --pages 300 --repeats 3
    python benchmarks/records.py --peers            # and warcio and fastwarc on the same archives

A sample of pages is written into a file of each kind, and read again to its end. The unit is the time in which the
same pages become fingerprints by ``PageFingerprinter.read``, parse included. The last column says which share of the
rate of fingerprints is left to a process that reads and makes fingerprints in turn. Each round reads all kinds, one
after another, and makes all fingerprints once; a figure is the median of its rounds. Times are processor time, and
the files are in the cache. Peers read target URL, content type and decoded body of each response.

Not measured: disks, how long a file takes to be written, Scrapy's caches, which are many small files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.clock import timed
from benchmarks.lib.report import environment, opening, progress, table
from benchmarks.lib.sample import Page, add_sample, origin, packs_of, sample
from scrapy_simhash import PageFingerprinter
from scrapy_simhash.exceptions import KindError
from scrapy_simhash.files.records import Record, open_writer, read

KINDS = (
    "jsonl",
    "jsonl.gz",
    "jsonl.zst",
    "jsonl.bz2",
    "jsonl.xz",
    "json",
    "csv",
    "parquet",
    "warc",
    "warc.gz",
    "warc.zst",
    "zip",
    "folder/",
)


def written(pages: Sequence[Page], folder: Path) -> dict[str, str]:
    """Write *pages* as a file of each kind, and return their paths; kinds whose extra is missing are left out."""
    records = [
        Record(page.url or f"https://example.com/{number}", page.html, "", content_type="text/html")
        for number, page in enumerate(pages)
    ]
    paths = {}
    for kind in KINDS:
        progress(f"writing {kind} ...")
        path = f"{folder}/{'pages/' if kind.endswith('/') else f'pages.{kind}'}"
        try:
            with open_writer(path) as writer:
                for record in records:
                    writer.write(record)
        except KindError as error:
            progress(f"{error}\n")
            continue
        paths[kind] = path
    return paths


def ours(path: str) -> int:
    """Read all pages of an input, and return how many characters they have."""
    return sum(len(one.page) for one in read([path]) if isinstance(one, Record))


def by_warcio(path: str) -> int:
    """Do the same of an archive with warcio."""
    from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

    size = 0
    with Path(path).open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                record.rec_headers.get_header("WARC-Target-URI")
                record.http_headers.get_header("Content-Type")
                size += len(record.content_stream().read())
    return size


def by_fastwarc(path: str) -> int:
    """Do the same of an archive with fastwarc."""
    warc = import_module("fastwarc.warc")
    size = 0
    with Path(path).open("rb") as file:
        for record in warc.ArchiveIterator(
            file, record_types=warc.WarcRecordType.response, parse_http=True, auto_decode="all"
        ):
            _ = record.headers.get("WARC-Target-URI"), record.http_content_type
            size += len(record.reader.read())
    return size


def measure(pages: Sequence[Page], repeats: int, with_peers: bool) -> dict[str, Any]:
    """Return milliseconds a page for each kind, and for fingerprints."""
    fingerprinter = PageFingerprinter()
    times: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        paths = written(pages, Path(folder))
        readers: list[tuple[str, Callable[[str], int], str]] = [
            (kind, ours, path) for kind, path in paths.items()
        ]
        if with_peers:
            for kind in ("warc", "warc.gz"):
                readers += [(f"{kind}, warcio", by_warcio, paths[kind])]
                readers += [(f"{kind}, fastwarc", by_fastwarc, paths[kind])]
        for number in range(repeats + 1):
            progress(f"round {number} of {repeats} ...")
            _, took = timed(lambda: [fingerprinter.read(page.html) for page in pages])
            round_times = {"fingerprints": took}
            for name, function, path in readers:
                _, round_times[name] = timed(lambda: function(path))  # noqa: B023
            # The first one warms up.
            if number:
                for name, took in round_times.items():
                    times.setdefault(name, []).append(took / 1e6 / len(pages))
    progress("")
    medians = {name: median(values) for name, values in times.items()}
    unit = medians.pop("fingerprints")
    return {
        "fingerprint_ms": unit,
        "inputs": {
            name: {"ms": took, "pages_a_second": 1000 / took, "share_of_rate": unit / (unit + took)}
            for name, took in medians.items()
        },
    }


def shown(result: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    rows = [
        (name, f"{one['ms']:.3f}", f"{one['pages_a_second']:,.0f}", f"{one['share_of_rate']:.2f}")
        for name, one in result["inputs"].items()
    ]
    unit = result["fingerprint_ms"]
    lines = table(["input", "ms a page", "pages a second", "share of the rate"], rows)
    return "\n".join(
        [
            opening(result),
            f"{result['pages']} pages of {result['origin']}, {result['mean_kb']:.0f} kB on average",
            f"a fingerprint takes {unit:.3f} ms: {1000 / unit:,.0f} pages a second",
            "",
            lines,
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print it."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description="Measure how fast pages are read from each kind of input.")
    add_sample(parser, 500)
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (default: 5)")
    parser.add_argument("--peers", action="store_true", help="read archives with warcio and fastwarc, too")
    parser.add_argument("--json", action="store_true", help="write a JSON object")
    options = parser.parse_args(given)
    packs = packs_of(options)
    pages = sample(packs, options.pages)
    result = {
        **environment(__file__, given),
        "pages": len(pages),
        "origin": origin(packs),
        "mean_kb": sum(len(page.html) for page in pages) / len(pages) / 1000,
        **measure(pages, options.repeats, options.peers),
    }
    print(json.dumps(result, indent=2) if options.json else shown(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
