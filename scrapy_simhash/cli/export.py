"""Write a store as lines of text that any program reads, and import takes back."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from scrapy_simhash.cli.damage import left_out
from scrapy_simhash.cli.output import add_output, check_outputs, opened
from scrapy_simhash.cli.places import add_place, place_of
from scrapy_simhash.cli.postings import header_line, posting_line
from scrapy_simhash.cli.progress import Progress, of
from scrapy_simhash.cli.site_lines import site_line, sites_of
from scrapy_simhash.cli.walk import walk
from scrapy_simhash.store import Store

EXAMPLE = """\
$ scrapy-simhash export news.sqlite
{"format": "scrapy-simhash postings", ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, and where to."""
    add_place(parser)
    add_output(parser, "the lines")


def run(options: Namespace) -> int:
    """Write the header, every posting and every site profile, and return 0; FAILED if damaged ones were left out."""
    place = place_of(options.place, options)
    check_outputs({"output": options.output}, [place.identity])
    with Progress(sys.stderr) as progress, place.reading() as store, opened(options.output) as output:
        output.write(lines(store, progress.counting("exporting", of(len(store)))))
        status = left_out(place, store)
    return status


def lines(store: Store, tell: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines of an export; *tell* hears how many postings it were so far."""
    yield header_line(store.header)
    for number, step in enumerate(walk(store), 1):
        yield posting_line(step.posting, step.page and step.page.original)
        tell(number)
    yield from map(site_line, sites_of(store))
