"""Find near-duplicates among stored pages, and write the unique pages, all pages with verdicts, or clusters.

Standard output gets one result: the pages with ``-o -``, the clusters with ``--clusters -``, the counts with
``--json``, otherwise the near-duplicates. Pages are written only on request, because they may be megabytes of HTML.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from typing import cast

from scrapy_simhash.cli.options import Inputs, add_inputs, add_json, batch_options, config_for
from scrapy_simhash.cli.stores import STORES, Place, key_function, place_of
from scrapy_simhash.cli.streams import Refused, add_options, counted, open_output, say, show, write_lines
from scrapy_simhash.exceptions import failing
from scrapy_simhash.files.batch import KEEP, Judge, Options, Run
from scrapy_simhash.files.batch.page import MARKS, Selection, Step, report_line
from scrapy_simhash.files.records import open_writer
from scrapy_simhash.files.replacement import STDOUT
from scrapy_simhash.store import Store

OPTIONS = {
    "-o --output FILE": "where to write the pages that are kept; the file extension sets the format: .jsonl, .csv,"
    " .parquet or .warc, compressed with .gz, .zst, .bz2 or .xz (-: JSON Lines on standard output; default: no pages"
    " are written, each near-duplicate is shown with its original)",
    "--report FILE": "write a report, as SIMHASH_REPORT does in a crawl, for the subcommands report and tune",
    "--clusters FILE": "write the clusters of two pages or more, one JSON object per line (-: standard output)",
    "--against STORE": f"also drop near-duplicates of pages in this store, which is not changed: {STORES}",
    "--mark": "write all pages, each with its verdict in simhash_* fields",
    "--protect": "keep pages that SIMHASH_PROTECT protects in a crawl",
    "--two-pass": "learn boilerplate from all pages before the first page is compared; takes twice as long",
}
#: Counts that are shown even if they are 0.
_ALWAYS = ("records", "kept", "near_duplicates")


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the pages, the selection, and the outputs."""
    add_inputs(parser)
    add_options(parser, OPTIONS)
    parser.add_argument(
        "--keep",
        choices=KEEP,
        default="first",
        help="which page of a cluster is kept: the first, the longest, or the preferred one, as in --clusters"
        " (default: first)",
    )
    add_json(parser, "write the counts as a JSON object")


def run(options: Namespace) -> int:
    """Compare all pages, write the outputs, and return 0, or FAILED if a file was not read to the end."""
    if options.output is None and options.mark:
        raise Refused("--mark needs --output: name a file, or - for standard output")
    outputs = (options.output, options.clusters, options.report)
    if options.json and STDOUT in outputs:
        raise Refused("--json writes the counts to standard output: write the other outputs to files")
    place = place_of(options.against, options) if options.against else None
    what = batch_options(
        options,
        config_for(options, place),
        keep=options.keep,
        protect=options.protect,
        two_pass=options.two_pass,
        with_clusters=options.clusters is not None,
    )
    shows = not options.output and not options.clusters and options.report != STDOUT and not options.json
    inputs = Inputs(options, *([place.identity] if place else []))
    with _judge(place, what, options) as judge:
        batch = Run(inputs, what, judge=judge)
        with ExitStack() as stack:
            write = stack.enter_context(_writing(options)) if options.output else None
            report = stack.enter_context(open_output(options.report)) if options.report else None
            for step in inputs.through(batch):
                if write is not None:
                    write(step)
                if report is not None:
                    report.write(f"{json.dumps(report_line(step))}\n".encode("ascii"))
                if shows and step.selection is not Selection.KEPT:
                    _show(step)
            if options.clusters is not None:
                clusters = (json.dumps(found._asdict()) + "\n" for found in batch.clusters())
                write_lines(stack.enter_context(open_output(options.clusters)), clusters)
    counts = {**asdict(batch.counts), "passed_over": inputs.records.passed_over.total()}
    say(counted(counts, _ALWAYS), sys.stderr)
    if options.json:
        show(counts, (), is_json=True)
    return inputs.broken.status


@contextmanager
def _judge(place: Place | None, what: Options, options: Namespace) -> Iterator[Judge | None]:
    """Open the store of ``--against``, and yield a judge that compares pages with it; None without a store."""
    if place is None:
        yield None
        return
    key = key_function(place, options)

    def key_of(url: str) -> bytes | None:
        with suppress(Refused):
            return key(url)
        # Scrapy rejects this URL, so no crawl has stored it.
        return None

    with place.reading() as store:
        yield Judge(what.config, against=cast(Store, store), key_of=key_of)


@contextmanager
def _writing(options: Namespace) -> Iterator[Callable[[Step], None]]:
    """Open the output, and yield a function that writes a record if it is selected."""
    with open_writer(options.output, MARKS if options.mark else None) as writer:

        def write(step: Step) -> None:
            if step.page is not None and (options.mark or step.selection is Selection.KEPT):
                writer.write(step.page, step.outcome.fields if options.mark else None)

        yield write


def _show(step: Step) -> None:
    """Show a dropped page and its original in one line."""
    if step.page is not None and step.verdict is not None:
        with failing("write standard output"):
            say(f"{step.page.url} -> {step.verdict.duplicate_of or step.page.url}", sys.stdout)
