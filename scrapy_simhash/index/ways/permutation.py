"""An order of the blocks: those of a table's key first, then the others.

With six blocks and the key A, C, F::

    |    A    |     B    |    C    |    D    |    E    |    F    |        the fingerprint
     ---------            ---------                     ---------
    |    A    |    C    |    F    |     B    |    D    |    E    |        permuted: those with the same A, C, F
    |----------- key -------------|------------ rest ------------|        stand together once they are sorted

Blocks that move by the same number of bits move together, under one mask. A permutation loses nothing and moves
every bit to a place of its own, so it can be undone, and the distance of two fingerprints stays what it was.

Source: Manku, Jain, Das Sarma, WWW 2007, section 3; the masks are those of simhash-cpp's README.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass, field

from scrapy_simhash.index.plans.blocks import BITS, Block
from scrapy_simhash.index.plans.plan import Plan

#: A mask of bits, and how far those move up and down; one of both is 0.
_Move = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Permutation:
    """The order of *blocks* in which those that *key* names by number come first.

    The blocks of the key keep their order, and so do the others.

    >>> from scrapy_simhash.index.plans.blocks import partition
    >>> permutation = Permutation(partition(4), key=(2,))
    >>> hex(permutation.permute(0xAAAA_BBBB_CCCC_DDDD))
    '0xccccaaaabbbbdddd'
    >>> hex(permutation.unpermute(0xCCCC_AAAA_BBBB_DDDD))
    '0xaaaabbbbccccdddd'
    """

    blocks: tuple[Block, ...]
    key: tuple[int, ...]
    #: The width of the key in bits.
    key_bits: int = field(init=False)
    _moves: tuple[_Move, ...] = field(init=False, repr=False)
    _moves_back: tuple[_Move, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out which bits move how far."""
        rest = tuple(number for number in range(len(self.blocks)) if number not in self.key)
        masks: dict[int, int] = {}
        place = BITS
        for number in self.key + rest:
            block = self.blocks[number]
            place -= block.width
            by = place - block.shift
            masks[by] = masks.get(by, 0) | block.mask << block.shift
        moves = tuple((mask, max(by, 0), max(-by, 0)) for by, mask in masks.items())
        object.__setattr__(self, "key_bits", sum(self.blocks[number].width for number in self.key))
        object.__setattr__(self, "_moves", moves)
        object.__setattr__(
            self, "_moves_back", tuple((mask << up >> down, down, up) for mask, up, down in moves)
        )

    def permute(self, value: int) -> int:
        """Return *value* with its blocks in this order. It is not checked. O(blocks)."""
        return _moved(value, self._moves)

    def unpermute(self, value: int) -> int:
        """Return what ``permute`` has made *value* of. O(blocks)."""
        return _moved(value, self._moves_back)

    def permute_all(self, values: array[int]) -> array[int]:
        """Return the *values*, of type ``Q``, all permuted, in the order given.

        One huge int holds them all: no bit leaves the 64 of its own fingerprint. Five times as fast as one after
        another.

        >>> from scrapy_simhash.index.plans.blocks import partition
        >>> Permutation(partition(2), key=(1,)).permute_all(array("Q", [1, 2**32])).tolist()
        [4294967296, 1]
        """
        joined = int.from_bytes(values.tobytes(), sys.byteorder)
        ones = int.from_bytes((array("Q", [1]) * len(values)).tobytes(), sys.byteorder)
        moved = _moved(joined, [(ones * mask, up, down) for mask, up, down in self._moves])
        return array("Q", moved.to_bytes(8 * len(values), sys.byteorder))


def permutations(plan: Plan) -> tuple[Permutation, ...]:
    """Return the permutation of each table of *plan*, in its order.

    >>> [permutation.key_bits for permutation in permutations(Plan.classic(max_distance=1, blocks=3))]
    [43, 43, 42]
    """
    return tuple(Permutation(plan.blocks, key) for key in plan.keys)


def _moved(value: int, moves: tuple[_Move, ...] | list[_Move]) -> int:
    moved = 0
    for mask, up, down in moves:
        moved |= (value & mask) << up >> down
    return moved
