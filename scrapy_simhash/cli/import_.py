"""Take an export, or the pages of a feed, into a store."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import closing
from itertools import chain, islice

from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.feeds import FORMATS, format_of, records
from scrapy_simhash.cli.input import Input, opened
from scrapy_simhash.cli.intake import header_in, taking_in, told
from scrapy_simhash.cli.places import Place, add_place, place_of
from scrapy_simhash.cli.postings import Export, blocks_for
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import Config

EXAMPLE = """\
$ scrapy-simhash import new.sqlite --input pages.jsonl --html-field html
records: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0, skipped: 0
"""

DOING = "import"


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, where from, and what the fields of a feed are called."""
    add_place(parser)
    parser.add_argument(
        "-i", "--input", metavar="FILE", default="-", help="an export or a feed (default: -, standard input)"
    )
    feed = parser.add_argument_group("importing the pages of a feed instead of an export")
    page = feed.add_mutually_exclusive_group()
    page.add_argument("--html-field", metavar="NAME", help="name of the field with the HTML of a page")
    page.add_argument(
        "--text-field", metavar="NAME", help="name of the field with the text of a page, if there is no HTML"
    )
    feed.add_argument("--url-field", metavar="NAME", help="name of the field with the URL (default: url)")
    feed.add_argument(
        "--time-field",
        metavar="NAME",
        help="name of the field with the time of the fetch (default: use the current time)",
    )
    feed.add_argument(
        "--format",
        choices=FORMATS,
        help="format of the feed (default: from the file name extension, else jsonlines)",
    )
    add_settings(feed, "the settings of the store, if it exists")
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Claim every posting, or every page, one after another, say what became of them; return 0, FAILED for damage."""
    is_feed = bool(options.html_field or options.text_field)
    for name in ("url_field", "time_field", "format"):
        if getattr(options, name) and not is_feed:
            raise Refused(f"--{name.replace('_', '-')} needs --html-field or --text-field")
    take = _take_feed if is_feed else _take_export
    place = place_of(options.place, options)
    with Progress(sys.stderr) as progress, opened(options.input) as given:
        facts, status = take(given, place, options, progress.counting("importing", given.share))
    print(told(facts, options.json))
    return status


def _take_export(
    given: Input, place: Place, options: Namespace, tell: Callable[[int], None]
) -> tuple[dict[str, int], int]:
    export = Export(given)
    header = header_in(place, options, export.header, given.name)
    with taking_in(place, header, DOING) as intake:
        intake.claim_all(export, export.header, tell)
    export.tell_of_unknown()
    return intake.facts, intake.status


def _take_feed(
    given: Input, place: Place, options: Namespace, tell: Callable[[int], None]
) -> tuple[dict[str, int], int]:
    # What reads pages takes half a second to import.
    from scrapy_simhash.cli.pages import Fields, Pages
    from scrapy_simhash.detector import header_for

    fields = Fields(
        options.url_field or "url",
        options.html_field or options.text_field,
        options.html_field is None,
        options.time_field,
    )
    config = reading_config(place, options)
    with closing(records(given, options.format or format_of(options.input))) as feed:
        # The first one before the store is opened, so that the wrong file begins no run in it.
        first = list(islice(feed, 1))
        with taking_in(place, header_for(config), DOING) as intake:
            pages = Pages(intake, config, fields, options.project and options.project.key_of(place))
            read = pages.take_all(chain(first, feed), tell)
    return {"records": read, **vars(intake.counts), "skipped": pages.skipped}, intake.status


def reading_config(place: Place, options: Namespace) -> Config:
    """Return the settings by which pages of a feed are read and compared.

    Those of the project; without a project, those that were given, and beside them those of the store.
    """
    if options.project is not None:
        config: Config = options.project.config_for(place)
        return config
    header = place.header()
    held = {} if header is None else {**header.settings, **blocks_for(header.settings)}
    return config_of(given_settings(options), held)
