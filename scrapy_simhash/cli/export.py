"""Write a store as lines of text: see ``docs/how-to/stored-pages.rst``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from scrapy_simhash.cli.postings import header_line, posting_line, site_line, sites_of
from scrapy_simhash.cli.stores import Waited, add_store, left_out, place_of, walk
from scrapy_simhash.cli.streams import Progress, add_output, check_outputs, of, open_output
from scrapy_simhash.exceptions import FileError

EXAMPLE = """\
$ scrapy-simhash export news.sqlite
{"format": "scrapy-simhash postings", ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, the part of it, and the output."""
    add_store(parser)
    add_output(parser, "the lines")
    parser.add_argument(
        "--learned", action="store_true", help="write only what was learned about sites, and no pages"
    )
    parser.add_argument(
        "--host", metavar="HOST", help="write only what was learned about this host, and no pages"
    )
    parser.add_argument("--json", action="store_true", help="write JSON, a line each (default)")


def run(options: Namespace) -> int:
    """Write the header, all pages and learned data, and return 0; FAILED if damaged records were left out.

    Raises FileError if nothing was learned about ``--host``.
    """
    place = place_of(options.store, options)
    check_outputs(options, [place.identity])
    with Progress() as progress, place.reading() as store:
        sites = [site_line(site) for site in sites_of(store) if _is_wanted(site.host, options.host)]
        if options.host is not None and not sites:
            raise FileError(
                f"{place.shown} has learned nothing about {options.host}: scrapy-simhash learned lists all hosts"
            )
        with open_output(options.output) as output:
            output.write([header_line(store.header)])
            if not options.learned and options.host is None:
                output.write(_pages(store, progress.counting("exporting", of(len(store)))))
            output.write(sites)
        return left_out(place, store)


def _is_wanted(host: str, wanted: str | None) -> bool:
    """Return whether a *host* is the *wanted* one, or the site whose URL rules apply to it."""
    return wanted is None or wanted.lower() in (host, f"www.{host}")


def _pages(store: Waited, tell: Callable[[int], None]) -> Iterator[str]:
    for number, page in enumerate(walk(store), 1):
        yield posting_line(page.posting, page.original, page.rank)
        tell(number)
