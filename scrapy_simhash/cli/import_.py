"""Take an export, or pages of any kind of file, into a store."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from scrapy_simhash.cli.failures import failing
from scrapy_simhash.cli.fields import add_fields, fields_of
from scrapy_simhash.cli.input import STDIN, Input, opened
from scrapy_simhash.cli.intake import header_in, taking_in, told
from scrapy_simhash.cli.places import Place, add_place, place_of
from scrapy_simhash.cli.postings import Export, begins_export, blocks_for
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.settings import add_settings, config_of, given_settings
from scrapy_simhash.config import Config

EXAMPLE = """\
$ scrapy-simhash import new.sqlite --input pages.jsonl
records: 3, new: 2, near-duplicates: 1, revisits: 0, short: 0, skipped: 0, broken: 0
"""

DOING = "import"
#: Bytes by which an export is told.
_HEAD = 512


def add_arguments(parser: ArgumentParser) -> None:
    """Add which store, where from, and what the fields of a feed are called."""
    add_place(parser)
    parser.add_argument(
        "-i",
        "--input",
        metavar="INPUT",
        action="append",
        help="an export, or pages: a folder, or a file of HTML, JSON Lines, JSON, CSV, Parquet, WARC, zip or tar,"
        " compressed or not; may be repeated for pages (default: -, standard input)",
    )
    pages = parser.add_argument_group("importing pages instead of an export")
    add_fields(pages)
    add_settings(pages, "the settings of the store, if it exists")
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Claim every posting, or every page, one after another, say what became of them; return 0, FAILED for damage."""
    inputs = options.input or [STDIN]
    place = place_of(options.place, options)
    with (
        Progress(sys.stderr) as progress,
        opened(inputs[0]) if _is_one_stream(inputs) else nullcontext() as given,
    ):
        if given is None:
            facts, status = _take_pages(inputs, place, options, progress)
        elif begins_export(_peeked(given)):
            facts, status = _take_export(given, place, options, progress)
        else:
            # What has come through a pipe does not come again.
            stream = inputs if Path(inputs[0]).is_file() else [given.stream]
            facts, status = _take_pages(stream, place, options, progress)
    print(told(facts, options.json))
    return status


def _is_one_stream(inputs: Sequence[str]) -> bool:
    """Tell whether the input is one file or pipe, as an export is."""
    return len(inputs) == 1 and (
        inputs[0] == STDIN or (Path(inputs[0]).exists() and not Path(inputs[0]).is_dir())
    )


def _peeked(given: Input) -> bytes:
    """Return the first bytes of *given* as far as they are there, and leave them to be read."""
    stream = given.stream
    with failing(f"read {given.source}"):
        return stream.peek(_HEAD) if isinstance(stream, BufferedReader) else b""


def _take_export(
    given: Input, place: Place, options: Namespace, progress: Progress
) -> tuple[dict[str, int], int]:
    export = Export(given)
    header = header_in(place, options, export.header, given.name)
    with taking_in(place, header, DOING) as intake:
        intake.claim_all(export, export.header, progress.counting("importing", given.share))
    export.tell_of_unknown()
    return intake.facts, intake.status


def _take_pages(
    inputs: Sequence[str | BinaryIO], place: Place, options: Namespace, progress: Progress
) -> tuple[dict[str, int], int]:
    # What reads pages takes half a second to import.
    from scrapy_simhash.cli.pages import Pages
    from scrapy_simhash.detector import header_for
    from scrapy_simhash.files.records import read

    config = reading_config(place, options)
    with (
        closing(read(inputs, fields_of(options))) as records,
        taking_in(place, header_for(config), DOING) as intake,
    ):
        pages = Pages(intake, config, options.project and options.project.key_of(place))
        facts = pages.take_all(records, progress.counting("importing", records.share))
    return facts, max(intake.status, pages.broken.status)


def reading_config(place: Place, options: Namespace) -> Config:
    """Return the settings by which pages are read and compared.

    Those of the project; without a project, those that were given, and beside them those of the store.
    """
    if options.project is not None:
        config: Config = options.project.config_for(place)
        return config
    header = place.header()
    held = {} if header is None else {**header.settings, **blocks_for(header.settings)}
    return config_of(given_settings(options), held)
