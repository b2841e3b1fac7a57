"""Export a store as JSON Lines, see ``docs/how-to/stored-pages.rst``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli.postings import header_line, posting_line, site_line, sites_of
from scrapy_simhash.cli.stores import add_store, left_out, place_of, unknown_host, walk
from scrapy_simhash.cli.streams import add_options, add_output, bar, check_outputs, open_output, write_lines


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store, the part to export, and the output."""
    add_store(parser)
    add_output(parser, "the lines")
    add_options(
        parser,
        {
            "--learned": "write only the learned data about sites, and no pages",
            "--host HOST": "write only the learned data about this host, and no pages",
            "--json": "write JSON Lines (default)",
        },
    )


def run(options: Namespace) -> int:
    """Write the header, all pages and learned data; return 0, or FAILED if damaged records were left out.

    Raises FileError if nothing was learned about ``--host``.
    """
    place = place_of(options.store, options)
    check_outputs(options, [place.identity])
    with place.reading() as store:
        sites = list(sites_of(store))
        if options.host is not None:
            # URL rules belong to a site without www.
            host = options.host.lower()
            sites = [site for site in sites if host in (site.host, f"www.{site.host}")]
            if not sites:
                raise unknown_host(place, options.host)
        with open_output(options.output) as output:
            write_lines(output, [header_line(store.header)])
            if not options.learned and options.host is None:
                pages = bar(walk(store), "exporting", len(store))
                write_lines(output, (posting_line(page.posting, page.original, page.rank) for page in pages))
            write_lines(output, map(site_line, sites))
        return left_out(place, store)
