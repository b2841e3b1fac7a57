"""Write the fingerprints of pages, one per line."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli.options import Inputs, add_inputs, add_json, batch_options, config_for
from scrapy_simhash.cli.streams import add_options, add_output, open_output, write_lines
from scrapy_simhash.files.batch import Run, Step
from scrapy_simhash.fingerprinter import Reading


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the pages, and the format of a line."""
    add_inputs(parser)
    add_output(parser, "the fingerprints")
    form = parser.add_mutually_exclusive_group()
    add_options(form, {"--hashes": "write only the hash of each page that has one, as find reads it"})
    add_json(form, "write one JSON object per line (default)")


def run(options: Namespace) -> int:
    """Write a line for each page; return 0, or FAILED if a file was not read to the end."""
    what = batch_options(options, config_for(options))
    inputs = Inputs(options)
    with open_output(options.output) as output:
        steps = inputs.through(Run(inputs, what, only_reads=True))
        write_lines(output, map(_hash if options.hashes else _line, steps))
    return inputs.broken.status


def _line(step: Step) -> str:
    reading = _reading(step)
    fingerprint = reading.fingerprint
    facts = {
        "url": step.page and step.page.url,
        "fingerprint": fingerprint and fingerprint.hex,
        "page_hash": None if reading.page_hash is None else f"{reading.page_hash:016x}",
        "sketch": fingerprint.sketch.hex() if fingerprint is not None and fingerprint.sketch else None,
    }
    return json.dumps(facts) + "\n"


def _hash(step: Step) -> str:
    fingerprint = _reading(step).fingerprint
    return "" if fingerprint is None else f"0x{fingerprint.hex}\n"


def _reading(step: Step) -> Reading:
    """Return the reading of a page; an empty reading for an unreadable page."""
    return (step.read and step.read.reading) or Reading(None, None)
