r"""A finite state machine that reads the query bit by bit, and allows some errors.

Fingerprints that begin with the same bits are one range of a sorted list. A state is such a range, and the number of
errors left. At each bit, the machine continues with the half that agrees with the query, and with one error less in
the other half::

    query 0101      [0000 0010 0101 0111 1001 1101]                one error left
                          /                   \
    0...         [0000 0010 0101 0111]    [1001 1101]              one left; none left: only 1101 matches
                     /         \
    01..        [0000 0010] [0101 0111]                            none left: only 0001 matches; one left

Source: the search with a number of errors left is that of Arslan and Eğecioğlu, "Dictionary look-up within small edit
distance", 2002, for Hamming distance.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from benchmarks.methods.method import Method

#: Up to this number of fingerprints are compared one by one.
FEW = 12


class SortedTrie(Method):
    """A sorted list, searched as a tree of bits: 8 bytes per fingerprint, for any distance.

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
        """Add *values*."""
        self._numbers = array("Q", sorted({*self._numbers, *values}))

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints that the machine accepts."""
        numbers = self._numbers
        # A state: a range of fingerprints that agree in all bits from `bit` up, and the number of errors left.
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
