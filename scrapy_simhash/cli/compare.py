"""Show the verdict on two pages, their differences and their common text."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from scrapy_simhash.cli.kinds import HEAD, HTML, kind_of_head, refusal
from scrapy_simhash.cli.options import (
    add_html,
    add_json,
    add_settings,
    config_for,
    config_of,
    given_settings,
    write_html,
)
from scrapy_simhash.cli.streams import Refused, add_options, check_outputs, check_stdin, name_of, open_input
from scrapy_simhash.exceptions import FileError, failing
from scrapy_simhash.fingerprinter import PageFingerprinter
from scrapy_simhash.page.site import SiteProfile
from scrapy_simhash.scope import host_of
from scrapy_simhash.view.comparison import URLS, Page, Source, comparison, read
from scrapy_simhash.view.texts import comparison_html, comparison_lines

#: Seconds to wait for a response.
TIMEOUT = 30


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for two pages, the settings to read them, and the output."""
    add_reading(parser, 2, "two pages: HTML files, or URLs, which are fetched (-: standard input)")


def add_reading(parser: ArgumentParser, number: int | str, pages: str) -> None:
    """Add arguments for *pages*, the settings to read them, and the output."""
    parser.add_argument("pages", metavar="PAGE", nargs=number, help=pages)
    add_options(
        parser,
        {
            "--store STORE": "read pages with the settings and the learned data of this store",
            "--host HOST": "the host of pages that are files (needs --store)",
        },
    )
    add_settings(parser)
    add_html(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Show the comparison of two pages; return 0, regardless of the verdict."""
    with reading(options) as (fingerprinter, (one, other)):
        facts = comparison(one, other, fingerprinter)
    if options.html is not None:
        return write_html(options, comparison_html(facts))
    return show_pages(facts, comparison_lines, options.json)


def show_pages(facts: Any, lines: Callable[[Any, bool], Iterable[str]], is_json: bool) -> int:
    """Write *facts* to standard output as JSON, or their *lines*, with or without colours; return 0."""
    has_colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    with failing("write standard output"):
        print(json.dumps(facts, indent=2) if is_json else "\n".join(lines(facts, has_colours)))
    return 0


@contextmanager
def reading(options: Namespace) -> Iterator[tuple[PageFingerprinter, list[Page]]]:
    """Yield the fingerprinter and the pages, read with the settings and boilerplate models of ``--store`` if given.

    Raises FileError if a page cannot be read, and Refused if it is not an HTML page.
    """
    check_stdin(*options.pages)
    check_outputs(options, [*options.pages, options.store])
    if options.store is None:
        if options.host is not None:
            raise Refused("--host needs a store with learned data: add --store STORE")
        fingerprinter = PageFingerprinter(config_for(options))
        yield fingerprinter, [read(source_of(name), fingerprinter) for name in options.pages]
        return
    # Imported here, because stores take as long to import as all other modules.
    from scrapy_simhash.cli.learned import load
    from scrapy_simhash.cli.stores import place_of, unknown_host

    place = place_of(options.store, options)
    with place.reading() as store:
        fingerprinter = PageFingerprinter(config_of(given_settings(options), store.header.settings))

        def page(name: str) -> Page:
            host = host_of(name) if name.startswith(URLS) else (options.host or "").lower()
            site: SiteProfile | None = load(store, host, place) if host else None
            if site is None and options.host is not None and not name.startswith(URLS):
                raise unknown_host(place, host)
            return read(source_of(name), fingerprinter, host, site)

        yield fingerprinter, list(map(page, options.pages))


def source_of(name: str) -> Source:
    """Return the content of the page *name*: a URL that begins with http, a file, or standard input for ``-``.

    Raises FileError if it cannot be read, and Refused if it is not an HTML page.
    """
    if name.startswith(URLS):
        return _fetched(name)
    # Imported here, because readers of page files are slow to import.
    from scrapy_simhash.files.records.reading import is_html

    with open_input(name) as stream:
        html = stream.read()
    kind = kind_of_head(html[:HEAD])
    if kind not in (HTML, None) or not is_html(html[:HEAD], is_named=True):
        raise refusal(name, kind, HTML)
    return Source(name_of(name), html)


def _fetched(url: str) -> Source:
    # Imported here, because importing it takes longer than reading a file.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(url, headers={"User-Agent": "scrapy-simhash"}), timeout=TIMEOUT) as response:
            headers = response.headers
            return Source(url, response.read(), headers["Content-Type"], headers["Content-Language"])
    # HTTPException, for an invalid HTTP response, is not an OSError.
    except (OSError, HTTPException, ValueError) as error:
        raise FileError(f"cannot fetch {url}: {error}") from error
