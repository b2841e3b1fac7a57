"""The 64 bits of a fingerprint cut into blocks.

With six blocks, bit 63 at the left, bit 0 at the right::

    63------53|52------42|41------31|30------20|19------10|9--------0
    |    A    |     B    |     C    |     D    |     E    |    F    |
         11         11         11         11         10        10

Two fingerprints that differ in *k* bits differ in at most *k* of the blocks, wherever the bits fall: that is
all the search rests on. Here three bits fall in B, D and E, so A, C and F are the same in both:

>>> f = 0b0100101110111011001000101111101110111100001010011101100110110101
>>> g = 0b0100101110111011011000101111101110011100001010011100100110110101
>>> [name for name, block in zip("ABCDEF", partition(6)) if block.of(f) != block.of(g)]
['B', 'D', 'E']

Source: the README of simhash-cpp (Moz), whose picture and example these are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BITS = 64


@dataclass(frozen=True, slots=True)
class Block:
    """A range of neighbouring bits: *width* of them, the lowest being bit *shift*."""

    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The greatest value of the block: *width* ones."""
        return (1 << self.width) - 1

    def of(self, value: int) -> int:
        """Return the bits of *value* in this block, as a number from 0 to ``mask``."""
        return value >> self.shift & self.mask


def partition(blocks: int) -> tuple[Block, ...]:
    """Cut 64 bits into blocks as equal as can be, the most significant first, the wider ones leading.

    Raises ValueError unless *blocks* is from 1 to 64.

    >>> [block.width for block in partition(6)]
    [11, 11, 11, 11, 10, 10]
    >>> partition(6)[-1]
    Block(shift=0, width=10)
    """
    if not 1 <= blocks <= BITS:
        raise ValueError(f"blocks must be from 1 to {BITS}, got {blocks}")
    narrow, wider_ones = divmod(BITS, blocks)
    cut = []
    shift = BITS
    for number in range(blocks):
        width = narrow + (number < wider_ones)
        shift -= width
        cut.append(Block(shift, width))
    return tuple(cut)


def check_apart(blocks: Iterable[Block]) -> None:
    """Raise ValueError if a bit is in two of *blocks*, or outside the 64.

    One bit that differs would be two blocks that do, and no plan over such blocks is exact.

    >>> check_apart([Block(shift=0, width=8), Block(shift=7, width=8)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: blocks must not overlap and must lie within 64 bits, got (...)
    """
    given, end = tuple(blocks), 0
    for block in sorted(given, key=lambda block: (block.shift, block.width)):
        if block.shift < end or block.width < 0 or block.shift + block.width > BITS:
            raise ValueError(f"blocks must not overlap and must lie within {BITS} bits, got {given}")
        end = block.shift + block.width


def key_mask(blocks: tuple[Block, ...], key: Iterable[int]) -> int:
    """Return the bits of a fingerprint that are in *key*, a choice of *blocks* by number.

    >>> hex(key_mask((Block(48, 16), Block(32, 16), Block(0, 32)), (0, 2)))
    '0xffff0000ffffffff'
    """
    return sum(blocks[number].mask << blocks[number].shift for number in key)
