"""Show what two pages have in common, where they differ, and the verdict on them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from scrapy_simhash.cli.kinds import HEAD, HTML, kind_of_head, refusal
from scrapy_simhash.cli.options import add_html, add_json, add_settings, config_for, config_of, given_settings
from scrapy_simhash.cli.streams import (
    COLUMNS,
    Refused,
    check_outputs,
    check_stdin,
    encodable,
    open_input,
    write_html,
)
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.view.comparison import URLS, Page, Source, comparison, read
from scrapy_simhash.view.side_by_side import html_lines, lines

EXAMPLE = """\
$ scrapy-simhash compare page.html other.html
near-duplicates: distance 4, similarity 0.96, titles: equal; decided by all
text, which needs 0.8
they would not be near-duplicates with SIMHASH_MIN_SIMILARITY = 0.961
...
"""
#: Seconds to wait for a response.
PATIENCE = 30


def add_arguments(parser: ArgumentParser) -> None:
    """Add two pages, and how they are read and shown."""
    add_reading(parser, 2, "two pages: HTML files, or URLs, which are fetched (-: standard input)")


def add_reading(parser: ArgumentParser, number: int | str, pages: str) -> None:
    """Add arguments for *pages*, the settings to read them, and the output."""
    parser.add_argument("pages", metavar="PAGE", nargs=number, help=pages)
    parser.add_argument(
        "--store",
        metavar="STORE",
        help="read pages with the settings of this store, and with what it has learned about their hosts",
    )
    parser.add_argument("--host", metavar="HOST", help="the host of pages from files, for --store")
    add_settings(parser)
    add_html(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Compare two pages, and return 0 whatever the verdict."""
    with reader(options) as read_page:
        one, other = map(read_page, options.pages)
        facts = comparison(one, other, read_page.fingerprinter)
    if not write_html(options, lambda: html_lines(facts)):
        show_pages(facts, lines, options.json)
    return 0


def show_pages(facts: Any, lines: Callable[[Any, int, bool], Iterable[str]], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or as *lines*, which take the width and whether to use colours."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((COLUMNS, 24)).columns if is_terminal else COLUMNS
    text = lines(facts, max(width, 20), is_terminal and "NO_COLOR" not in os.environ)
    shown = json.dumps(facts, indent=2) if is_json else "\n".join(line.rstrip() for line in text)
    with failing("write standard output"):
        print(encodable(shown, sys.stdout))


class PageReader:
    """Reads pages by their names: URLs, files, or ``-`` for standard input."""

    def __init__(
        self, fingerprinter: PageFingerprinter, host: str, site_of: Callable[[str], SiteProfile | None]
    ) -> None:
        """*host* is the host of files. *site_of* returns the boilerplate model of a host."""
        self.fingerprinter = fingerprinter
        self._host = host
        self._site_of = site_of

    def __call__(self, name: str) -> Page:
        """Return the page *name*. Raises FileError if it cannot be read, Refused if it is no HTML page."""
        host = host_of(name) if name.startswith(URLS) else self._host
        return read(source_of(name), self.fingerprinter, host, self._site_of(host) if host else None)


@contextmanager
def reader(options: Namespace) -> Iterator[PageReader]:
    """Yield the reader of pages, with the settings and the boilerplate models of the store of ``--store``."""
    check_stdin(*options.pages)
    check_outputs(options, [*options.pages, options.store])
    if options.store is None:
        if options.host is not None:
            raise Refused("--host needs the store that has learned about it: give --store STORE")
        yield PageReader(PageFingerprinter(config_for(options)), "", lambda host: None)
        return
    # Imported here, since stores take as long to import as everything else.
    from scrapy_simhash.cli.learned import load, profile_of
    from scrapy_simhash.cli.stores import place_of

    place = place_of(options.store, options)
    host = (options.host or "").lower()
    with place.reading() as store:
        config = config_of(given_settings(options), store.header.settings)
        if host:
            # An unknown host in the URL of a page is no error.
            load(store, host, place)
        yield PageReader(PageFingerprinter(config), host, lambda host: profile_of(store, host, place))


def source_of(name: str) -> Source:
    """Return the content of the page *name*: a URL that begins with http, a file, or standard input for ``-``.

    Raises FileError if it cannot be read, Refused if it is no HTML page.
    """
    if name.startswith(URLS):
        return _fetched(name)
    # Imported here, since readers of page files are slow to import.
    from scrapy_simhash.files.records.reading import is_html

    with open_input(name) as given, failing(f"read {given.source}"):
        html = given.stream.read()
    kind = kind_of_head(html[:HEAD])
    if kind not in (HTML, None) or not is_html(html[:HEAD], is_named=True):
        raise refusal(name, kind, HTML)
    return Source(given.name, html)


def _fetched(url: str) -> Source:
    # Imported here, since importing it takes longer than reading a file.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"User-Agent": "scrapy-simhash"}), timeout=PATIENCE) as response:
            headers = response.headers
            return Source(url, response.read(), headers["Content-Type"], headers["Content-Language"])
    # HTTPException, for an invalid HTTP response, is no OSError.
    except (OSError, HTTPException, ValueError) as error:
        raise FileError(f"cannot fetch {url}: {error}") from error
