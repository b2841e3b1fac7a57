"""A sorted list of numbers as the gaps between them, each in as few bits as can be.

Neighbours in a long sorted list share their leading bits, so the gap between them is a small number. It is
written as its bit length, in Huffman's code, and the bits behind its leading one, as they are::

    predecessor   0110 1110 0010 1010
    number        0110 1110 1001 0101
    XOR           0000 0000 1011 1111        length 8, then  011 1111
    difference    0000 0000 0110 1011        length 7, then   10 1011

The paper takes the XOR. The difference is as easy, and nearly two bits shorter: from 0111 to 1000 is one step, but
all four bits flip.

Source: Manku, Jain, Das Sarma, WWW 2007, section 3.2.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise

from scrapy_simhash.index.alternatives.huffman import code_lengths, words
from scrapy_simhash.index.plans.blocks import BITS

#: By name: how a gap is taken from a number and its predecessor, and how it is applied to the latter again.
KINDS = {"difference": (operator.sub, operator.add), "xor": (operator.xor, operator.xor)}
#: A gap has from 0 to 64 bits; 0 only where a list begins with the number 0.
LENGTHS = BITS + 1
#: No word is longer: 64 for the length, 63 behind the leading one.
LONGEST = 2 * BITS - 1


class GapCode:
    """Words for gaps, given the length in bits of the word for each bit length.

    *kind* is ``difference`` or ``xor``. Raises ValueError for another one, or for lengths of no code.

    >>> numbers = [3, 1000, 1001, 5000]
    >>> code = GapCode.of(numbers)
    >>> text = "".join(code.words(numbers))
    >>> len(text), list(code.numbers(text, start=0, last=5000))
    (29, [3, 1000, 1001, 5000])
    """

    __slots__ = ("_apply", "_gap", "_lengths_by_word", "_words", "kind", "word_lengths")

    def __init__(self, word_lengths: Sequence[int], kind: str = "difference") -> None:
        #: What must be kept to read what was written: 65 numbers.
        self.word_lengths = tuple(word_lengths)
        self.kind = kind
        self._gap, self._apply = _operators(kind)
        self._words = words(word_lengths)
        self._lengths_by_word = {word: length for length, word in self._words.items()}

    @classmethod
    def of(cls, numbers: Iterable[int], kind: str = "difference") -> GapCode:
        """Return the code that is the shortest for the rising *numbers*."""
        counts = [0] * LENGTHS
        gap, _ = _operators(kind)
        for before, number in pairwise(chain((0,), numbers)):
            counts[gap(number, before).bit_length()] += 1
        return cls(code_lengths(counts), kind)

    def words(self, numbers: Iterable[int]) -> Iterator[str]:
        """Yield the word of each of the rising *numbers*, a string of 0 and 1; the first one's gap is from 0."""
        for before, number in pairwise(chain((0,), numbers)):
            gap = self._gap(number, before)
            # In binary without the leading one; the gap 0 has no bits at all.
            yield self._words[gap.bit_length()] + f"{gap:b}"[1:]

    def numbers(self, text: str, start: int, last: int) -> Iterator[int]:
        """Yield the numbers after *start* up to *last*, whose words *text* begins with.

        Raises ValueError where it is not a text of this code.
        """
        number, here, lengths = start, 0, self._lengths_by_word
        while True:
            end = here + 1
            while (length := lengths.get(text[here:end])) is None:
                end += 1
                if end > len(text):
                    raise ValueError("damaged: the words end before the last number")
            here = end + max(length - 1, 0)
            number = self._apply(number, int("1" + text[end:here], 2) if length else 0)
            if number > last:
                raise ValueError("damaged: a number is greater than the last one")
            yield number
            if number == last:
                return


def _operators(kind: str) -> tuple[Callable[[int, int], int], Callable[[int, int], int]]:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return KINDS[kind]
