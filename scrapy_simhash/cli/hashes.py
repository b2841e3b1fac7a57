"""Hashes from lines of text: one a line, decimal or hexadecimal, exact to the last of 64 bits.

Ten million lines are no rarity, so that they are read a chunk at a time. A chunk that is nothing but digits and line
ends, as nearly all are, goes through in a few passes in C::

    chunk   -->  only digits and line ends?  -->  split, int, into the array        0.18 microseconds a line
                         |
                         no, or one is too great for 64 bits
                         +------------------->  line by line, with its number       1 microsecond a line

The second way decides, and knows which line is wrong; the first takes nothing that the second would refuse.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import BinaryIO

from scrapy_simhash.cli.progress import Progress
from scrapy_simhash.cli.streams import BYTE_ORDER_MARK, Refused, failing, open_input

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

    Raises Refused for the first line that is something else, with its number, and Failed if the file cannot be read.
    """
    with open_input(path, buffering=0) as given, failing(f"read {given.source}"):
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
    for first_line, lines in _whole_lines(stream):
        held = len(values)
        try:
            values.extend(_at_once(lines, is_hex))
        except (OverflowError, ValueError):
            del values[held:]
            values.extend(_one_by_one(lines, first_line, name, is_hex))
        on_read(len(values))
    return values


def _whole_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield chunks that end where a line does, each with the number of its first line."""
    line = 1
    rest = b""
    is_first = True
    while chunk := stream.read(CHUNK):
        chunk = rest + chunk
        if is_first:
            if len(chunk) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(chunk):
                rest = chunk
                continue
            chunk = chunk.removeprefix(BYTE_ORDER_MARK)
            is_first = False
        end = chunk.rfind(b"\n") + 1
        # No hash is as long as a chunk: what has no end by then is refused now, not when memory is full.
        if not end and len(chunk) > CHUNK:
            end = len(chunk)
        lines, rest = chunk[:end], chunk[end:]
        if lines:
            yield line, lines
            line += lines.count(b"\n")
    if rest:
        yield line, rest


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
