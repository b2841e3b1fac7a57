"""Write a store as lines of text: see ``docs/reference/formats.rst``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from scrapy_simhash.cli.postings import header_line, posting_line, site_line, sites_of
from scrapy_simhash.cli.stores import Waited, add_store, left_out, place_of, walk
from scrapy_simhash.cli.streams import Progress, add_output, check_outputs, of, open_output

EXAMPLE = """\
$ scrapy-simhash export news.sqlite
{"format": "scrapy-simhash postings", ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, which part of it, and where to."""
    add_store(parser)
    add_output(parser, "the lines")
    parser.add_argument(
        "--learned", action="store_true", help="write only what was learned about sites, and no pages"
    )
    parser.add_argument(
        "--host", metavar="HOST", help="write only what was learned about this host, and no pages"
    )


def run(options: Namespace) -> int:
    """Write the header, every posting and what was learned, and return 0; FAILED if damaged ones were left out."""
    place = place_of(options.store, options)
    check_outputs(options, [place.identity])
    with Progress() as progress, place.reading() as store, open_output(options.output) as output:
        output.write(lines(store, progress.counting("exporting", of(len(store))), options))
        return left_out(place, store)


def lines(store: Waited, tell: Callable[[int], None], options: Namespace) -> Iterator[str]:
    """Yield the lines of an export; *tell* hears how many postings it were so far."""
    yield header_line(store.header)
    if not options.learned and options.host is None:
        for number, page in enumerate(walk(store), 1):
            yield posting_line(page.posting, page.original, page.rank)
            tell(number)
    for site in sites_of(store):
        if options.host in (None, site.host, f"www.{site.host}"):
            yield site_line(site)
