"""The commands that search files of hashes for pairs, groups and neighbours."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final, Literal

from scrapy_simhash.cli.hashes import read_hashes
from scrapy_simhash.cli.progress import Progress, of
from scrapy_simhash.cli.streams import STDIN, Refused, add_output, open_output
from scrapy_simhash.index import connected, representatives
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.pairs import pairs
from scrapy_simhash.index.plans import BITS, Plan, plans_for

#: What leaves the choice of a plan to the index.
AUTO: Final = "auto"


def add_search_arguments(parser: ArgumentParser, read: str = "the hashes") -> None:
    """Add what every search takes: where it reads what *read* says, where it writes, how far it looks, and how."""
    # The short options are those of simhash-cpp's programs, as are all the long ones that those have.
    parser.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        default="-",
        help=f"{read}, one per line (default: -, standard input)",
    )
    add_output(parser, "the results")
    parser.add_argument(
        "-d",
        "--distance",
        metavar="BITS",
        type=parsed_distance,
        default=3,
        help="maximum Hamming distance in bits, 0 to 64 (default: 3)",
    )
    parser.add_argument(
        "-b",
        "--blocks",
        default=AUTO,
        help="index plan: a number of blocks greater than the distance, the name of a plan, or auto; it changes the "
        "speed, not the results (default: auto)",
    )
    parser.add_argument(
        "--hex", action="store_true", help="read the hashes as hexadecimal, with or without 0x"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document instead of one per line")


def parsed_distance(text: str) -> int:
    """Return the distance in *text*, 0 to 64, or raise ArgumentTypeError.

    >>> parsed_distance("3")
    3
    """
    if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= BITS:
        return int(text)
    raise ArgumentTypeError(f"must be a number of bits from 0 to 64, got {text!r}")


def chosen_plan(blocks: str, distance: int) -> Plan | Literal["auto"]:
    """Return the plan that ``--blocks`` and ``--distance`` ask for; ``auto`` is passed on.

    Raises Refused if there is none.

    >>> chosen_plan("4", 3) == chosen_plan("4x16", 3), chosen_plan("auto", 3)
    (True, 'auto')
    >>> chosen_plan("3", 3)
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.streams.Refused: --blocks must be greater than --distance (3) and at most 64, got 3
    """
    if blocks == AUTO:
        return AUTO
    if blocks.isascii() and blocks.isdigit() and len(blocks) < 4:
        number = int(blocks)
        if not distance < number <= BITS:
            raise Refused(
                f"--blocks must be greater than --distance ({distance}) and at most {BITS}, got {number}"
            )
        try:
            return Plan.classic(distance, number)
        except ValueError as error:
            raise Refused(f"--blocks {number} is too large: {error}") from None
    plans = plans_for(distance)
    if blocks not in plans:
        known = ", ".join(plans)
        raise Refused(
            f"--blocks must be auto, a number, or one of the plans for a distance of {distance} "
            f"({known}), got {blocks!r}"
        )
    return plans[blocks]


def document(facts: Mapping[str, int], name: str, values: Iterable[str]) -> Iterator[str]:
    """Yield one JSON object in pieces: *facts*, and under *name* the array of *values*, one a line.

    >>> print("".join(document({"distance": 3}, "pairs", ["[1, 2]", "[3, 4]"])), end="")
    {"distance": 3, "pairs": [
    [1, 2],
    [3, 4]
    ]}
    """
    yield json.dumps({**facts, name: []}).removesuffix("]}")
    separator = "\n"
    for value in values:
        yield separator + value
        separator = ",\n"
    yield "\n]}\n"


def _written(options: Namespace, facts: Mapping[str, int], name: str, values: Iterable[str]) -> Iterator[str]:
    """Return what a search writes: *values* as a document, or a line each. Integers stand there to the last digit."""
    if options.json:
        return document({"distance": options.distance, **facts}, name, values)
    return (f"{value}\n" for value in values)


def add_find_all(parser: ArgumentParser) -> None:
    """Add what every search takes; there is nothing else."""
    add_search_arguments(parser)


def run_find_all(options: Namespace) -> int:
    """Write every pair of different hashes within the distance, the smaller one first, and return 0."""
    plan = chosen_plan(options.blocks, options.distance)
    with Progress(sys.stderr) as progress, open_output(options.output) as output:
        hashes = read_hashes(options.input, progress, options.hex)
        found = pairs(hashes, options.distance, plan, progress.share("searching"))
        if options.json:
            values = (f"[{small}, {large}, {bits}]" for small, large, bits in found)
        else:
            values = (f"[{small}, {large}]" for small, large, _ in found)
        output.write(_written(options, {"hashes": len(hashes)}, "pairs", values))
    return 0


def add_find_clusters(parser: ArgumentParser) -> None:
    """Add which groups are meant to what every search takes."""
    add_search_arguments(parser)
    parser.add_argument(
        "--representatives",
        action="store_true",
        help="groups around the hash that comes first, whose members are all near that one; "
        "without it, whatever a chain of near ones connects is a group",
    )


def run_find_clusters(options: Namespace) -> int:
    """Write every group of two different hashes or more, and return 0."""
    distance = options.distance
    plan = chosen_plan(options.blocks, distance)
    with Progress(sys.stderr) as progress, open_output(options.output) as output:
        hashes = read_hashes(options.input, progress, options.hex)
        tell = progress.share("searching")
        if options.representatives:
            groups = represented(hashes, representatives(hashes, distance, plan, tell))
        else:
            groups = connected(pairs(hashes, distance, plan, tell))
        output.write(_written(options, {"hashes": len(hashes)}, "clusters", map(str, groups)))
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


#: So few queries are answered by a look at every stored hash: 60 nanoseconds each, where an index takes 500 to build.
FEW = 8
#: Hashes that the index takes, or answers, in one call.
BATCH = 1 << 16

#: A hash that was asked for, and what was found: [hash, distance], nearest first, then smallest.
Answer = tuple[int, list[list[int]]]


def add_find(parser: ArgumentParser) -> None:
    """Add the stored set to what every search takes."""
    parser.add_argument(
        "--stored", metavar="FILE", required=True, help="file with the hashes to search in, one per line"
    )
    add_search_arguments(parser, "the hashes to look for")


def run_find(options: Namespace) -> int:
    """Write for each hash of the input, in its order, the stored hashes within the distance, and return 0."""
    if options.stored == options.input == STDIN:
        raise Refused("--stored and --input cannot both be standard input")
    distance = options.distance
    plan = chosen_plan(options.blocks, distance)
    with Progress(sys.stderr) as progress, open_output(options.output) as output:
        stored = read_hashes(options.stored, progress, options.hex)
        queries = read_hashes(options.input, progress, options.hex)
        if plan == AUTO and len(queries) <= FEW:
            found = _by_scan(queries, stored, distance, progress)
        else:
            found = _by_index(queries, stored, distance, plan, progress)
        facts = {"stored": len(stored), "queries": len(queries)}
        values = (f'{{"query": {query}, "matches": {matches}}}' for query, matches in found)
        output.write(_written(options, facts, "answers", values))
    return 0


def _by_scan(queries: array[int], stored: array[int], distance: int, progress: Progress) -> Iterator[Answer]:
    tell = progress.counting("answering", of(len(queries)))
    for number, query in enumerate(queries):
        tell(number)
        near = {value for value in stored if (value ^ query).bit_count() <= distance}
        nearest_first = sorted(((value ^ query).bit_count(), value) for value in near)
        yield query, [[value, bits] for bits, value in nearest_first]


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
        yield query, [[match.value, match.distance] for match in matches]
