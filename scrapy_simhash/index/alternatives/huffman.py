"""Huffman's code: frequent symbols get short words.

::

    symbol  count                          word
       0      5  -------------------+      0
       3      3  ------------+      |      10        no word begins another one,
       1      1  ------+     |      |      110       so they need nothing between them
       2      2  ------3-----6------11     111

The two rarest are joined until all are one; a symbol's word is as long as the number of joints above it. Only the
lengths are stored: the words are given out in order, the shortest first (the *canonical* code).

Source: Huffman 1952; for the canonical code Schwartz and Kallick 1964.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def code_lengths(counts: Sequence[int]) -> list[int]:
    """Return the length of each symbol's word, by the count of each. A symbol that does not occur has 0.

    No other words that can be told apart make a shorter text. One symbol alone gets a word of one bit.

    >>> code_lengths([5, 1, 2, 3, 0])
    [1, 3, 3, 2, 0]
    """
    lengths = [0] * len(counts)
    # The second number decides between equal counts, so that the answer is always the same.
    heap = [(count, symbol, [symbol]) for symbol, count in enumerate(counts) if count]
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    heapify(heap)
    while len(heap) > 1:
        rarest, _, below = heappop(heap)
        next_rarest, order, further = heappop(heap)
        for symbol in below + further:
            lengths[symbol] += 1
        heappush(heap, (rarest + next_rarest, order, below + further))
    return lengths


def words(lengths: Sequence[int]) -> dict[int, str]:
    """Return each symbol's word, a string of 0 and 1, by the length of each.

    Raises ValueError if there are no words of these lengths that can be told apart.

    >>> words([1, 3, 3, 2, 0])
    {0: '0', 3: '10', 1: '110', 2: '111'}
    """
    code, last = 0, 0
    given = {}
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths) if length):
        code <<= length - last
        if code >> length:
            raise ValueError(f"no prefix code has words of these lengths: {list(lengths)}")
        given[symbol] = f"{code:0{length}b}"
        code, last = code + 1, length
    return given
