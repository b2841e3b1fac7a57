"""Show the main text of pages as it is compared, with what was left out and by which filter."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from scrapy_simhash.cli.compare import add_host, reader, show_pages
from scrapy_simhash.cli.options import add_html, add_json, add_settings
from scrapy_simhash.cli.streams import STDIN, Refused, check_outputs, write_html
from scrapy_simhash.exceptions import FileError
from scrapy_simhash.view.main_text import facts_of_text, html_lines, lines

EXAMPLE = """\
$ scrapy-simhash text page.html
page.html
News
25 words, language en
...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages, by which settings, and what is written."""
    parser.add_argument(
        "pages",
        metavar="PAGE",
        nargs="+",
        help="HTML files, or URLs, which are fetched (-: standard input)",
    )
    parser.add_argument("--store", metavar="STORE", help="the store that knows the site of --host")
    add_host(parser)
    add_settings(parser)
    add_html(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the texts of pages, and return 0."""
    if options.pages.count(STDIN) > 1:
        raise Refused("standard input can be read once only")
    check_outputs(options, [*options.pages, options.store])
    facts: list[dict[str, Any]] = []
    with reader(options) as read_page:
        for name in options.pages:
            page = read_page(name)
            if page.is_stored:
                raise FileError(f"the store has no text of {name}: leave out --store to fetch it")
            facts.append(facts_of_text(page))
    if not write_html(options, lambda: html_lines(facts)):
        show_pages(facts, lines, options.json)
    return 0
