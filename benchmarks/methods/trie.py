r"""A finite state machine that reads the query bit by bit, with some errors allowed.

The fingerprints that begin with the same bits are one range of a sorted list. A state is such a range and the errors
left. At each bit the machine goes on into the half that agrees, and with one error less into the other::

    query 0101      [0000 0010 0101 0111 1001 1101]                one error left
                          /                   \
    0...         [0000 0010 0101 0111]    [1001 1101]              one left; none left: only 1101 will do
                     /         \
    01..        [0000 0010] [0101 0111]                            none left: only 0001 will do; one left

Source: the walk with errors left is that of Arslan and Eğecioğlu, "Dictionary look-up within small edit distance",
2002, for Hamming distance.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from benchmarks.methods.way import Way

#: So few fingerprints are compared one by one.
FEW = 12


class SortedTrie(Way):
    """One sorted list, searched as a tree of bits: 8 bytes a fingerprint, whatever the distance.

    >>> trie = SortedTrie(max_distance=1)
    >>> trie.add_many([0b0000, 0b0010, 0b0101, 0b0111, 0b1001, 0b1101])
    >>> [f"{found.value:04b}" for found in trie.find(0b0101)]
    ['0101', '0111', '1101']
    """

    def __init__(self, max_distance: int, few: int = FEW) -> None:
        self.max_distance = max_distance
        self._few = few
        self._numbers = array("Q")

    def add_many(self, values: Iterable[int]) -> None:
        """Merge *values* in."""
        self._numbers = array("Q", sorted({*self._numbers, *values}))

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints that the machine reaches."""
        numbers = self._numbers
        # A state: a range of fingerprints that agree in all bits from `bit` up, and how many errors are left.
        states = [(0, len(numbers), 64, self.max_distance)]
        while states:
            start, end, bit, left = states.pop()
            if end - start <= self._few:
                yield from numbers[start:end]
            elif left == 0:
                rest = (1 << bit) - 1
                only = numbers[start] & ~rest | value & rest
                place = bisect_left(numbers, only, start, end)
                yield from numbers[place : min(place + 1, end)]
            else:
                bit -= 1
                middle = bisect_left(numbers, (numbers[start] >> bit | 1) << bit, start, end)
                halves = (start, middle), (middle, end)
                own = value >> bit & 1
                states += ((*halves[own], bit, left), (*halves[1 - own], bit, left - 1))
