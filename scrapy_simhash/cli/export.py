"""Write a store as lines of text that any program reads, and import takes back."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.output import opened
from scrapy_simhash.cli.places import add_place, place_of
from scrapy_simhash.cli.postings import header_line, posting_line
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.walk import walk
from scrapy_simhash.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, and where to."""
    add_place(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="where to write (default: -, standard output)"
    )


def run(options: Namespace) -> int:
    """Write the header and then every posting, a line each, and return 0."""
    place = place_of(options.place, options)
    if place.identity == str(Path(options.output).resolve()):
        raise Refused(f"{place.shown} cannot be replaced by its own export")
    with Progress(sys.stderr) as progress, place.reading() as store, opened(options.output) as output:
        output.write(lines(store, partial(progress.count, "exporting")))
    return 0


def lines(store: Store, tell: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines of an export; *tell* hears how many postings it were so far."""
    yield header_line(store.header)
    for number, step in enumerate(walk(store), 1):
        yield posting_line(step.posting, step.page and step.page.original)
        tell(number)
