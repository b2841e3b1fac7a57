"""Write pages without near-duplicates, or all pages with a verdict, or the clusters of near-duplicates."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress

from scrapy_simhash.cli.options import add_inputs, add_json, batch_options, config_for, reading, through
from scrapy_simhash.cli.stores import Place, key_function, place_of
from scrapy_simhash.cli.streams import Refused, counted, open_output, say, wipe
from scrapy_simhash.exceptions import failing
from scrapy_simhash.files.batch import KEEP, Judge, Options, Run
from scrapy_simhash.files.batch.page import MARKS, Fate, Step, report_line
from scrapy_simhash.files.records import open_writer
from scrapy_simhash.names import FIELD_COPIES
from scrapy_simhash.replacement import STDOUT

EXAMPLE = """\
$ scrapy-simhash dedup pages.jsonl > unique.jsonl
records: 3, kept: 2, near-duplicates: 1
"""
#: What is said even if it is 0.
_ALWAYS = ("records", "kept", "near_duplicates")


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages, which of them are kept, and where they go."""
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write the pages that are kept; the ending of the name says the kind: .jsonl, .csv, .parquet or"
        " .warc, compressed with .gz, .zst, .bz2 or .xz (default: JSON Lines on standard output; on a terminal, each"
        " copy with its original instead)",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a report with a line for each page, as SIMHASH_REPORT does in a crawl: for report and tune",
    )
    parser.add_argument(
        "--clusters",
        metavar="FILE",
        help="write the groups of two pages or more that say the same, a JSON object a line; with - they go to"
        " standard output, in the place of the pages",
    )
    parser.add_argument(
        "--against",
        metavar="STORE",
        help="drop also near-duplicates of pages of this store, which stays as it is: an SQLite file, a URL like"
        " redis://host:6379/0?prefix=news, or, in a Scrapy project, the name of a spider",
    )
    parser.add_argument(
        "--keep",
        choices=KEEP,
        default="first",
        help="which page of a cluster is kept: the first, the longest, or the"
        " preferred one, as in --clusters (default: first)",
    )
    parser.add_argument(
        "--mark", action="store_true", help="write all pages, with the verdict in fields of their own"
    )
    parser.add_argument(
        "--copies",
        action="store_true",
        help=f"write with each page that is kept how many it represents, itself included, in a field {FIELD_COPIES}",
    )
    parser.add_argument(
        "--protect", action="store_true", help="keep pages that SIMHASH_PROTECT protects in a crawl"
    )
    parser.add_argument(
        "--two-pass",
        action="store_true",
        help="learn what sites repeat from all pages before the first one is judged; takes twice as long",
    )
    add_json(parser, "write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Judge all pages, write those that are kept, and show the counts; return 0, FAILED if a file was truncated."""
    if options.output is None and options.clusters != STDOUT:
        options.output = STDOUT
    if options.mark and options.output is None:
        raise Refused("--mark needs --output where --clusters takes standard output")
    place = place_of(options.against, options) if options.against is not None else None
    if place is not None:
        place.check()
    what = batch_options(
        options,
        config_for(options, place),
        keep=options.keep,
        protect=options.protect,
        two_pass=options.two_pass,
        with_clusters=options.clusters is not None,
        with_copies=options.copies,
    )
    with (
        reading(options, *([place.identity] if place else [])) as (inputs, broken),
        _judge(place, what, options) as judge,
    ):
        batch = Run(inputs, what, judge=judge, tell=inputs.tell)
        with ExitStack() as stack:
            write = stack.enter_context(_writing(options))
            report = stack.enter_context(open_output(options.report)) if options.report else None
            for step in through(batch, inputs, broken):
                write(step)
                if report is not None:
                    report.write([f"{json.dumps(report_line(step))}\n"])
            if options.clusters is not None:
                with open_output(options.clusters) as output:
                    output.write(json.dumps(found._asdict()) + "\n" for found in batch.clusters())
    wipe()
    facts = {**batch.counts.facts, "passed_over": inputs.records.passed_over.total()}
    say(counted(facts, _ALWAYS, options.json), sys.stderr)
    return broken.status


@contextmanager
def _judge(place: Place | None, what: Options, options: Namespace) -> Iterator[Judge | None]:
    """Open the store to compare with, if there is one, and yield who does."""
    if place is None:
        yield None
        return
    key = key_function(place, options)

    def key_of(url: str) -> bytes | None:
        with suppress(Refused):
            return key(url)
        # No URL for Scrapy: no crawl has seen it.
        return None

    with place.reading() as store:
        yield Judge(what.config, against=store.as_store(), key_of=key_of)


@contextmanager
def _writing(options: Namespace) -> Iterator[Callable[[Step], None]]:
    """Open the output, and yield what writes a record to it, if that belongs there."""
    if options.output == STDOUT and sys.stdout is not None and sys.stdout.isatty():
        yield _show_copy
        return
    marks = {**(MARKS if options.mark else {}), **({FIELD_COPIES: int} if options.copies else {})}
    writing = nullcontext() if options.output is None else open_writer(options.output, marks or None)
    with writing as writer:

        def write(step: Step) -> None:
            is_kept = step.fate is Fate.KEPT
            if writer is None or step.page is None or not (options.mark or is_kept):
                return
            fields = dict(step.outcome.fields) if options.mark else {}
            if options.copies:
                fields[FIELD_COPIES] = step.copies if is_kept else None
            writer.write(step.page, fields or None)

        yield write
        wipe()


def _show_copy(step: Step) -> None:
    """Show a dropped page and its original on a terminal, in the place of the pages."""
    if step.fate is Fate.KEPT or step.page is None or step.verdict is None:
        return
    wipe()
    original = step.verdict.duplicate_of or step.page.url
    with failing("write standard output"):
        say(f"{step.page.url} -> {original}", sys.stdout)
