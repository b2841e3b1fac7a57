"""Show what two pages have in common, where they differ, and the verdict on them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from scrapy_simhash.cli.options import add_settings, blocks_for, config_of, given_settings
from scrapy_simhash.cli.progress import encodable
from scrapy_simhash.cli.streams import STDIN, Failed, Refused, check_outputs, failing, open_input, open_output
from scrapy_simhash.config import setting_name
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.page.text import Document
from scrapy_simhash.view.comparison import URLS, Page, Source, comparison, read
from scrapy_simhash.view.side_by_side import html_lines, lines

#: Seconds without an answer after which a URL is given up.
PATIENCE = 30
#: Columns where the output is no terminal.
COLUMNS = 80


def read_page(name: str) -> Source:
    """Return the page that *name* means: a URL that begins with http, a file, or standard input for ``-``.

    Raises Failed if it cannot be had.
    """
    if name.startswith(URLS):
        return _fetched(name)
    with open_input(name) as given, failing(f"read {given.source}"):
        return Source(given.name, given.stream.read())


def _fetched(url: str) -> Source:
    # Only here, as it takes longer to import than a file takes to read.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"User-Agent": "scrapy-simhash"}), timeout=PATIENCE) as response:
            headers = response.headers
            return Source(url, response.read(), headers["Content-Type"], headers["Content-Language"])
    # Of these HTTPException alone is no OSError: an answer that is no HTTP.
    except (OSError, HTTPException, ValueError) as error:
        raise Failed(f"cannot fetch {url}: {error}") from error


def add_compare(parser: ArgumentParser) -> None:
    """Add which pages, by which settings, and what is written."""
    for name, which in (("a", "first"), ("b", "second")):
        parser.add_argument(
            name,
            metavar="PAGE",
            help=f"the {which} page: an HTML file, or a URL, which is fetched (-: standard input)",
        )
    parser.add_argument(
        "--store",
        metavar="PLACE",
        help="look URLs up in this store instead of fetching them, and compare by its settings",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="read files as pages of this host, with what the store knows of its site, and show the site's text",
    )
    add_settings(parser, "the default settings; in a Scrapy project, its settings")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page of HTML to a file instead (-: standard output)"
    )
    parser.add_argument("--json", action="store_true", help="write a JSON object")


def run_compare(options: Namespace) -> int:
    """Compare two pages, and return 0 whatever the verdict."""
    if options.a == options.b == STDIN:
        raise Refused("only one of the pages can be standard input")
    if options.host is not None and options.store is None:
        raise Refused("--host needs the store that knows the host: --store PLACE")
    check_outputs({"html": options.html}, [options.a, options.b, options.store])
    facts = _of_store(options) if options.store is not None else _of_sources(options)
    if options.html is not None:
        with open_output(options.html) as output:
            output.write(html_lines(facts))
        return 0
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((COLUMNS, 24)).columns if is_terminal else COLUMNS
    text = lines(facts, max(width, 20), is_terminal and "NO_COLOR" not in os.environ)
    print(encodable("\n".join(line.rstrip() for line in text), sys.stdout))
    return 0


def _of_sources(options: Namespace) -> dict[str, Any]:
    if options.project is not None:
        config = options.project.config
    else:
        given = given_settings(options)
        # No index is made: any distance will do, without the blocks that a crawl needs for it.
        name = setting_name("max_distance")
        distance = given.get(name, "")
        config = config_of(given, blocks_for({name: int(distance)}) if distance.isdecimal() else {})
    fingerprinter = PageFingerprinter(config)
    a, b = (read(read_page(name), fingerprinter) for name in (options.a, options.b))
    return comparison(a, b, fingerprinter)


def _of_store(options: Namespace) -> dict[str, Any]:
    # Only here: stores and what they need take as long to import as the rest.
    from scrapy_simhash.cli.places import key_function, place_of
    from scrapy_simhash.cli.profile import keeper, load

    place = place_of(options.store, options)
    host = (options.host or "").lower()
    with place.reading() as store:
        # In a project --set is an option of all commands.
        given = {} if options.project is not None else given_settings(options)
        settings = store.header.settings
        fingerprinter = PageFingerprinter(config_of(given, {**settings, **blocks_for(settings)}))
        site = load(keeper(store, place), host, place) if host else None

        def page(name: str) -> Page:
            if not name.startswith(URLS):
                return read(read_page(name), fingerprinter, host, site)
            found = store.get(key_function(place, options)(name))
            if found is None:
                raise Failed(f"{place.shown} has no page {name!r}")
            posting = found.posting
            reading = Reading(None if posting.is_short else posting.fingerprint, posting.text_hash)
            return Page(name, Document("", None, (), ()), reading, [], Counter(), is_stored=True)

        return comparison(page(options.a), page(options.b), fingerprinter)
