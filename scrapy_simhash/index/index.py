"""The exact Hamming search: every fingerprint within a distance, without looking at them all."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, SupportsIndex

from scrapy_simhash.index.base import HammingIndex, core_for
from scrapy_simhash.index.plans.growth import FOREVER, schedule
from scrapy_simhash.index.plans.plan import Plan


class SimhashIndex(HammingIndex):
    """Postings (value, key), searched by Hamming distance. Finds exactly what ``LinearScan`` finds.

    A search probes every table for the fingerprints that agree in that table's key and compares those with
    all 64 bits. Random fingerprints are candidates once in 2**32 for each table of 32 key bits; those that agree
    in a whole key all are, and cost a scan of them. Up to some thousand fingerprints there are no tables yet: a
    scan of all is faster.

    >>> index = SimhashIndex(max_distance=3, blocks=6)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB62FB9C29C9B5)
    [Match(key=1, value=5456993838078482869, distance=3)]
    >>> index.find(0)
    []
    """

    __slots__ = ("_max_distance", "_plans")

    def __init__(
        self,
        max_distance: SupportsIndex = 3,
        blocks: SupportsIndex | Literal["auto"] = 6,
        expected: SupportsIndex = 0,
    ) -> None:
        """Make an empty index over the classic plan of ``comb(blocks, max_distance)`` tables, or the best there is.

        ``blocks="auto"`` takes the plan that was measured as the fastest within some 40 bytes a fingerprint, and goes
        on to another when the index has outgrown it: the new tables are filled bit by bit, some postings with every
        insert, while the old ones answer. With *expected* fingerprints it begins with the plan for so many. A number
        of blocks decides by itself: *expected* then says nothing.

        Few blocks make few tables but short keys, which have more candidates. They must be more than
        *max_distance*, so that a distance of 6 or more wants them given, or ``"auto"``. From there on
        ``ProbingIndex`` takes less memory, and less time with a million. An index over any other plan: `from_plan`.

        Raises ValueError unless 0 <= *max_distance* < *blocks* <= 64, or if there would be more than 1,000
        tables.

        >>> SimhashIndex(max_distance=6, blocks="auto", expected=1_000_000).max_distance
        6
        """
        if blocks == "auto":
            self._set_up(schedule(max_distance, expected))
        else:
            self._set_up([(FOREVER, Plan.classic(max_distance, blocks))])

    @classmethod
    def from_plan(cls, plan: Plan) -> SimhashIndex:
        """Return an empty index over the tables of *plan*, whatever they are.

        >>> from scrapy_simhash.index import plans_for
        >>> SimhashIndex.from_plan(plans_for(3)["8x24"]).plan.name
        '8x24'
        >>> from scrapy_simhash.index.plans.blocks import partition
        >>> two_triangles = ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))
        >>> len(SimhashIndex.from_plan(Plan(3, partition(6), two_triangles)))
        0
        """
        return cls.from_plans([(FOREVER, plan)])

    @classmethod
    def from_plans(cls, plans: Iterable[tuple[int, Plan]]) -> SimhashIndex:
        """Return an empty index that goes through *plans*, each with how many fingerprints it serves up to.

        The last one serves on, whatever its number. Raises ValueError if there is no plan, if the numbers do not
        rise, or if the plans have different distances, and TypeError for what is no `Plan`.

        >>> index = SimhashIndex.from_plans([(30_000, Plan.classic(3, 4)), (10**12, Plan.classic(3, 5))])
        >>> index.plan.name
        '4x16'
        """
        stages = list(plans)
        for _, plan in stages:
            if not isinstance(plan, Plan):
                raise TypeError(f"a plan must be a Plan, got {plan!r}")
        if len({plan.max_distance for _, plan in stages}) != 1:
            distances = [plan.max_distance for _, plan in stages]
            raise ValueError(
                f"blocks must be one or more plans for the same distance, got plans for distances {distances}"
            )
        if any(upto >= later for (upto, _), (later, _) in pairwise(stages)):
            raise ValueError(f"the numbers of fingerprints must rise, got {[upto for upto, _ in stages]}")
        index = cls.__new__(cls)
        index._set_up(stages)
        return index

    def _set_up(self, plans: list[tuple[int, Plan]]) -> None:
        self._plans = plans
        self._max_distance = plans[0][1].max_distance
        self._core = core_for(self._max_distance, plans)

    @property
    def plan(self) -> Plan:
        """The plan that the tables follow, or would if they were not still a scan."""
        return next((plan for upto, plan in self._plans if self._core.values < upto), self._plans[-1][1])

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._max_distance
