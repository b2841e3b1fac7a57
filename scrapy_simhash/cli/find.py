"""Find the near-duplicates of hashes in a stored set."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from array import array
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from scrapy_simhash.cli import answers
from scrapy_simhash.cli.arguments import AUTO, add_search_arguments, chosen_plan
from scrapy_simhash.cli.failures import Refused
from scrapy_simhash.cli.hashes import read_hashes
from scrapy_simhash.cli.input import STDIN
from scrapy_simhash.cli.output import opened
from scrapy_simhash.cli.progress import Progress, of
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.plans import Plan

EXAMPLE = """\
$ scrapy-simhash find --stored hashes.txt --input queries.txt
{"query": 5456993838078482868, "matches": [[5456993838078482869, 1]]}
"""


#: So few queries are answered by a look at every stored hash: 60 nanoseconds each, where an index takes 500 to build.
FEW = 8
#: Hashes that the index takes, or answers, in one call.
BATCH = 1 << 16

#: A hash that was asked for, and what was found: (hash, distance), nearest first, then smallest.
Answer = tuple[int, list[tuple[int, int]]]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the stored set to what every search takes."""
    parser.add_argument(
        "--stored", metavar="FILE", required=True, help="file with the hashes to search in, one per line"
    )
    add_search_arguments(parser, "the hashes to look for")


def run(options: Namespace) -> int:
    """Write for each hash of the input, in its order, the stored hashes within the distance, and return 0."""
    if options.stored == options.input == STDIN:
        raise Refused("--stored and --input cannot both be standard input")
    distance = options.distance
    plan = chosen_plan(options.blocks, distance)
    with Progress(sys.stderr) as progress, opened(options.output) as output:
        stored = read_hashes(options.stored, progress, options.hex)
        queries = read_hashes(options.input, progress, options.hex)
        if plan == AUTO and len(queries) <= FEW:
            found = _by_scan(queries, stored, distance, progress)
        else:
            found = _by_index(queries, stored, distance, plan, progress)
        objects = map(_object, found)
        if options.json:
            facts = {"distance": distance, "stored": len(stored), "queries": len(queries)}
            output.write(answers.document(facts, "answers", objects))
        else:
            output.write(f"{line}\n" for line in objects)
    return 0


def _by_scan(queries: array[int], stored: array[int], distance: int, progress: Progress) -> Iterator[Answer]:
    tell = progress.counting("answering", of(len(queries)))
    for number, query in enumerate(queries):
        tell(number)
        near = {value for value in stored if (value ^ query).bit_count() <= distance}
        nearest_first = sorted(((value ^ query).bit_count(), value) for value in near)
        yield query, [(value, bits) for bits, value in nearest_first]


def _by_index(
    queries: array[int], stored: array[int], distance: int, plan: Plan | Literal["auto"], progress: Progress
) -> Iterator[Answer]:
    # The keys number the hashes in rising order, so that of equally near ones the smallest comes first.
    distinct = array("Q", (value for value, _ in groupby(sorted(stored))))
    index = SimhashIndex(distance, AUTO, len(distinct)) if plan == AUTO else SimhashIndex.from_plan(plan)
    tell = progress.counting("storing", of(len(distinct)))
    for start in range(0, len(distinct), BATCH):
        tell(start)
        index.add_many(distinct[start : start + BATCH])
    tell = progress.counting("answering", of(len(queries)))
    for number, (query, matches) in enumerate(zip(queries, index.find_many(queries), strict=True)):
        if not number % BATCH:
            tell(number)
        yield query, [(match.value, match.distance) for match in matches]


def _object(answer: Answer) -> str:
    query, matches = answer
    return f'{{"query": {query}, "matches": [{", ".join(f"[{value}, {bits}]" for value, bits in matches)}]}}'
