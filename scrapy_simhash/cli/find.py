"""Find near-duplicates among hashes: all pairs, clusters, or for each hash those in another file.

Hashes are lines of text, decimal or hexadecimal, exact to the last of 64 bits. Ten million lines are no rarity, so
that they are read a chunk at a time. A chunk of nothing but digits and line ends, as nearly all are, goes through in
a few passes in C::

    chunk   -->  only digits and line ends?  -->  split, int, into the array        0.18 microseconds a line
                         |
                         no, or one is too great for 64 bits
                         +------------------->  line by line, with its number       1 microsecond a line

The second way decides, and knows which line is wrong; the first takes nothing that the second would refuse.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, repeat
from typing import BinaryIO, Final, Literal, TypeAlias

from scrapy_simhash.cli.options import add_json
from scrapy_simhash.cli.streams import (
    BYTE_ORDER_MARK,
    STDIN,
    Progress,
    Refused,
    add_output,
    of,
    open_input,
    open_output,
)
from scrapy_simhash.exceptions import failing
from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.pairs import connected, pairs
from scrapy_simhash.index.plans import BITS, classic

EXAMPLE = """\
$ scrapy-simhash find hashes.txt
[5456993838078482869, 5457064206285785525]
"""
#: Leaves the choice of blocks to the index.
AUTO: Final = "auto"
Blocks: TypeAlias = int | Literal["auto"]
#: So few hashes are answered by a look at every other one: 60 nanoseconds each, where an index takes 500 to build.
FEW = 8
#: Hashes that are stored, or searched for, between two reports of the progress.
BATCH = 1 << 16
#: A hash that was looked for, and what was found: [hash, distance], nearest first, then smallest.
Answer = tuple[int, list[list[int]]]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the hashes, what is found, how far it looks, and how."""
    parser.add_argument(
        "inputs",
        metavar="HASHES",
        nargs="*",
        default=[STDIN],
        help="files of hashes, one a line, decimal or like 0xff (default: -, standard input)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--pairs", action="store_true", help="write each pair of near-duplicates (default)")
    what.add_argument(
        "--clusters",
        action="store_true",
        help="write groups instead: whatever a chain of near-duplicates connects",
    )
    what.add_argument(
        "--representatives",
        action="store_true",
        help="write groups around the hash that comes first instead, whose members are all near that one",
    )
    what.add_argument(
        "--in",
        dest="stored",
        metavar="FILE",
        help="write for each hash the near-duplicates in this file, with their distances, instead",
    )
    # The short options are those of simhash-cpp's programs.
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
        help="a number of blocks greater than the distance, or auto: it changes the speed, not the results"
        " (default: auto)",
    )
    parser.add_argument(
        "--hex", action="store_true", help="read the hashes as hexadecimal, with or without 0x"
    )
    add_json(parser, "write one JSON document instead of one JSON value a line")


def run(options: Namespace) -> int:
    """Write what is found, and return 0. Integers stand there to the last digit."""
    if [*options.inputs, options.stored].count(STDIN) > 1:
        raise Refused("standard input can be read once only")
    distance, blocks = options.distance, chosen_blocks(options.blocks, options.distance)
    with Progress() as progress, open_output(options.output) as output:
        stored = None if options.stored is None else read_hashes(options.stored, progress, options.hex)
        hashes = array("Q")
        for name in options.inputs:
            hashes.extend(read_hashes(name, progress, options.hex))
        facts = {"distance": distance, "hashes": len(hashes)}
        values: Iterable[object]
        if stored is not None:
            facts, name = {"distance": distance, "stored": len(stored), "queries": len(hashes)}, "answers"
            if blocks == AUTO and len(hashes) <= FEW:
                found = _by_scan(hashes, stored, distance, progress)
            else:
                found = _by_index(hashes, stored, distance, blocks, progress)
            values = (f'{{"query": {query}, "matches": {matches}}}' for query, matches in found)
        elif options.representatives:
            name, values = "clusters", represented(hashes, distance, blocks, progress)
        else:
            found_pairs = pairs(hashes, distance, blocks, progress.share("searching"))
            if options.clusters:
                name, values = "clusters", connected(found_pairs)
            else:
                length = 3 if options.json else 2
                name, values = "pairs", (list(pair[:length]) for pair in found_pairs)
        lines = map(str, values)
        output.write(document(facts, name, lines) if options.json else (f"{line}\n" for line in lines))
    return 0


def parsed_distance(text: str) -> int:
    """Return the distance in *text*, 0 to 64, or raise ArgumentTypeError.

    >>> parsed_distance("3")
    3
    """
    if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= BITS:
        return int(text)
    raise ArgumentTypeError(f"must be a number of bits from 0 to 64, got {text!r}")


