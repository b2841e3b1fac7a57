"""Remove a page, or all pages of a host, from a store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.stores import STORES, key_function, place_of
from scrapy_simhash.cli.streams import Refused, add_options, show
from scrapy_simhash.scope import host_of


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the store and the pages."""
    parser.add_argument("store", metavar="STORE", help=f"the store: {STORES}")
    parser.add_argument("url", metavar="URL", nargs="?", help="the page to remove")
    dry_run = "count the pages, and remove nothing"
    add_options(parser, {"--host HOST": "remove all pages of this host", "--dry-run": dry_run})
    add_json(parser, "write the number of pages as a JSON object")


def run(options: Namespace) -> int:
    """Remove pages, or count the pages that would be removed; show their number, and return 0."""
    if (options.url is None) == (options.host is None):
        raise Refused("remove needs a URL or --host HOST, but not both")
    place = place_of(options.store, options)
    key = None if options.url is None else key_function(place, options)(options.url)
    host = options.host and options.host.lower()
    with place.reading() as store:
        header = store.header
        if options.dry_run and key is not None:
            pages = int(store.get(key) is not None)
        elif options.dry_run:
            pages = sum(host_of(posting.url) == host for posting in store)
    if not options.dry_run:
        with place.claiming(header, "remove") as store:
            pages = store.remove_host(host) if key is None else int(store.remove(key))
    shown = "pages that would be removed" if options.dry_run else "pages removed"
    show({"pages": pages, "is_removed": not options.dry_run}, [f"{shown}: {pages:,}"], options.json)
    return 0
