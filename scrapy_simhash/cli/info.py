"""Show a store: its size, settings, runs and largest clusters; or check its records."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.postings import sites_of
from scrapy_simhash.cli.stores import Place, Waited, add_store, left_out, place_of, walk
from scrapy_simhash.cli.streams import FAILED, Progress, of, show
from scrapy_simhash.times import written

EXAMPLE = """\
$ scrapy-simhash info news.sqlite
news.sqlite (sqlite, ... bytes)
pages             3
fingerprints      2
clusters          1
near-duplicates   1
...
"""
#: Max clusters that are shown, largest first, and max runs, latest first.
SHOWN_CLUSTERS, SHOWN_RUNS = 5, 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add the store."""
    add_store(parser)
    parser.add_argument(
        "--check",
        action="store_true",
        help="read all records and show which are damaged; the exit status is 1 if any is",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Show a store, or which of its records are damaged; return 0, or FAILED if any is."""
    place = place_of(options.store, options)
    with Progress() as progress, place.reading() as store:
        doing = progress.counting("checking" if options.check else "counting", of(len(store)))
        if options.check:
            facts = check(place, store, doing)
            status = FAILED if facts["damaged"] else 0
        else:
            facts = survey(place, store, doing)
            status = left_out(place, store)
    show(facts, (_lines_of_check if options.check else _lines)(facts), options.json)
    return status


def check(place: Place, store: Waited, tell: Callable[[int], None]) -> dict[str, Any]:
    """Return the damaged records of *store*, for JSON; *tell* is called with the number of pages read so far."""
    damaged: list[str] = store.audit(tell)
    for _ in sites_of(store, damaged.append):
        pass
    return {"place": place.shown, "kind": place.kind, "pages": len(store), "damaged": damaged}


def _lines_of_check(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['place']} ({facts['kind']})"
    yield f"pages             {facts['pages']:,}"
    yield f"damaged records   {len(facts['damaged']):,}"
    yield from (f"  {record}" for record in facts["damaged"])


def survey(place: Place, store: Waited, tell: Callable[[int], None]) -> dict[str, Any]:
    """Return facts about *store*, for JSON. O(pages); *tell* is called with the number of pages so far.

    Takes about 200 bytes of memory per cluster.
    """
    copies: Counter[int] = Counter()
    originals: dict[int, str] = {}
    first = last = None
    for number, page in enumerate(walk(store), 1):
        seen = page.posting.seen
        first = seen if first is None else min(first, seen)
        last = seen if last is None else max(last, seen)
        if page.original is not None:
            copies[page.cluster] += 1
            originals[page.cluster] = page.original
        tell(number)
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
        "first_seen": None if first is None else written(first),
        "last_seen": None if last is None else written(last),
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
        # One process at a time can write to a file, so only the last run can be running.
        running = runs[-1:] if facts["kind"] == "sqlite" else runs
        for run in runs[-SHOWN_RUNS:]:
            yield f"  {run['number']}  {run['started']} {_end(run, run in running)}"


def _end(run: dict[str, Any], may_go_on: bool) -> str:
    if run["ended"] is not None:
        return f"to {run['ended']}: {run['reason']}"
    return "has not ended: it goes on, or was killed" if may_go_on else "was killed"
