"""The tables of the paper: sorted lists of permuted fingerprints, searched by bisection or by interpolation.

::

    |    A    |     B    |    C    |    D    |    E    |    F    |        the fingerprint
     ---------            ---------                     ---------
    |    A    |    C    |    F    |     B    |    D    |    E    |        in the table of A, C, F
    |----------- key -------------|------------ rest ------------|        fingerprints with the same key are adjacent

Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3; the masks of the
permutations are those of simhash-cpp's README.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from benchmarks.methods.method import Method, Plan

ONES = 2**64 - 1


class Place(NamedTuple):
    """Position of the first number that is not below the query, and the number of comparisons."""

    position: int
    steps: int


Search = Callable[[Sequence[int], int], Place]


def by_bisection(numbers: Sequence[int], sought: int) -> Place:
    """Return the place of *sought* in the sorted *numbers*, by bisection; at most log2(n) + 1 steps.

    >>> by_bisection([10, 20, 30, 40], 25)
    Place(position=2, steps=2)
    """
    return _halved(numbers, sought, 0, len(numbers), 0)


def by_interpolation(numbers: Sequence[int], sought: int) -> Place:
    """Return the place of *sought* by interpolation; about log2(log2(n)) steps if the 64-bit *numbers* are uniform.

    A number at 0.6 of the range is near 0.6 of the list: the first guess is off by about the square root of the
    length, the next by the square root of that. After twice as many guesses as uniform numbers need, bisection
    continues the search.

    Source: Perl, Itai, Avni, "Interpolation search: a log log n search", CACM 1978.

    >>> numbers = [number << 54 for number in range(1000)]
    >>> by_interpolation(numbers, 700 << 54), by_bisection(numbers, 700 << 54)
    (Place(position=700, steps=3), Place(position=700, steps=10))
    """
    low, high = 0, len(numbers)
    # The values before low and at high; initially outside the range of numbers.
    below, above = -1, ONES + 1
    steps = 0
    while low < high and steps < 2 * len(numbers).bit_length().bit_length():
        guess = min(low + (high - low) * (sought - below) // (above - below), high - 1)
        number = numbers[guess]
        if number < sought:
            low, below = guess + 1, number
        else:
            high, above = guess, number
        steps += 1
    return _halved(numbers, sought, low, high, steps)


def _halved(numbers: Sequence[int], sought: int, low: int, high: int, steps: int) -> Place:
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < sought:
            low = middle + 1
        else:
            high = middle
        steps += 1
    return Place(low, steps)


class Permutation:
    """An order of the 64 bits: first the bits of the mask *key*, then the others, each group in its original order.

    Bits that move equally far are moved together, with one mask. A permutation can be undone, and changes no
    distance.

    >>> third_block_first = Permutation(key=0xFFFF_0000)
    >>> hex(third_block_first.permute(0xAAAA_BBBB_CCCC_DDDD))
    '0xccccaaaabbbbdddd'
    >>> hex(third_block_first.unpermute(0xCCCC_AAAA_BBBB_DDDD))
    '0xaaaabbbbccccdddd'
    """

    def __init__(self, key: int) -> None:
        self.key_bits = key.bit_count()
        masks: dict[int, int] = {}
        place = 64
        for mask in (key, key ^ ONES):
            for bit in range(63, -1, -1):
                if mask >> bit & 1:
                    place -= 1
                    masks[place - bit] = masks.get(place - bit, 0) | 1 << bit
        #: A mask of bits, and the distances by which these bits move up and down; one of the two is 0.
        self.moves = [(mask, max(by, 0), max(-by, 0)) for by, mask in masks.items()]

    def permute(self, value: int) -> int:
        """Return *value* with its bits in this order."""
        return sum((value & mask) << up >> down for mask, up, down in self.moves)

    def unpermute(self, value: int) -> int:
        """Return the value that ``permute`` changes to *value*."""
        return sum((value << down >> up) & mask for mask, up, down in self.moves)


class SortedTable:
    """Sorted permuted fingerprints; equal keys are adjacent."""

    def __init__(self, permutation: Permutation, search: Search = by_bisection) -> None:
        self.permutation = permutation
        self._search = search
        self.numbers = array("Q")

    def add_many(self, values: Iterable[int]) -> None:
        """Add *values*, which are not permuted yet."""
        self.numbers = array("Q", sorted({*self.numbers, *map(self.permutation.permute, values)}))

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints with the key of *value*."""
        rest = 64 - self.permutation.key_bits
        first = self.permutation.permute(value) >> rest << rest
        for position in range(self._search(self.numbers, first).position, len(self.numbers)):
            if self.numbers[position] >= first + (1 << rest):
                return
            yield self.permutation.unpermute(self.numbers[position])


class SortedTables(Method):
    """A sorted list for every table of *plan*, for a set that is built once, or grows in large batches.

    >>> method = SortedTables(Plan.classic(max_distance=3, blocks=6))
    >>> method.add_many([0b0000, 0b0111, 0b1111])
    >>> method.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    """

    def __init__(self, plan: Plan, search: Search = by_bisection) -> None:
        self.max_distance = plan.max_distance
        self.tables = [SortedTable(order, search) for order in permutations(plan)]

    def add_many(self, values: Iterable[int]) -> None:
        """Add *values* to each table."""
        batch = list(values)
        for table in self.tables:
            table.add_many(batch)

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints with the key of *value* in any table."""
        return chain.from_iterable(table.candidates(value) for table in self.tables)


def permutations(plan: Plan) -> list[Permutation]:
    """Return the permutation of each table of *plan*."""
    return list(map(Permutation, plan.masks))


class SortedRuns(Method):
    """Sorted tables that grow: new fingerprints are in a small set; two runs of equal size are merged, like a carry.

    ::

        waiting   runs
        . . .     4 4        -->    .       8          the fourth is added: a run of 4, the third of this size;
                                                       two of them become a run of 8

    So a fingerprint moves log2(n / fresh) times at most. Source: Bentley and Saxe, "Decomposable searching problems",
    1980; O'Neil and others, "The log-structured merge-tree", 1996.

    >>> method = SortedRuns(Plan.classic(max_distance=3, blocks=6), fresh=4)
    >>> for value in range(15):
    ...     method.add_many([value])
    >>> method.find(0)[0]
    Found(value=0, distance=0)
    """

    def __init__(self, plan: Plan, fresh: int = 256) -> None:
        self.max_distance = plan.max_distance
        self._plan = plan
        self._limit = fresh
        self._known: set[int] = set()
        self._fresh: set[int] = set()
        # By level: a run at level i has at least fresh * 2**i fingerprints, and less than twice as many.
        self._runs: dict[int, tuple[list[int], SortedTables]] = {}

    def add_many(self, values: Iterable[int]) -> None:
        """Add *values* to the small set; if it is full, turn it into a run."""
        self._fresh |= set(values) - self._known
        self._known |= self._fresh
        if len(self._fresh) < self._limit:
            return
        run, self._fresh = list(self._fresh), set()
        while (level := (len(run) // self._limit).bit_length() - 1) in self._runs:
            run += self._runs.pop(level)[0]
        tables = SortedTables(self._plan)
        tables.add_many(run)
        self._runs[level] = run, tables

    def candidates(self, value: int) -> Iterator[int]:
        """Yield the fingerprints in the small set, and the candidates of each run."""
        return chain(self._fresh, *(tables.candidates(value) for _, tables in self._runs.values()))
