"""Show what two pages have in common, where they differ, and the verdict on them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy_simhash.cli.options import (
    add_html,
    add_json,
    add_settings,
    config_of,
    given_settings,
)
from scrapy_simhash.cli.streams import (
    COLUMNS,
    STDIN,
    Refused,
    check_outputs,
    encodable,
    open_input,
    write_html,
)
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.fingerprinter import PageFingerprinter, Reading
from scrapy_simhash.page.text import Document
from scrapy_simhash.view.comparison import URLS, Page, Source, comparison, read
from scrapy_simhash.view.side_by_side import html_lines, lines

if TYPE_CHECKING:
    from scrapy_simhash.config import Config
    from scrapy_simhash.page.site import SiteProfile
    from scrapy_simhash.store import Posting

#: What returns the posting of a URL, None where none is to be looked for.
Stored: TypeAlias = "Callable[[str], Posting | None]"
EXAMPLE = """\
$ scrapy-simhash compare page.html other.html
near-duplicates: distance 4, similarity 0.96, titles: equal; decided by all
text, which needs 0.8
...
they would not be near-duplicates with SIMHASH_MIN_SIMILARITY = 0.961
...
"""
#: How a file of SQLite begins.
SQLITE = b"SQLite format 3\0"
#: Seconds without an answer after which a URL is given up.
PATIENCE = 30


def read_page(name: str) -> Source:
    """Return the page that *name* means: a URL that begins with http, a file, or standard input for ``-``.

    Raises FileError if it cannot be had.
    """
    if name.startswith(URLS):
        return _fetched(name)
    with open_input(name) as given, failing(f"read {given.source}"):
        html = given.stream.read()
    if html.startswith(SQLITE):
        raise FileError(f"{name} is a store, not a page: look pages up in it with --store {name} URL")
    return Source(given.name, html)


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
        raise FileError(f"cannot fetch {url}: {error}") from error


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages, by which settings, and what is written."""
    parser.add_argument(
        "pages",
        metavar="PAGE",
        nargs=2,
        help="two pages: HTML files, or URLs, which are fetched (-: standard input)",
    )
    parser.add_argument(
        "--store",
        metavar="STORE",
        help="look URLs up in this store instead of fetching them, and compare by its settings",
    )
    add_host(parser)
    add_settings(parser)
    add_html(parser)
    add_json(parser)


def add_host(parser: ArgumentParser) -> None:
    """Add whose pages the files are."""
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="read files as pages of this host, with what the store knows of its site, and show the site's text",
    )


def run(options: Namespace) -> int:
    """Compare two pages, and return 0 whatever the verdict."""
    if options.pages == [STDIN, STDIN]:
        raise Refused("only one of the pages can be standard input")
    check_outputs(options, [*options.pages, options.store])
    with reader(options) as read_page:
        one, other = map(read_page, options.pages)
        facts = comparison(one, other, read_page.fingerprinter)
    if not write_html(options, lambda: html_lines(facts)):
        show_pages(facts, lines, options.json)
    return 0


def show_pages(facts: Any, lines: Callable[[Any, int, bool], Iterable[str]], is_json: bool) -> None:
    """Write *facts* to standard output as JSON, or as *lines* of so many columns, with colours or without."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((COLUMNS, 24)).columns if is_terminal else COLUMNS
    text = lines(facts, max(width, 20), is_terminal and "NO_COLOR" not in os.environ)
    shown = json.dumps(facts, indent=2) if is_json else "\n".join(line.rstrip() for line in text)
    with failing("write standard output"):
        print(encodable(shown, sys.stdout))


class PageReader:
    """Reads pages by their names, as pages of *host* if something is known about its *site*."""

    def __init__(
        self,
        config: Config,
        host: str = "",
        site: SiteProfile | None = None,
        stored: Stored = lambda url: None,
    ) -> None:
        """*stored* returns the page of a URL in a store, None where there is no store to look it up."""
        self.fingerprinter = PageFingerprinter(config)
        self._host, self._site, self._stored = host, site, stored

    def __call__(self, name: str) -> Page:
        """Return the page that *name* means: see `read_page`. Raises FileError if it cannot be had."""
        posting = self._stored(name) if name.startswith(URLS) else None
        if posting is None:
            return read(read_page(name), self.fingerprinter, self._host, self._site)
        reading = Reading(None if posting.is_short else posting.fingerprint, posting.page_hash)
        return Page(name, Document("", None, (), ()), reading, {}, Counter(), is_stored=True)


@contextmanager
def reader(options: Namespace) -> Iterator[PageReader]:
    """Yield what reads pages, by the settings that hold and what the store of ``--store`` knows, if there is one."""
    if options.host is not None and options.store is None:
        raise Refused("--host needs the store that knows the host: --store STORE")
    # In a project --set is an option of all verbs.
    given = {} if options.project is not None else given_settings(options)
    if options.store is None:
        yield PageReader(options.project.config if options.project is not None else config_of(given, {}))
        return
    # Only here: stores and what they need take as long to import as the rest.
    from scrapy_simhash.cli.learned import keeper, load
    from scrapy_simhash.cli.stores import key_function, place_of

    place = place_of(options.store, options)
    host = (options.host or "").lower()
    with place.reading() as store:

        def stored(url: str) -> Posting:
            found = store.get(key_function(place, options)(url))
            if found is None:
                raise FileError(f"{place.shown} has no page {url!r}")
            posting: Posting = found.posting
            return posting

        config = config_of(given, store.header.settings)
        yield PageReader(config, host, load(keeper(store, place), host, place) if host else None, stored)
