"""Sorted tables that grow: a few sorted runs, and a small fresh part that is merged into them now and then.

A sorted table is small and quick to search, but slow to insert into. So nothing is inserted. What is new waits in
a small set, which is compared as a whole. When that is full it becomes a run of its own; and whenever there are
two runs of a size, they are merged into one, as a counter carries::

    fresh   size 1   size 2   size 4
    . . .                                    three new fingerprints, at most three wait
            - - -                            full: a run
    . .     - - -                            two more
                     ------                  full again: 1 + 1 carries to 2
            - - -    ------
                              ------------   1 + 1 carries to 2, 2 + 2 carries to 4

A fingerprint that moves is then in a run of twice the size. So it moves log2(n / fresh) times at most, and there are
one run more at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import SupportsIndex

from scrapy_simhash.index._arguments import checked_integer, checked_value
from scrapy_simhash.index.alternatives.base import GrowingWay
from scrapy_simhash.index.alternatives.interpolation import Search, by_halving
from scrapy_simhash.index.alternatives.sorted_tables import SortedTables
from scrapy_simhash.index.plans.plan import Plan

#: So many wait before they become a run: comparing them takes about as long as searching one run.
FRESH = 256


class SortedRuns(GrowingWay):
    """Runs of sorted tables, their sizes in geometric progression.

    *Costs* a search in each of at most log2(n / fresh) + 1 runs, so up to that many times as much as
    ``SortedTables``; 8 bytes a fingerprint and table. To add one costs a search, and O(log n) moves a table,
    spread over all; at times one ``add`` merges everything.
    *The right one* for a set that grows all the time and is held as compactly as sorted lists, or where files are
    written once and never changed.

    Source: Bentley and Saxe, "Decomposable searching problems", 1980; O'Neil and others, "The log-structured
    merge-tree", 1996.

    >>> way = SortedRuns(Plan.classic(max_distance=3, blocks=6), fresh=4)
    >>> for value in range(15):
    ...     way.add(value)
    >>> way.run_sizes, len(way)
    ((8, 4), 15)
    >>> way.find(0b11110)[:2]
    [Found(value=14, distance=1), Found(value=6, distance=2)]
    """

    def __init__(self, plan: Plan, fresh: SupportsIndex = FRESH, search: Search = by_halving) -> None:
        """Make an empty way. A run begins with *fresh* fingerprints, 1 at least."""
        self.plan = plan
        self.max_distance = plan.max_distance
        #: How many fingerprints were moved by merges so far: the work of growing, in each table.
        self.moved = 0
        self._limit = checked_integer("fresh", fresh)
        if self._limit < 1:
            raise ValueError(f"fresh must be at least 1, got {self._limit}")
        self._search = search
        self._fresh: set[int] = set()
        # By level: a run at level i has from fresh * 2**i to less than twice as many.
        self._runs: dict[int, SortedTables] = {}

    @property
    def run_sizes(self) -> tuple[int, ...]:
        """The lengths of the runs, falling."""
        return tuple(sorted(map(len, self._runs.values()), reverse=True))

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return len(self._fresh) + sum(self.run_sizes)

    def __iter__(self) -> Iterator[int]:
        """Yield every fingerprint."""
        return chain(self._fresh, *self._runs.values())

    def __contains__(self, value: SupportsIndex) -> bool:
        """Return whether *value* is stored. A search in one table of each run."""
        return checked_value(value) in self._fresh or any(value in run for run in self._runs.values())

    def add(self, value: SupportsIndex) -> None:
        """Add *value*. A search in one table of each run, and now and then a merge."""
        if value not in self:
            self._fresh.add(checked_value(value))
            self._carry()

    def add_many(self, values: Iterable[SupportsIndex]) -> None:
        """Add every one of *values*; many at once become a run without waiting."""
        self._fresh.update([checked_value(value) for value in values if value not in self])
        self._carry()

    def candidates(self, value: int) -> Iterator[int]:
        """Yield all that waits, and the candidates of each run."""
        return chain(self._fresh, *(run.candidates(value) for run in self._runs.values()))

    def _carry(self) -> None:
        if len(self._fresh) < self._limit:
            return
        run = SortedTables(self.plan, self._search)
        run.add_many(self._fresh)
        self._fresh = set()
        while (level := (len(run) // self._limit).bit_length() - 1) in self._runs:
            run.merge(self._runs.pop(level))
            self.moved += len(run)
        self._runs[level] = run

    def _check(self) -> None:
        """Assert what must hold between two calls. For tests: O(n)."""
        assert len(self._fresh) < self._limit
        for level, run in self._runs.items():
            assert self._limit << level <= len(run) < self._limit << level + 1
        assert len(set(self)) == len(self), "no fingerprint is stored twice"
