"""Write the groups of pages that say the same."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from scrapy_simhash.cli.batches import add_inputs, add_reading, config_for, options_of, reading, through
from scrapy_simhash.cli.output import add_output, opened
from scrapy_simhash.files.batch import Run

EXAMPLE = """\
$ scrapy-simhash cluster pages.jsonl
{"cluster": 0, "preferred": "https://example.com/ferry", ...
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which pages, and where the clusters go."""
    add_inputs(parser)
    add_output(parser, "the clusters")
    add_reading(parser)


def run(options: Namespace) -> int:
    """Write every cluster of two pages or more, and return 0; FAILED if a file was not read to its end."""
    what = options_of(options, config_for(options), two_pass=options.two_pass, with_clusters=True)
    with reading(options) as (inputs, broken), opened(options.output) as output:
        batch = Run(inputs, what, tell=inputs.tell)
        for _ in through(batch, inputs, broken):
            pass
        output.write(cluster_lines(batch))
    return broken.status


def cluster_lines(batch: Run) -> Iterator[str]:
    """Yield a line of JSON for each cluster of a run that is through."""
    for found in batch.clusters():
        facts = {"cluster": found.cluster, "preferred": found.preferred, "members": list(found.members)}
        yield json.dumps(facts) + "\n"
