"""The tables as the paper has them: sorted lists of permuted fingerprints.

::

    the table of A C F                  the query, permuted

    A    C    F    | B    D    E        A    C    F    | B    D    E
    0000 0000 0010 | ...
    0010 1001 1100 | ...
    0010 1001 1101 | ...           <--- 0010 1001 1101 | ...        search for the key and 0 0 0 ...
    0010 1001 1101 | ...           <---                             read on while the key is the same,
    0111 0100 0001 | ...                                            compare all 64 bits

What has the same key stands together, behind one search in each table. Nothing but the permuted fingerprints is
stored, and each can be brought back from any table.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_value
from scrapy_simhash.index.alternatives.base import Found, GrowingWay, nearest
from scrapy_simhash.index.alternatives.interpolation import Search, by_halving
from scrapy_simhash.index.plans.blocks import BITS
from scrapy_simhash.index.plans.permutation import permutations
from scrapy_simhash.index.plans.plan import Plan


class SortedTable:
    """One table: permuted fingerprints in order, of which the leading *key_bits* are looked up.

    By itself it finds only what has the query's key. All it is told and asked is permuted already.

    >>> table = SortedTable(max_distance=3, key_bits=32)
    >>> table.add_many([0xAAAA_AAAA_0000_0001, 0xAAAA_AAAB_0000_0001])
    >>> [hex(found.value) for found in table.find(0xAAAA_AAAA_0000_0000)]
    ['0xaaaaaaaa00000001']
    """

    __slots__ = ("_numbers", "_search", "key_bits", "max_distance", "steps")

    def __init__(self, max_distance: int, key_bits: int, search: Search = by_halving) -> None:
        """Make an empty table; *search* is ``by_halving`` or ``by_guessing``."""
        self.max_distance = max_distance
        self.key_bits = key_bits
        #: How many steps the searches have taken so far, those of ``add`` and ``in`` included.
        self.steps = 0
        self._search = search
        self._numbers = array("Q")

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        """Yield the permuted fingerprints, rising."""
        return iter(self._numbers)

    def __contains__(self, value: int) -> bool:
        return self._stands_at(self._place(value), value)

    def add(self, value: int) -> None:
        """Insert *value*, if it is not there. O(n), the move of all behind it."""
        position = self._place(value)
        if not self._stands_at(position, value):
            self._numbers.insert(position, value)

    def add_many(self, values: Iterable[int]) -> None:
        """Merge *values* in, in any order. O(n + m log m) for m values, or O(n + m) if they are sorted."""
        # Python's sort looks for what is in order already, and merges it.
        ordered = sorted((*self._numbers, *values))
        self._numbers = array("Q", (number for number, _ in groupby(ordered)))

    def candidates(self, value: int) -> Iterator[int]:
        """Yield what has the key of *value*, rising."""
        rest = BITS - self.key_bits
        first = value >> rest << rest
        end = first + (1 << rest)
        for position in range(self._place(first), len(self._numbers)):
            number = self._numbers[position]
            if number >= end:
                return
            yield number

    def find(self, value: int) -> list[Found]:
        """Return what has the key of *value* and is within the distance, nearest first."""
        return nearest(value, self.candidates(value), self.max_distance)

    def _place(self, value: int) -> int:
        position, steps = self._search(self._numbers, value)
        self.steps += steps
        return position

    def _stands_at(self, position: int, value: int) -> bool:
        return position < len(self._numbers) and self._numbers[position] == value


class SortedTables(GrowingWay):
    """A sorted list for every table of *plan*.

    *Costs* a search in each table, log2(n) steps by halving or some log2(log2(n)) by guessing, and the comparison
    of n / 2**key_bits candidates each; 8 bytes a fingerprint and table (160 for the classic 20 tables). ``add``
    moves half of every table, O(n); ``add_many`` merges.
    *The right one* for a set that is built once, or that is added to in large batches. ``SortedRuns`` is for one
    that grows, ``FrozenTables`` for one that does not.

    Source: Manku, Jain, Das Sarma, WWW 2007, section 3.

    >>> way = SortedTables(Plan.classic(max_distance=3, blocks=6))
    >>> way.add_many([0b0000, 0b0111, 0b1111])
    >>> way.find(0b0000)
    [Found(value=0, distance=0), Found(value=7, distance=3)]
    """

    def __init__(self, plan: Plan, search: Search = by_halving) -> None:
        """Make empty tables; *search* is ``by_halving`` or ``by_guessing``."""
        self.plan = plan
        self.max_distance = plan.max_distance
        self._permutations = permutations(plan)
        self._tables = [SortedTable(plan.max_distance, bits, search) for bits in plan.key_bits]

    @property
    def steps(self) -> int:
        """How many steps the searches in all tables have taken so far."""
        return sum(table.steps for table in self._tables)

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self._tables[0])

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint, in the order of the first table."""
        return map(self._permutations[0].unpermute, self._tables[0])

    def __contains__(self, value: SupportsIndex) -> bool:
        """Return whether *value* is stored. One search."""
        return self._permutations[0].permute(checked_value(value)) in self._tables[0]

    def add(self, value: SupportsIndex) -> None:
        """Add *value*. O(n): a batch is better brought to ``add_many``."""
        checked = checked_value(value)
        for permutation, table in zip(self._permutations, self._tables, strict=True):
            table.add(permutation.permute(checked))

    def add_many(self, values: Iterable[SupportsIndex]) -> None:
        """Add every one of *values*. O(n + m log m) for m of them, in each table."""
        batch = array("Q", map(checked_value, values))
        for permutation, table in zip(self._permutations, self._tables, strict=True):
            table.add_many(permutation.permute_all(batch))

    def merge(self, other: SortedTables) -> None:
        """Add what *other* holds, which is left as it is. O(n + m) in each table.

        Raises ValueError if its plan is another one.
        """
        if other.plan != self.plan:
            raise ValueError("tables of different plans cannot be merged")
        for mine, others in zip(self._tables, other._tables, strict=True):
            mine.add_many(others)

    def candidates(self, value: int) -> Iterator[int]:
        """Yield what some table finds. A search in each."""
        for permutation, table in zip(self._permutations, self._tables, strict=True):
            for found in table.find(permutation.permute(value)):
                yield permutation.unpermute(found.value)