def chosen_blocks(blocks: str, distance: int) -> Blocks:
    """Return the number of blocks in ``--blocks``, or ``auto``.

    Raises Refused if there is no index with so many for the distance.

    >>> chosen_blocks("4", 3), chosen_blocks("auto", 3)
    (4, 'auto')
    >>> chosen_blocks("3", 3)
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.streams.Refused: --blocks must be auto, or a number above --distance (3) up to 64, got '3'
    """
    if blocks == AUTO:
        return AUTO
    number = int(blocks) if blocks.isascii() and blocks.isdigit() and len(blocks) < 4 else 0
    if not distance < number <= BITS:
        raise Refused(
            f"--blocks must be auto, or a number above --distance ({distance}) up to {BITS}, got {blocks!r}"
        )
    try:
        classic(distance, number)
    except ValueError as error:
        raise Refused(f"--blocks {number} is too large: {error}") from None
    return number


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


def represented(hashes: array[int], distance: int, blocks: Blocks, progress: Progress) -> list[list[int]]:
    """Return the groups of two different *hashes* or more around the hash of each that comes first.

    A hash joins the nearest one within *distance* that began a group before it, of equally near ones the earliest;
    any other begins a group. That one comes first, then the others in their order; groups are in the order of the
    first. Members of such a group are near the first one, where those that ``connected`` returns may be far apart.

    >>> represented(array("Q", [0b0000111, 0b1111111, 0b0000001, 0b0000111]), 3, AUTO, Progress())
    [[7, 1]]
    """
    index, tell = SimhashIndex(distance, blocks), progress.counting("searching", of(len(hashes)))
    groups: dict[int, dict[int, None]] = {}
    for place, value in enumerate(hashes):
        if not place % BATCH:
            tell(place)
        if (matches := index.find_or_add(value, place)) and value != matches[0].value:
            groups.setdefault(matches[0].key, {matches[0].value: None})[value] = None
    return [list(groups[place]) for place in sorted(groups)]


def _by_scan(queries: array[int], stored: array[int], distance: int, progress: Progress) -> Iterator[Answer]:
    tell = progress.counting("answering", of(len(queries)))
    for number, query in enumerate(queries):
        tell(number)
        near = {value for value in stored if (value ^ query).bit_count() <= distance}
        nearest_first = sorted(((value ^ query).bit_count(), value) for value in near)
        yield query, [[value, bits] for bits, value in nearest_first]


def _by_index(
    queries: array[int], stored: array[int], distance: int, blocks: Blocks, progress: Progress
) -> Iterator[Answer]:
    # The keys number the hashes in rising order, so that of equally near ones the smallest comes first.
    distinct = array("Q", (value for value, _ in groupby(sorted(stored))))
    index = SimhashIndex(distance, blocks)
    tell = progress.counting("storing", of(len(distinct)))
    for start in range(0, len(distinct), BATCH):
        tell(start)
        index.add_many(distinct[start : start + BATCH])
    tell = progress.counting("answering", of(len(queries)))
    for number, (query, matches) in enumerate(zip(queries, index.find_many(queries), strict=True)):
        if not number % BATCH:
            tell(number)
        yield query, [[match.value, match.distance] for match in matches]


#: Bytes read at once. Larger ones are no faster, and their lines no longer fit the cache.
CHUNK = 1 << 18

_MOST = 2**64 - 1
#: Decimal and hexadecimal digits of the greatest hash; zeros before it are not counted.
_MOST_DIGITS = {10: 20, 16: 16}
#: What a message shows of a line.
_SHOWN = 40

_DECIMAL_CHUNK = b"0123456789\n"
_HEX_CHUNK = b"0123456789abcdefABCDEFxX\n"
_LINE = re.compile(rb"[ \t]*(?:0[xX](?P<hex>[0-9a-fA-F]+)|(?P<decimal>[0-9]+)|)[ \t]*\r?")
_HEX_LINE = re.compile(rb"[ \t]*(?:(?:0[xX])?(?P<hex>[0-9a-fA-F]+)|(?P<decimal>(?!)))?[ \t]*\r?")


