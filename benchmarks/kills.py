"""Tell whether anything is lost when a crawl is killed (SIGKILL) at random moments, and resumed.

    python benchmarks/kills.py                  # crawls
    python benchmarks/kills.py --store-only     # claims as fast as they go, without Scrapy

A spider crawls all pages of a site on the loopback interface, every fourth of them the same, in an order of its own,
and its callback writes down what it was told about each. ``JOBDIR`` is set, and with it the store is a file. The
process is killed at a random moment, from before the store is opened on, and started again on the same folder,
``--kills`` times. With ``--store-only`` a process claims pages of which many are revisits, and now and then closes
the store and opens it again; checkpoints are made a hundred times as often as else.

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
from collections.abc import Callable, Container, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

# For a run as a file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.report import environment, opening, progress, table
from scrapy_simhash import Fingerprint
from scrapy_simhash.store import Posting
from scrapy_simhash.store.sqlite import SqliteStore, checkpoints
from tests.store.sqlite.stores import assert_sound

#: Pages of a cluster.
COPIES = 4
#: Pages that are claimed without a crawl, and from one closing of the store to the next.
PAGES, CLOSE_EVERY = 400, 150
#: Seconds within which the kill comes, from the moment on at which the process is about to open the store.
STORE_LIFE, CRAWL_LIFE = 0.25, 3.0
#: Seconds after which a process that has not begun never will.
PATIENCE = 60
#: WarnOnce of which a table tells more than the number.
SHOWN = 20

#: What was told, line by line.
Told: TypeAlias = list[dict[str, Any]]
#: Works in a folder until it is killed: first page number, seed, file for what it is told.
Worker: TypeAlias = Callable[[Path, int, int, Path], None]


def claim_on(folder: Path, first: int, seed: int, file: Path) -> None:
    """Claim pages without end; write down each answer. The time of a page is its number in the order of claims."""
    checkpoints.EVERY, checkpoints.LONG = 10, 100
    draw = Random(seed)
    file.touch()
    store = SqliteStore(folder / "store.sqlite")
    with file.open("a", encoding="utf-8") as lines:
        for number in range(first, sys.maxsize):
            if number % CLOSE_EVERY == 0:
                store.close()
                store = SqliteStore(folder / "store.sqlite")
            page = draw.randrange(PAGES)
            # Pages of a cluster say the same, and from time to time all something else.
            cluster = Random(f"{page % (PAGES // COPIES)} {number // 1000}")
            fingerprint = Fingerprint(cluster.getrandbits(64), sketch=cluster.randbytes(128))
            posting = Posting(
                b"%d" % page, f"/{page}", "", fingerprint, False, cluster.getrandbits(64), number
            )
            claim = store.claim(posting)
            told = {
                "url": posting.url,
                "seen": number,
                "value": fingerprint.value,
                "content": claim.content,
                "duplicate_of": claim.original,
            }
            lines.write(json.dumps(told) + "\n")
            lines.flush()


def run(worker: Worker, folder: Path, first: int, seed: int, life: float | None) -> Told:
    """Return what *worker* was told in a process that is killed within *life* seconds; at its end if None."""
    file = folder / f"{seed}.jsonl"
    process = multiprocessing.get_context("spawn").Process(target=worker, args=(folder, first, seed, file))
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


def faults_of(store_file: Path, told: Told, untold: Container[int], clusters: int) -> list[str]:
    """Return what is not as it should be after everything in *told* was told, in words.

    *untold* are the claims that may have been stored just before a kill.
    """
    if not store_file.exists():
        return ["what was told has no file"] if told else []
    try:
        assert_sound(store_file)
    except AssertionError as error:
        return [f"the file is not sound: {error}"]
    with closing(SqliteStore(store_file, read_only=True)) as store:
        kept = {posting.url: posting for posting in store}
    faults = []
    for line in {line["url"]: line for line in told}.values():
        url, posting = line["url"], kept.get(line["url"])
        if posting is None:
            faults.append(f"{url} is lost")
        elif "seen" not in line or posting.seen == line["seen"]:
            if posting.fingerprint.value != line["value"]:
                faults.append(f"{url} has another fingerprint than was told")
        elif posting.seen < line["seen"] or posting.seen not in untold:
            faults.append(f"{url} is there as of {posting.seen}, and not of {line['seen']}")
    for line in told:
        original, url = line["duplicate_of"], line["url"]
        if original == url:
            faults.append(f"{url} was called a duplicate of itself")
        elif original is not None and (_number(original) - _number(url)) % clusters:
            faults.append(f"{url} was called a duplicate of {original}")
        if line.get("status") == "unknown":
            faults.append(f"{url} was not judged")
    return faults


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def kill_again_and_again(
    worker: Worker, folder: Path, store_file: Path, kills: int, life: float, clusters: int
) -> dict[str, Any]:
    """Return what came of *kills* kills."""
    latest: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    untold: set[int] = set()
    lines, empty, first = 0, 0, 0
    for number in range(kills):
        progress(f"kill {number + 1} of {kills}, {lines:,} answers so far, {len(faults)} faults ...")
        told = run(worker, folder, first, number, life)
        end = told[-1].get("seen", 0) + 1 if told else first
        untold.add(end)
        first = end + 1
        latest.update({line["url"]: line for line in told})
        found = faults_of(store_file, [*told, *latest.values()], untold, clusters)
        faults += [f"after kill {number + 1}: {fault}" for fault in found]
        lines, empty = lines + len(told), empty + (not told)
    progress("")
    return {"kills": kills, "answers": lines, "kills before the first answer": empty, "faults": faults}


def crawls(folder: Path, kills: int, pages: int) -> dict[str, Any]:
    """Kill crawls, and let a last one come to its end."""
    # Not for those that are about to claim only, and to be killed soon.
    from benchmarks.lib.prose_site import prose_site
    from benchmarks.lib.witness import crawl_on

    clusters = pages // COPIES
    store_file = folder / "job" / "simhash" / "witness.sqlite"
    with prose_site(clusters) as site:
        worker = partial(crawl_on, site, pages)
        result = kill_again_and_again(worker, folder, store_file, kills, CRAWL_LIFE, clusters)
        told = run(worker, folder, 0, kills, None)
    faults = faults_of(store_file, told, (), clusters)
    with closing(SqliteStore(store_file, read_only=True)) as store:
        counts = {
            "pages told in the last crawl": (len({line["url"] for line in told}), pages),
            "pages in the store": (len(store), pages),
            "contents": (store.index_size, clusters),
        }
        if store.runs()[-1].reason != "finished":
            faults.append("the last crawl did not end in order")
    for what, (number, wanted) in counts.items():
        if number != wanted:
            faults.append(f"{number} {what}, not {wanted}")
    result["faults"] += [f"in the end: {fault}" for fault in faults]
    return result


def as_text(result: dict[str, Any]) -> str:
    """Return *result* as a person reads it."""
    head = [name for name in result if name.startswith(("kills", "answers"))]
    row = [result["of"], *(f"{result[name]:,}" for name in head), str(len(result["faults"]))]
    return "\n".join(
        [
            opening(result),
            "",
            table(["", *head, "faults"], [row]),
            *(f"  {fault}" for fault in result["faults"][:SHOWN]),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, kill, print a table or JSON; 1 if anything is not as it should be."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=300, help="how many (default: 300)")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the site (default: 1000)")
    parser.add_argument("--store-only", action="store_true", help="kill claims without a crawl")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.store_only:
            file = folder / "store.sqlite"
            found = kill_again_and_again(claim_on, folder, file, options.kills, STORE_LIFE, PAGES // COPIES)
        else:
            found = crawls(folder, options.kills, options.pages)
    of = "claims" if options.store_only else "crawls"
    result = {**environment(__file__, given), "of": of, **found}
    print(json.dumps(result, indent=2) if options.json else as_text(result))
    return int(bool(result["faults"]))


if __name__ == "__main__":
    sys.exit(main())
