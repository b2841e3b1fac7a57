"""Show the main text of pages, and the text that each filter left out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli.compare import add_reading, reading, show_pages
from scrapy_simhash.cli.options import write_html
from scrapy_simhash.view.comparison import facts_of
from scrapy_simhash.view.texts import text_html, text_lines


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the pages, the settings and the output."""
    add_reading(parser, "+", "HTML files, compressed or not, or URLs, which are fetched (-: standard input)")


def run(options: Namespace) -> int:
    """Write the texts of pages, and return 0."""
    with reading(options) as (_, pages):
        facts = list(map(facts_of, pages))
    if options.html is not None:
        return write_html(options, text_html(facts))
    return show_pages(facts, text_lines, options.json)
