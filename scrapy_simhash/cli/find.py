"""Find near-duplicates among hashes: all pairs, clusters, or matches in a second file.

A file has one hash per line, decimal or hexadecimal, with all 64 bits.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, compress, groupby, islice
from operator import eq
from typing import BinaryIO

from scrapy_simhash.cli.kinds import HASHES, kind_of_head, refusal
from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.streams import (
    BYTE_ORDER_MARK,
    STDIN,
    Refused,
    add_output,
    bar,
    check_stdin,
    name_of,
    open_input,
    open_output,
    write_lines,
)
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.plans import BITS

#: Bytes per read.
CHUNK = 1 << 18
#: Max characters of a line in a message.
_SHOWN = 40


def add_arguments(parser: ArgumentParser) -> None:
    """Add arguments for the hashes, the kind of result, and the distance."""
    parser.add_argument(
        "inputs",
        metavar="HASHES",
        nargs="*",
        default=[STDIN],
        help="files of hashes, one per line, decimal or like 0xff (default: -, standard input)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--clusters",
        action="store_true",
        help="write clusters instead of pairs: all hashes that a chain of near-duplicates connects",
    )
    what.add_argument(
        "--in",
        dest="stored",
        metavar="FILE",
        help="write for each hash its near-duplicates in this file, with their distances, instead of pairs",
    )
    add_output(parser, "the results")
    parser.add_argument(
        "-d",
        "--distance",
        metavar="BITS",
        type=int,
        default=3,
        help="max Hamming distance in bits, 0 to 64 (default: 3)",
    )
    add_json(parser, "write one JSON object instead of one JSON value per line")


def run(options: Namespace) -> int:
    """Write the results, and return 0."""
    check_stdin(*options.inputs, options.stored)
    distance = options.distance
    if distance not in range(BITS + 1):
        raise Refused(f"--distance must be a number of bits from 0 to {BITS}, got {distance}")
    with open_output(options.output) as output:
        stored = [] if options.stored is None else read_hashes([options.stored])
        hashes = read_hashes(options.inputs)
        values: Iterable[object]
        if options.stored is not None:
            name, values = "answers", bar(_answers(hashes, stored, distance), "searching", len(hashes))
        else:
            repeats = _repeats(hashes)
            equal = ((value, value, 0) for value in repeats)
            found = bar(chain(equal, pairs(hashes, distance)), "searching")
            if options.clusters:
                name, values = "clusters", (_whole(cluster, repeats) for cluster in connected(found))
            else:
                # Pairs are written without their distance, as in simhash-cpp.
                length = 3 if options.json else 2
                name, values = "pairs", (list(pair[:length]) for pair in found)
        if options.json:
            facts = {"distance": distance, "hashes": len(hashes), name: list(values)}
            write_lines(output, [json.dumps(facts), "\n"])
        else:
            write_lines(output, (f"{json.dumps(value)}\n" for value in values))
    return 0


def _whole(cluster: Iterable[int], repeats: Counter[int]) -> list[int]:
    """Return the hashes of *cluster*, repeated as often as they occur."""
    return [value for value in cluster for _ in range(1 + repeats[value])]


def _repeats(hashes: array[int]) -> Counter[int]:
    """Return the number of additional occurrences of repeated hashes. Takes about 40 bytes per repeated hash."""
    ordered = sorted(hashes)
    return Counter(compress(ordered, map(eq, ordered, islice(ordered, 1, None))))


def _answers(queries: array[int], stored: Iterable[int], distance: int) -> Iterator[dict[str, object]]:
    index = SimhashIndex(distance)
    # The key of a hash is its rank in ascending order, so the smallest of equally near hashes comes first.
    index.add_many(array("Q", (value for value, _ in groupby(sorted(stored)))))
    for query, matches in zip(queries, index.find_many(queries), strict=True):
        yield {"query": query, "matches": [[match.value, match.distance] for match in matches]}


def read_hashes(paths: Iterable[str]) -> array[int]:
    """Return the hashes of the files at *paths*, ``-`` for standard input, in order.

    Raises Refused with the number of the first line that is not a hash, and FileError if a file cannot be read.
    """
    values = array("Q")
    for path in paths:
        with open_input(path) as stream:
            values.extend(parse(stream, name_of(path)))
    return values


def parse(stream: BinaryIO, name: str) -> array[int]:
    r"""Return the hashes in the lines of *stream*, which messages call *name*. O(bytes).

    A line is a decimal number from 0 to 2**64 - 1, or ``0x`` and hexadecimal digits. Blank lines, and spaces around a
    number, are ignored.

    >>> from io import BytesIO
    >>> parse(BytesIO(b"18446744073709551615\n\n0xff\n"), "example").tolist()
    [18446744073709551615, 255]
    >>> parse(BytesIO(b"1\n2.5\n"), "example")
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.streams.Refused: example:2: '2.5' is not a decimal or hexadecimal number of 64 bits
    """
    values, number = array("Q"), 0
    while lines := stream.readlines(CHUNK):
        if number == 0:
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        held = len(values)
        try:
            # This takes a quarter of the time of _one_by_one().
            values.extend(map(int, lines))
        except (OverflowError, ValueError):
            del values[held:]
            values.extend(_one_by_one(lines, number, name))
        number += len(lines)
    return values


def _one_by_one(lines: Iterable[bytes], before: int, name: str) -> Iterator[int]:
    for number, line in enumerate(lines, before + 1):
        digits = line.strip()
        if not digits:
            continue
        try:
            value = int(digits, 16 if digits[:2].lower() == b"0x" else 10)
        except ValueError:
            value = -1
        if not 0 <= value < 1 << 64:
            kind = kind_of_head(line)
            if number == 1 and kind not in (HASHES, None):
                raise refusal(name, kind, HASHES)
            shown = digits[:_SHOWN].decode("utf-8", "replace")
            raise Refused(f"{name}:{number}: {shown!r} is not a decimal or hexadecimal number of 64 bits")
        yield value