def read_hashes(path: str, progress: Progress, is_hex: bool = False) -> array[int]:
    """Return the hashes of the file at *path*, or of standard input for ``-``, in their order.

    A line is a decimal number from 0 to 2**64 - 1, or ``0x`` and hexadecimal digits; with *is_hex*, the digits are
    hexadecimal in either case. Blank lines, spaces and tabs around a number, and Windows line ends are passed over.
    *progress* shows how many there are.

    Raises Refused for the first line that is something else, with its number, FileError if it cannot be read.
    """
    with open_input(path) as given, failing(f"read {given.source}"):
        return parse(given.stream, given.name, progress.counting("reading", given.share), is_hex)


def parse(
    stream: BinaryIO, name: str, on_read: Callable[[int], None] = lambda _: None, is_hex: bool = False
) -> array[int]:
    r"""Return the hashes in the lines of *stream*, which messages call *name*; see ``read_hashes``. O(bytes).

    >>> from io import BytesIO
    >>> parse(BytesIO(b"18446744073709551615\n\n0xff\n"), "example").tolist()
    [18446744073709551615, 255]
    >>> parse(BytesIO(b"1\n2.5\n"), "example")
    Traceback (most recent call last):
        ...
    scrapy_simhash.cli.streams.Refused: example:2: '2.5' is neither a decimal number nor one like 0xff
    """
    values = array("Q")
    for first_line, lines in _whole_lines(stream, name):
        held = len(values)
        try:
            values.extend(_at_once(lines, is_hex))
        except (OverflowError, ValueError):
            del values[held:]
            values.extend(_one_by_one(lines, first_line, name, is_hex))
        on_read(len(values))
    return values


def _whole_lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield chunks that end where a line does, each with the number of its first line."""
    line = 1
    while chunk := stream.read(CHUNK):
        rest = stream.readline(CHUNK)
        chunk = (chunk + rest).removeprefix(BYTE_ORDER_MARK if line == 1 else b"")
        # No hash is as long as a chunk: that is said now, not when memory is full.
        if len(rest) == CHUNK and not rest.endswith(b"\n"):
            number, last = line + chunk.count(b"\n"), _shown(chunk.rpartition(b"\n")[2])
            raise Refused(f"{name}:{number}: {last} is more than 64 bits hold")
        yield line, chunk
        line += chunk.count(b"\n")


def _at_once(lines: bytes, is_hex: bool) -> Iterable[int]:
    """Return the hashes of *lines*, or raise ValueError, now or later, if that needs a closer look."""
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n")
    if not is_hex and not lines.translate(None, _DECIMAL_CHUNK):
        return map(int, lines.split())
    if lines.translate(None, _HEX_CHUNK):
        raise ValueError
    numbers = lines.split()
    # A number has one x at most, before its digits, or int refuses it. So where there are as many x as numbers, all
    # of them begin with 0x.
    if not is_hex and lines.count(b"x") + lines.count(b"X") != len(numbers):
        raise ValueError
    return map(int, numbers, repeat(16))


def _one_by_one(lines: bytes, first_line: int, name: str, is_hex: bool) -> Iterator[int]:
    """Yield the hashes of *lines*; raises Refused for the first line that is none."""
    pattern = _HEX_LINE if is_hex else _LINE
    for number, line in enumerate(lines.split(b"\n"), first_line):
        found = pattern.fullmatch(line)
        if not found:
            raise Refused(f"{name}:{number}: {_why_not(line, is_hex)}")
        if not found.lastgroup:
            continue
        base = 10 if found.lastgroup == "decimal" else 16
        digits = found[found.lastgroup].lstrip(b"0") or b"0"
        # The length first: Python declines to convert numbers of thousands of digits.
        if len(digits) > _MOST_DIGITS[base] or (value := int(digits, base)) > _MOST:
            raise Refused(f"{name}:{number}: {_too_great(line, is_hex)}")
        yield value


def _why_not(line: bytes, is_hex: bool) -> str:
    if is_hex:
        return f"{_shown(line)} is not a hexadecimal number"
    hint = ", --hex reads it as hexadecimal" if _HEX_LINE.fullmatch(line) else ""
    return f"{_shown(line)} is neither a decimal number nor one like 0xff{hint}"


def _too_great(line: bytes, is_hex: bool) -> str:
    # Seventeen to twenty digits with --hex: a file of decimal numbers, most likely.
    is_decimal = is_hex and line.strip().isdigit() and len(line.strip()) <= _MOST_DIGITS[10]
    hint = ", without --hex it is read as decimal" if is_decimal else ""
    return f"{_shown(line)} is more than 64 bits hold{hint}"


def _shown(line: bytes) -> str:
    """Return *line* as a message quotes it: nothing unprintable, and not all of it if it is long."""
    text = line.strip()
    return repr(text[:_SHOWN].decode("utf-8", "replace")) + "..." * (len(text) > _SHOWN)
