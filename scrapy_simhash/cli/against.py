"""Compare pages with those that a store knows, and store nothing."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from scrapy_simhash.cli.batches import add_inputs, options_of, reading, through
from scrapy_simhash.cli.import_ import reading_config
from scrapy_simhash.cli.output import add_output, opened
from scrapy_simhash.cli.places import Place, place_of
from scrapy_simhash.cli.settings import add_settings
from scrapy_simhash.files.batch import Judge, Run, Step
from scrapy_simhash.names import FIELD_KEPT

EXAMPLE = """\
$ scrapy-simhash against news.sqlite pages.jsonl
{"url": "https://example.com/ferry", "simhash_status": ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, and which pages."""
    parser.add_argument(
        "place",
        metavar="STORE",
        help="the store: an SQLite file, a URL like redis://host:6379/0#prefix, or, in a Scrapy project, the name of"
        " a spider",
    )
    add_inputs(parser)
    add_output(parser, "the verdicts")
    add_settings(parser, "the settings of the store")


def run(options: Namespace) -> int:
    """Write a verdict for each page, and return 0; FAILED if a file was not read to its end."""
    place = place_of(options.place, options)
    place.check()
    config = reading_config(place, options)
    what = options_of(options, config)
    with (
        reading(options, place.identity) as (inputs, broken),
        place.reading() as store,
        opened(options.output) as output,
    ):
        judge = Judge(config, store, remembers=False, key_of=_key_of(place, options))
        batch = Run(inputs, what, judge=judge, tell=inputs.tell)
        output.write(map(_line, through(batch, inputs, broken)))
    return broken.status


def _line(step: Step) -> str:
    outcome = step.outcome
    fields = {
        name: value for name, value in outcome.fields.items() if value is not None and name != FIELD_KEPT
    }
    return json.dumps({"url": outcome.record.url, **fields}) + "\n"


def _key_of(place: Place, options: Namespace) -> Callable[[str], bytes | None]:
    """Return what says by which key a crawl knows the page of a URL."""
    # Scrapy takes longer to import than all else here.
    from scrapy import Request
    from scrapy.utils.request import fingerprint

    key_of = options.project.key_of(place) if options.project is not None else fingerprint

    def key(url: str) -> bytes | None:
        try:
            found: bytes = key_of(Request(url))
        except ValueError:  # no URL for Scrapy: no crawl has seen it
            return None
        return found

    return key
