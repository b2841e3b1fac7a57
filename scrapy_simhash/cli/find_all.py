"""Find all pairs of near-duplicates among hashes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from scrapy_simhash.cli import answers
from scrapy_simhash.cli.arguments import add_search_arguments, chosen_plan
from scrapy_simhash.cli.hashes import read_hashes
from scrapy_simhash.cli.output import opened
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.index.pairs import pairs

EXAMPLE = """\
$ scrapy-simhash find-all --distance 3 --input hashes.txt
[5456993838078482869, 5457064206285785525]
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what every search takes; there is nothing else."""
    add_search_arguments(parser)


def run(options: Namespace) -> int:
    """Write every pair of different hashes within the distance, the smaller one first, and return 0."""
    distance = options.distance
    plan = chosen_plan(options.blocks, distance)
    with Progress(sys.stderr) as progress, opened(options.output) as output:
        hashes = read_hashes(options.input, progress, options.hex)
        found = pairs(hashes, distance, plan, progress.share("searching"))
        if options.json:
            triples = (f"[{small}, {large}, {bits}]" for small, large, bits in found)
            facts = {"distance": distance, "hashes": len(hashes)}
            output.write(answers.document(facts, "pairs", triples))
        else:
            output.write(f"[{small}, {large}]\n" for small, large, _ in found)
    return 0
