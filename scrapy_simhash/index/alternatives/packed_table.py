"""One table in few bits: rising numbers in blocks, which are searched as they lie there.

::

    lasts     | number 83 | number 167 | number 250 | ...       the last number of each block, 8 bytes
    blocks    | 0 ... 83  | 84 ... 167 | 168 .. 250 | ...       the numbers as words (see gaps), 512 bytes say

To search, halve the lasts, then read the one block that may have the number sought, beginning with the last number of
the block before it. A block is as full as can be and ends with its last number, so nothing else need be known of it.

Source: Manku, Jain, Das Sarma, WWW 2007, section 3.2. There a block begins with its first number in full; the last
one of the block before does that here.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from scrapy_simhash.index.alternatives.gaps import LONGEST, GapCode

#: A block has room for the longest word, and is no table: bytes.
LEAST_BLOCK, MOST_BLOCK = (LONGEST + 7) // 8, 65_536
_LAST_BYTES = 8


def packed(numbers: Sequence[int], code: GapCode, block_bytes: int) -> tuple[int, bytes]:
    """Return how many blocks the rising *numbers* of 64 bits take, and the table.

    *block_bytes* is from 16 to 65,536, or ValueError is raised.

    >>> blocks, table = packed([3, 1000, 1001, 5000], GapCode.of([3, 1000, 1001, 5000]), block_bytes=16)
    >>> blocks, len(table)
    (1, 24)
    """
    if not LEAST_BLOCK <= block_bytes <= MOST_BLOCK:
        raise ValueError(f"block_bytes must be from {LEAST_BLOCK} to {MOST_BLOCK:,}, got {block_bytes}")
    room = 8 * block_bytes
    lasts, blocks = array("Q"), []
    text: list[str] = []
    used = before = 0
    for number, word in zip(numbers, code.words(numbers), strict=True):
        if used + len(word) > room:
            lasts.append(before)
            blocks.append(_block(text, block_bytes))
            text, used = [], 0
        text.append(word)
        used += len(word)
        before = number
    if text:
        lasts.append(before)
        blocks.append(_block(text, block_bytes))
    if sys.byteorder == "big":
        lasts.byteswap()
    return len(blocks), lasts.tobytes() + b"".join(blocks)


def packed_bytes(blocks: int, block_bytes: int) -> int:
    """Return the length of a table of so many *blocks*."""
    return blocks * (_LAST_BYTES + block_bytes)


class PackedTable:
    """What ``packed`` has made of rising numbers, where it lies.

    >>> numbers = [3, 1000, 1001, 5000]
    >>> code = GapCode.of(numbers)
    >>> table = PackedTable(memoryview(packed(numbers, code, 16)[1]), block_bytes=16, code=code)
    >>> list(table.numbers(first=1001))
    [1001, 5000]
    """

    __slots__ = ("_block_bytes", "_blocks", "_code", "_count", "_lasts")

    def __init__(self, buffer: memoryview, block_bytes: int, code: GapCode) -> None:
        self._count = len(buffer) // (_LAST_BYTES + block_bytes)
        self._lasts = buffer[: self._count * _LAST_BYTES]
        self._blocks = buffer[self._count * _LAST_BYTES :]
        self._block_bytes = block_bytes
        self._code = code

    def numbers(self, first: int = 0) -> Iterator[int]:
        """Yield the numbers from *first* on, rising. Raises ValueError if it meets damage that shows.

        Halves the lasts, and reads half a block on average before the first number comes.
        """
        for block in range(bisect_left(range(self._count), first, key=self._last), self._count):
            start = self._last(block - 1) if block else 0
            for number in self._code.numbers(self._text(block), start, self._last(block)):
                if number >= first:
                    yield number

    def _last(self, block: int) -> int:
        return int.from_bytes(self._lasts[_LAST_BYTES * block : _LAST_BYTES * (block + 1)], "little")

    def _text(self, block: int) -> str:
        words = self._blocks[self._block_bytes * block : self._block_bytes * (block + 1)]
        return f"{int.from_bytes(words, 'big'):0{8 * self._block_bytes}b}"


def _block(words: list[str], block_bytes: int) -> bytes:
    return int("".join(words).ljust(8 * block_bytes, "0"), 2).to_bytes(block_bytes, "big")
