"""Show what two pages have in common, where they differ, and the verdict on them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from scrapy_simhash.cli.comparison import comparison, read
from scrapy_simhash.cli.comparison_html import html_lines
from scrapy_simhash.cli.comparison_text import lines
from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.input import STDIN
from scrapy_simhash.cli.output import check_outputs, opened
from scrapy_simhash.cli.page_source import URLS, read_page
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import setting_name
from scrapy_simhash.fingerprinter import PageFingerprinter

EXAMPLE = """\
$ scrapy-simhash compare page.html other.html
near-duplicates: distance 4, similarity 0.96, titles: equal; decided by all
text, which needs 0.8
...
they would not be near-duplicates with SIMHASH_MIN_SIMILARITY = 0.961
...
"""

#: Columns where the output is no terminal.
COLUMNS = 80


def add_arguments(parser: ArgumentParser) -> None:
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


def run(options: Namespace) -> int:
    """Compare two pages, and return 0 whatever the verdict."""
    if options.a == options.b == STDIN:
        raise Refused("only one of the pages can be standard input")
    if options.host is not None and options.store is None:
        raise Refused("--host needs the store that knows the host: --store PLACE")
    check_outputs({"html": options.html}, [options.a, options.b, options.store])
    facts = _of_store(options) if options.store is not None else _of_sources(options)
    if options.html is not None:
        with opened(options.html) as output:
            output.write(html_lines(facts))
        return 0
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((COLUMNS, 24)).columns if is_terminal else COLUMNS
    text = "\n".join(lines(facts, max(width, 20), is_terminal and "NO_COLOR" not in os.environ))
    # Not every sign of a page can be written everywhere.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))
    return 0


def _of_sources(options: Namespace) -> dict[str, Any]:
    if options.project is not None:
        fingerprinter = PageFingerprinter(options.project.config)
    else:
        given = given_settings(options)
        # No index is made: any distance will do, without the blocks that a crawl needs for it.
        name = setting_name("max_distance")
        distance = given.get(name, "")
        held: Mapping[str, Any] = {}
        if distance.isdecimal():
            # Only here: stores and what they need take as long to import as the rest.
            from scrapy_simhash.cli.postings import blocks_for

            held = blocks_for({name: int(distance)})
        fingerprinter = PageFingerprinter(config_of(given, held))
    a, b = (read(read_page(name), fingerprinter) for name in (options.a, options.b))
    return comparison(a, b, fingerprinter)


def _of_store(options: Namespace) -> dict[str, Any]:
    # Only here: Scrapy takes longer to import than two pages to compare.
    from scrapy_simhash.cli.stored_page import stored_pages

    with stored_pages(options) as stored:
        # In a project --set is an option of all commands.
        given = {} if options.project is not None else given_settings(options)
        fingerprinter = PageFingerprinter(config_of(given, stored.settings))
        host = (options.host or "").lower()
        site = stored.site(host) if host else None
        a, b = (
            stored.page(name) if name.startswith(URLS) else read(read_page(name), fingerprinter, host, site)
            for name in (options.a, options.b)
        )
    return comparison(a, b, fingerprinter)
