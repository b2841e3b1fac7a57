"""Tell whether anything is lost when a crawl is killed (SIGKILL) at random moments, and resumed.

    python benchmarks/kills.py

A spider crawls all pages of a site on the loopback interface, every fourth of them the same, in an order of its own,
and its callback writes down what it was told about each. ``JOBDIR`` is set, and with it the store is a file. The
process is killed at a random moment, from before the store is opened on, and started again on the same folder,
``--kills`` times; a last crawl comes to its end. ``chaos.py`` does the same, and more, to claims without Scrapy.

After every kill:

* the file is sound: SQLite's own check, and whether its tables agree with each other;
* whatever was told is in the file;
* no page was called a duplicate of itself, or of a page that says something else.

The program ends with status 1 if anything is otherwise. Not measured: a power failure.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.faults import show
from benchmarks.lib.prose_site import prose_site
from benchmarks.lib.report import environment, progress
from benchmarks.lib.witness import crawl_on
from scrapy_simhash.store.sqlite import SqliteStore
from tests.store.sqlite.stores import assert_sound

#: Pages of a cluster.
COPIES = 4
#: Seconds within which the kill comes, from the moment on at which the process is about to open the store.
LIFE = 3.0
#: Seconds after which a process that has not begun never will.
PATIENCE = 60

#: What was told, line by line.
Told: TypeAlias = list[dict[str, Any]]


def crawl(site: str, pages: int, folder: Path, seed: int, life: float | None) -> Told:
    """Return what a crawl was told in a process that is killed within *life* seconds; at its end if None."""
    file = folder / f"{seed}.jsonl"
    arguments = site, pages, folder, seed, file
    process = multiprocessing.get_context("spawn").Process(target=crawl_on, args=arguments)
    process.start()
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing began within {PATIENCE} s")
        time.sleep(0.001)
    if life is not None:
        time.sleep(Random(seed).uniform(0, life))
        process.kill()
    process.join()
    # The kill may have cut the last line.
    return [
        json.loads(line) for line in file.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")
    ]


def faults_of(store_file: Path, told: Told, clusters: int) -> list[str]:
    """Return what is not as it should be after everything in *told* was told, in words."""
    if not store_file.exists():
        return ["what was told has no file"] if told else []
    try:
        assert_sound(store_file)
    except AssertionError as error:
        return [f"the file is not sound: {error}"]
    with closing(SqliteStore(store_file, read_only=True)) as store:
        kept = {posting.url: posting.fingerprint.value for posting in store}
    faults = []
    for line in told:
        url, original = line["url"], line["duplicate_of"]
        if url not in kept:
            faults.append(f"{url} is lost")
        elif kept[url] != line["value"]:
            faults.append(f"{url} has another fingerprint than was told")
        if original == url:
            faults.append(f"{url} was called a duplicate of itself")
        elif original is not None and (_number(original) - _number(url)) % clusters:
            faults.append(f"{url} was called a duplicate of {original}")
        if line["status"] == "unknown":
            faults.append(f"{url} was not judged")
    return faults


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def kill_again_and_again(folder: Path, kills: int, pages: int) -> dict[str, Any]:
    """Kill *kills* crawls, and let a last one come to its end; return what came of it."""
    clusters = pages // COPIES
    store_file = folder / "job" / "simhash" / "witness.sqlite"
    told: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    lines, empty = 0, 0
    with prose_site(clusters) as site:
        for number in range(kills):
            progress(f"kill {number + 1} of {kills}, {lines:,} answers so far, {len(faults)} faults ...")
            latest = crawl(site, pages, folder, number, LIFE)
            told.update({line["url"]: line for line in latest})
            found = faults_of(store_file, [*latest, *told.values()], clusters)
            faults += [f"after kill {number + 1}: {fault}" for fault in found]
            lines, empty = lines + len(latest), empty + (not latest)
        latest = crawl(site, pages, folder, kills, None)
    progress("")
    faults += [f"in the end: {fault}" for fault in _faults_of_last(store_file, latest, pages, clusters)]
    return {"kills": kills, "answers": lines, "kills before the first answer": empty, "faults": faults}


def _faults_of_last(store_file: Path, told: Told, pages: int, clusters: int) -> list[str]:
    faults = faults_of(store_file, told, clusters)
    with closing(SqliteStore(store_file, read_only=True)) as store:
        counts = {
            "pages told in the last crawl": (len({line["url"] for line in told}), pages),
            "pages in the store": (len(store), pages),
            "contents": (store.index_size, clusters),
        }
        if store.runs()[-1].reason != "finished":
            faults.append("the last crawl did not end in order")
    return faults + [
        f"{number} {what}, not {wanted}" for what, (number, wanted) in counts.items() if number != wanted
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, kill, print a table or JSON; 1 if anything is not as it should be."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=300, help="how many (default: 300)")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the site (default: 1000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        found = kill_again_and_again(Path(folder), options.kills, options.pages)
    counts = [name for name in found if name != "faults"]
    return show({**environment(__file__, given), **found}, counts, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
