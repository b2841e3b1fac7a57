"""Compressed sorted tables: each gap between neighbours takes as few bits as possible.

Neighbours in a long sorted list have the same leading bits. A gap is stored as its bit length, in Huffman code, and
the bits after its leading 1, unchanged::

    predecessor   0110 1110 0010 1010
    number        0110 1110 1001 0101
    XOR           0000 0000 1011 1111        length 8, then  011 1111        as in the paper
    difference    0000 0000 0110 1011        length 7, then   10 1011        nearly two bits shorter

A block begins with its first number in full, so that blocks can be searched by bisection. Source: Manku, Jain, Das
Sarma, WWW 2007, section 3.2; Huffman 1952; for the canonical code Schwartz and Kallick 1964.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from benchmarks.methods.method import Method, Plan
from benchmarks.methods.sorted_tables import Permutation, permutations

#: The function that computes a gap from a number and its predecessor, and its inverse.
GAPS = {"difference": (operator.sub, operator.add), "xor": (operator.xor, operator.xor)}
#: Numbers per block.
BLOCK = 64


def code_of(counts: Mapping[int, int]) -> dict[int, str]:
    """Return the Huffman code of symbols with these *counts*: short for frequent symbols, and none begins another.

    >>> code_of({0: 5, 1: 1, 2: 2, 3: 3})
    {0: '0', 3: '10', 1: '110', 2: '111'}
    """
    lengths = dict.fromkeys(counts, 0) if len(counts) > 1 else dict.fromkeys(counts, 1)
    # The second number breaks ties, so that the result is deterministic.
    heap = [(count, symbol, [symbol]) for symbol, count in counts.items()]
    heapify(heap)
    while len(heap) > 1:
        rarest, _, below = heappop(heap)
        next_rarest, order, further = heappop(heap)
        for symbol in below + further:
            lengths[symbol] += 1
        heappush(heap, (rarest + next_rarest, order, below + further))
    words, number, last = {}, 0, 0
    for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
        number <<= length - last
        words[symbol] = f"{number:0{length}b}"
        number, last = number + 1, length
    return words


class FrozenTable:
    """Ascending 64-bit numbers in fewer bits: blocks of gaps, searched without decompressing all of them.

    >>> list(FrozenTable([3, 1000, 1001, 5000], "difference").numbers_from(1001))
    [1001, 5000]
    """

    def __init__(self, numbers: Sequence[int], gap: str) -> None:
        take, self._apply = GAPS[gap]
        blocks = [numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK)]
        gaps = [[take(number, before) for before, number in pairwise(block)] for block in blocks]
        words = code_of(Counter(gap.bit_length() for of_block in gaps for gap in of_block))
        self._lengths = {word: length for length, word in words.items()}
        self._firsts = [block[0] for block in blocks]
        self._texts = [
            "".join(words[gap.bit_length()] + f"{gap:b}"[1:] for gap in of_block) for of_block in gaps
        ]
        #: Size in bits: 64 for the first number of each block, and the encoded gaps.
        self.bits = sum(64 + len(text) for text in self._texts)

    def numbers_from(self, first: int) -> Iterator[int]:
        """Yield the numbers from *first* on, ascending. Half a block is read on average before the first number."""
        for block in range(max(bisect_left(self._firsts, first) - 1, 0), len(self._firsts)):
            yield from (number for number in self._numbers(block) if number >= first)

    def _numbers(self, block: int) -> Iterator[int]:
        number, text, here = self._firsts[block], self._texts[block], 0
        yield number
        while here < len(text):
            end = here + 1
            while text[here:end] not in self._lengths:
                end += 1
            here, length = end, self._lengths[text[here:end]]
            end = here + length - 1
            number = self._apply(number, int("1" + text[here:end], 2))
            here = end
            yield number


class FrozenTables(Method):
    """A frozen table for each key of *plan*, for a set that does not change; *gap* is ``difference`` or ``xor``.

    >>> method = FrozenTables(Plan.classic(max_distance=3, blocks=6), [0b0000, 0b0111, 0b1111])
    >>> method.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    """

    def __init__(self, plan: Plan, values: Iterable[int], gap: str = "difference") -> None:
        self.max_distance = plan.max_distance
        distinct = set(values)
        self._tables: list[tuple[Permutation, FrozenTable]] = [
            (order, FrozenTable(sorted(map(order.permute, distinct)), gap)) for order in permutations(plan)
        ]
        #: The mean number of bits per fingerprint in a table.
        self.bits = sum(table.bits for _, table in self._tables) / max(len(distinct), 1) / len(self._tables)

    def add_many(self, values: Iterable[int]) -> None:
        """Raise an error, because a frozen table cannot grow."""
        raise TypeError("frozen tables cannot grow: make new ones")

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints with the key of *value* in any table."""
        for order, table in self._tables:
            rest = 64 - order.key_bits
            first = order.permute(value) >> rest << rest
            for number in table.numbers_from(first):
                if number >= first + (1 << rest):
                    break
                yield order.unpermute(number)
