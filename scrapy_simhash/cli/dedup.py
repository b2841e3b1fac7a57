"""Write pages without those that repeat others."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrapy_simhash.cli.batches import add_inputs, add_reading, config_for, options_of, reading, through
from scrapy_simhash.cli.cluster import cluster_lines
from scrapy_simhash.cli.failures import Refused, failing
from scrapy_simhash.cli.intake import told
from scrapy_simhash.cli.output import STDOUT, opened
from scrapy_simhash.cli.progress import say, warn, wipe
from scrapy_simhash.files.batch import KEEP, Journal, Options, Run
from scrapy_simhash.files.batch.page import MARKS, Fate, Step
from scrapy_simhash.files.records import Record, open_writer
from scrapy_simhash.fingerprinter import SCHEME

EXAMPLE = """\
$ scrapy-simhash dedup pages.jsonl -o unique.jsonl
records: 3, kept: 2, near-duplicates: 1
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages, which of them are kept, and where they go."""
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="where to write the pages, in the form in which they came (-: standard output; default: nowhere, they"
        " are only counted)",
    )
    parser.add_argument("--clusters", metavar="FILE", help="write the clusters to a file, as cluster does")
    parser.add_argument(
        "--keep",
        choices=KEEP,
        default="first",
        help="which of the pages that repeat each other is kept: the first, the longest, or the one that"
        " SIMHASH_PREFER prefers (default: first)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--drop", dest="mark", action="store_false", help="write the pages that are kept (default)"
    )
    which.add_argument(
        "--mark", action="store_true", help="write all pages, with the verdict in fields of their own"
    )
    parser.set_defaults(mark=False)
    parser.add_argument(
        "--protect", action="store_true", help="keep pages that SIMHASH_PROTECT protects in a crawl"
    )
    add_reading(parser)
    parser.add_argument(
        "--restart", action="store_true", help="begin anew, whatever an interrupted run has left"
    )
    parser.add_argument("--json", action="store_true", help="write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Judge all pages, write those that are kept, and say how many; return 0, FAILED if a file was cut."""
    config = config_for(options)
    what = options_of(
        options,
        config,
        keep=options.keep,
        protect=options.protect,
        two_pass=options.two_pass,
        with_clusters=options.clusters is not None,
    )
    if options.mark and options.output is None:
        raise Refused("--mark needs --output")
    with reading(options) as (inputs, broken), _journal(options, what) as journal:
        batch = Run(inputs, what, journal=journal, tell=inputs.tell)
        with ExitStack() as stack:
            write = stack.enter_context(_writing(options))
            for step in through(batch, inputs, broken):
                write(step)
            if options.clusters is not None:
                with opened(options.clusters) as output:
                    output.write(cluster_lines(batch))
        if journal is not None:
            journal.remove()
    wipe()
    facts = {**batch.counts.facts, "passed_over": inputs.passed_over}
    if not options.json:
        facts = {name: number for name, number in facts.items() if number or name in _ALWAYS}
    print(told(facts, options.json), file=sys.stderr if options.output == STDOUT else sys.stdout)
    return broken.status


#: What is told even if it is 0.
_ALWAYS = ("records", "kept", "near_duplicates")


@contextmanager
def _writing(options: Namespace) -> Iterator[Callable[[Step], None]]:
    """Open the output, and yield what writes a record to it, if that is to be there."""
    if options.output is None:
        yield lambda step: None
        return
    with open_writer(options.output, MARKS if options.mark else None) as writer:

        def write(step: Step) -> None:
            if isinstance(step.item, Record) and (options.mark or step.fate is Fate.KEPT):
                writer.write(step.item, step.outcome.fields if options.mark else None)

        yield write


@contextmanager
def _journal(options: Namespace, what: Options) -> Iterator[Journal | None]:
    """Open the journal beside the output, which a run that does not come to its end leaves there."""
    if options.output in (None, STDOUT):
        yield None
        return
    path = Path(f"{options.output.rstrip('/')}.journal")
    with failing(f"write {path}"):
        if options.restart:
            path.unlink(missing_ok=True)
        journal = Journal(path, _facts(options, what))
    if journal.is_resumed and not journal.is_empty:
        warn(f"going on where an interrupted run stopped, by {path}")
    try:
        yield journal
    except BaseException:
        if journal.is_empty:
            journal.remove()
        else:
            wipe()
            say(f"{path} has what was read: the same command goes on from there", sys.stderr)
        raise
    finally:
        journal.close()


def _facts(options: Namespace, what: Options) -> dict[str, Any]:
    """Return all that decides how pages are read: with other values, a journal is of no use."""
    return {
        "scheme": SCHEME,
        "settings": json.dumps(asdict(what.config), sort_keys=True, default=str),
        "inputs": options.inputs,
        "fields": [options.url_field, options.html_field, options.text_field, options.time_field],
        "two_pass": what.two_pass,
        "protect": what.protect,
        "canonical": what.asks_for_canonical,
    }
