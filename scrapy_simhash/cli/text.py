"""Show the main text of pages as it is compared, and the text that each filter left out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli.compare import add_reading, reader, show_pages
from scrapy_simhash.cli.streams import write_html
from scrapy_simhash.view.main_text import facts_of_text, html_lines, lines

EXAMPLE = """\
$ scrapy-simhash text page.html
page.html
News
25 words, language en
...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the pages, the settings and the output."""
    add_reading(parser, "+", "HTML files, compressed or not, or URLs, which are fetched (-: standard input)")


def run(options: Namespace) -> int:
    """Write the texts of pages, and return 0."""
    with reader(options) as read_page:
        facts = [facts_of_text(read_page(name)) for name in options.pages]
    if not write_html(options, lambda: html_lines(facts)):
        show_pages(facts, lines, options.json)
    return 0
