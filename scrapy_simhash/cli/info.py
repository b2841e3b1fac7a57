"""Show the size, settings, runs and largest clusters of a store. All records are read."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.postings import sites_of
from scrapy_simhash.cli.stores import Place, SyncStore, add_store, left_out, place_of, walk
from scrapy_simhash.cli.streams import bar, show
from scrapy_simhash.exceptions import StoreDamaged
from scrapy_simhash.store.sqlite import files
from scrapy_simhash.times import written

#: Max clusters that are shown, largest first, and max runs, latest first.
SHOWN_CLUSTERS, SHOWN_RUNS = 5, 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, and for a check of its file."""
    add_store(parser)
    parser.add_argument("--check", action="store_true", help="also check the structure of an SQLite file")
    add_json(parser)


def run(options: Namespace) -> int:
    """Show a store; return 0, or FAILED if it is damaged."""
    place = place_of(options.store, options)
    if options.check and place.path is not None:
        place.check()
        path = place.path.resolve()
        with files.open_errors(path, "read"), closing(files.connect(path, "ro")) as connection:
            fault = files.first_fault(connection)
        if fault is not None:
            raise StoreDamaged(files.damage(place.shown, fault))
    with place.reading() as store:
        facts = survey(place, store)
        status = left_out(place, store)
    show(facts, _lines(facts), options.json)
    return status


def survey(place: Place, store: SyncStore) -> dict[str, Any]:
    """Return counts, settings and runs of *store*, for JSON. O(pages), about 200 bytes of memory per cluster."""
    copies: Counter[int] = Counter()
    originals: dict[int, str] = {}
    times: list[int] = []
    for page in bar(walk(store), "reading", len(store)):
        seen = page.posting.seen
        times = [min([seen, *times]), max([seen, *times])]
        if page.original is not None:
            copies[page.cluster] += 1
            originals[page.cluster] = page.original
    # The iteration counts damaged records.
    for _ in sites_of(store):
        pass
    largest = sorted(copies.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_CLUSTERS]
    return {
        "place": place.shown,
        "kind": place.kind,
        "bytes": place.size,
        "scheme": store.header.scheme,
        "settings": store.header.settings,
        "pages": len(store),
        "index_size": store.index_size,
        "clusters": len(copies),
        "near_duplicates": copies.total(),
        "largest_clusters": [{"url": originals[cluster], "pages": 1 + count} for cluster, count in largest],
        "first_seen": written(times[0]) if times else None,
        "last_seen": written(times[1]) if times else None,
        "runs": [
            {
                "number": run.number,
                "started": written(run.started),
                "ended": None if run.ended is None else written(run.ended),
                "reason": run.reason,
            }
            for run in store.runs()
        ],
    }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    size = "" if facts["bytes"] is None else f", {facts['bytes']:,} bytes"
    yield f"{facts['place']} ({facts['kind']}{size})"
    yield f"pages             {facts['pages']:,}"
    yield f"fingerprints      {facts['index_size']:,}"
    yield f"clusters          {facts['clusters']:,}"
    yield f"near-duplicates   {facts['near_duplicates']:,}"
    if facts["first_seen"] is not None:
        yield f"seen              {facts['first_seen']} to {facts['last_seen']}"
    yield f"scheme            {facts['scheme']}"
    yield from (f"{name} = {value!r}" for name, value in facts["settings"].items())
    if facts["largest_clusters"]:
        yield "largest clusters"
        for cluster in facts["largest_clusters"]:
            yield f"  {cluster['pages']:,} pages like {ascii(cluster['url'])[1:-1]}"
    if runs := facts["runs"]:
        yield f"runs              {len(runs):,}"
        for run in runs[-SHOWN_RUNS:]:
            end = "has not ended: it is running, or was killed"
            if run["ended"] is not None:
                end = f"to {run['ended']}: {run['reason']}"
            yield f"  {run['number']}  {run['started']} {end}"
