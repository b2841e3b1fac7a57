"""Find groups of near-duplicates among hashes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from array import array
from collections.abc import Iterable

from scrapy_simhash.cli import answers
from scrapy_simhash.cli.arguments import add_search_arguments, chosen_plan
from scrapy_simhash.cli.hashes import read_hashes
from scrapy_simhash.cli.output import opened
from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.index.index import representatives
from scrapy_simhash.index.pairs import connected, pairs

EXAMPLE = """\
$ scrapy-simhash find-clusters --distance 3 --input hashes.txt
[5456993838078482869, 5457064206285785525]
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add which groups are meant to what every search takes."""
    add_search_arguments(parser)
    parser.add_argument(
        "--representatives",
        action="store_true",
        help="groups around the hash that comes first, whose members are all near that one; "
        "without it, whatever a chain of near ones connects is a group",
    )


def run(options: Namespace) -> int:
    """Write every group of two different hashes or more, and return 0."""
    distance = options.distance
    plan = chosen_plan(options.blocks, distance)
    with Progress(sys.stderr) as progress, opened(options.output) as output:
        hashes = read_hashes(options.input, progress, options.hex)
        tell = progress.share("searching")
        if options.representatives:
            groups = represented(hashes, representatives(hashes, distance, plan, tell))
        else:
            groups = connected(pairs(hashes, distance, plan, tell))
        arrays = map(answers.array_of, groups)
        if options.json:
            facts = {"distance": distance, "hashes": len(hashes)}
            output.write(answers.document(facts, "clusters", arrays))
        else:
            output.write(f"{line}\n" for line in arrays)
    return 0


def represented(hashes: array[int], places: Iterable[int]) -> list[list[int]]:
    """Return the groups of two different *hashes* or more, from the place of each one's representative.

    The representative comes first, then the others in their order; the groups are in the order of the first.

    >>> represented(array("Q", [5, 90, 7, 5, 91]), [0, 1, 0, 0, 1])
    [[5, 7], [90, 91]]
    """
    groups: dict[int, dict[int, None]] = {}
    for value, place in zip(hashes, places, strict=True):
        if value != hashes[place]:
            groups.setdefault(place, {hashes[place]: None})[value] = None
    return [list(groups[place]) for place in sorted(groups)]
