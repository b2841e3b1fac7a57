"""An order of the 64 bits: those of a table's key first, then the others.

With six blocks and the key A, C, F::

    |    A    |     B    |    C    |    D    |    E    |    F    |        the fingerprint
     ---------            ---------                     ---------
    |    A    |    C    |    F    |     B    |    D    |    E    |        permuted: those with the same A, C, F
    |----------- key -------------|------------ rest ------------|        stand together once they are sorted

Bits that move equally far move together, under one mask. A permutation loses nothing and moves every bit to a place
of its own, so it can be undone, and the distance of two fingerprints stays what it was.

Source: Manku, Jain, Das Sarma, WWW 2007, section 3; the masks are those of simhash-cpp's README.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scrapy_simhash.index._arguments import MAX_VALUE
from scrapy_simhash.index.plans.blocks import BITS, key_mask
from scrapy_simhash.index.plans.plan import Plan

#: A mask of bits, and how far those move up and down; one of both is 0.
_Move = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Permutation:
    """The order of the 64 bits in which those of *key*, a mask, come first.

    The bits of the key keep their order, and so do the others. No bit of the 64 is left out, whatever blocks the key
    is made of.

    >>> third_block_first = Permutation(key=0xFFFF_0000)
    >>> hex(third_block_first.permute(0xAAAA_BBBB_CCCC_DDDD))
    '0xccccaaaabbbbdddd'
    >>> hex(third_block_first.unpermute(0xCCCC_AAAA_BBBB_DDDD))
    '0xaaaabbbbccccdddd'
    """

    key: int
    _moves: tuple[_Move, ...] = field(init=False, repr=False, compare=False)
    _moves_back: tuple[_Move, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out which bits move how far."""
        masks: dict[int, int] = {}
        place = BITS
        for run in (*_runs(self.key), *_runs(self.key ^ MAX_VALUE)):
            place -= run.bit_count()
            by = place - ((run & -run).bit_length() - 1)
            masks[by] = masks.get(by, 0) | run
        moves = tuple((mask, max(by, 0), max(-by, 0)) for by, mask in masks.items())
        object.__setattr__(self, "_moves", moves)
        object.__setattr__(
            self, "_moves_back", tuple((mask << up >> down, down, up) for mask, up, down in moves)
        )

    @property
    def key_bits(self) -> int:
        """The width of the key in bits."""
        return self.key.bit_count()

    @property
    def is_identity(self) -> bool:
        """Whether all bits stay where they are: the key leads the fingerprint anyway."""
        return self._moves == ((MAX_VALUE, 0, 0),)

    def permute(self, value: int) -> int:
        """Return *value* with its bits in this order. It is not checked. O(runs of bits that move together)."""
        return _moved(value, self._moves)

    def unpermute(self, value: int) -> int:
        """Return what ``permute`` has made *value* of. As fast."""
        return _moved(value, self._moves_back)

    def permute_all(self, values: array[int]) -> array[int]:
        """Return the *values*, of type ``Q``, all permuted, in the order given.

        One huge int holds them all: no bit leaves the 64 of its own fingerprint. Five times as fast as one after
        another.

        >>> Permutation(key=2**32 - 1).permute_all(array("Q", [1, 2**32])).tolist()
        [4294967296, 1]
        """
        joined = int.from_bytes(values, sys.byteorder)
        ones = int.from_bytes(array("Q", [1]) * len(values), sys.byteorder)
        moved = _moved(joined, ((ones * mask, up, down) for mask, up, down in self._moves))
        return array("Q", moved.to_bytes(8 * len(values), sys.byteorder))


def permutations(plan: Plan) -> tuple[Permutation, ...]:
    """Return the permutation of each table of *plan*, in its order.

    >>> [permutation.key_bits for permutation in permutations(Plan.classic(max_distance=1, blocks=3))]
    [43, 43, 42]
    """
    return tuple(Permutation(key_mask(plan.blocks, key)) for key in plan.keys)


def _moved(value: int, moves: Iterable[_Move]) -> int:
    moved = 0
    for mask, up, down in moves:
        moved |= (value & mask) << up >> down
    return moved


def _runs(mask: int) -> Iterator[int]:
    """Yield the runs of neighbouring ones of *mask*, the most significant first."""
    while mask:
        highest = 1 << mask.bit_length()
        run = highest - (1 << (highest - 1 - mask).bit_length())
        yield run
        mask ^= run
