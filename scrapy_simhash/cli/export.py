"""Write a store as lines of text that any program reads, and import takes back."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial

from scrapy_simhash.cli.failures import FAILED, Refused
from scrapy_simhash.cli.output import opened
from scrapy_simhash.cli.places import Place, add_place, place_of
from scrapy_simhash.cli.postings import header_line, posting_line
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.site_lines import site_line, sites_of
from scrapy_simhash.cli.walk import walk
from scrapy_simhash.store import Store
from scrapy_simhash.store.damage import Damage

EXAMPLE = """\
$ scrapy-simhash export news.sqlite
{"format": "scrapy-simhash postings", ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, and where to."""
    add_place(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="where to write (default: -, standard output)"
    )


def run(options: Namespace) -> int:
    """Write the header, every posting and every site profile, and return 0; FAILED if damaged ones were left out."""
    place = place_of(options.place, options)
    if place.identity == os.path.realpath(options.output):
        raise Refused(f"{place.shown} cannot be replaced by its own export")
    with Progress(sys.stderr) as progress, place.reading() as store, opened(options.output) as output:
        output.write(lines(store, partial(progress.count, "exporting")))
    return FAILED if tell_of_damage(place, store) else 0


def tell_of_damage(place: Place, store: Store) -> bool:
    """Say on standard error how many damaged records of a store were left out, and return whether there are any.

    The store has named the first hundred in the log.
    """
    damage: Damage | None = getattr(store, "damage", None)
    if not damage:
        return False
    print(
        f"warning: {place.shown}: damaged records were left out: {len(damage):,} ({damage.named[0]}"
        f"{', ...' if len(damage) > 1 else ''}); scrapy-simhash info --check names them",
        file=sys.stderr,
    )
    return True


def lines(store: Store, tell: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines of an export; *tell* hears how many postings it were so far."""
    yield header_line(store.header)
    for number, step in enumerate(walk(store), 1):
        yield posting_line(step.posting, step.page and step.page.original)
        tell(number)
    yield from map(site_line, sites_of(store))
