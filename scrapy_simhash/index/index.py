"""The exact Hamming search: every fingerprint within a distance, without looking at them all.

The exact Hamming search for wide distances, where ``SimhashIndex`` would need too many tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, SupportsIndex

from scrapy_simhash.index.base import HammingIndex, core_for
from scrapy_simhash.index.growth import FOREVER, schedule
from scrapy_simhash.index.plans import Plan
from scrapy_simhash.index.probing_plan import ProbingPlan


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
        >>> from scrapy_simhash.index.plans import partition
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


class ProbingIndex(HammingIndex):
    """Postings (value, key), searched by Hamming distance. Same methods and matches as ``SimhashIndex``.

    One table for each block of the fingerprint, probed at all keys near the query's; see ``probing_plan``.
    What the probes return is compared with all 64 bits. O(probes + candidates); fingerprints that agree in
    most of a block are candidates of each other, and cost a scan of them.

    >>> index = ProbingIndex(max_distance=10, blocks=4)
    >>> index.add(0x4BBB22FBBC29D9B5, key=1)
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b1111111111)
    [Match(key=1, value=5456993838078482869, distance=10)]
    >>> index.find(0x4BBB22FBBC29D9B5 ^ 0b11111111111)
    []
    """

    __slots__ = ("_plan",)

    def __init__(self, max_distance: SupportsIndex = 8, blocks: SupportsIndex = 5) -> None:
        """Make an empty index over the even plan of *blocks* blocks.

        Few blocks make wide ones: more probes, fewer candidates, which only great indexes have many of.
        The kernel compares so fast that five blocks are faster there than four up to a million and more. Microseconds
        a search and bytes a fingerprint as measured (random ones; see ``benchmarks/index.py``):

        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======
        ..                        candidates                pure Python                      kernel
        ------------------------  ------------------------  -------------------------------  ----------------
        ..                        ..                        microseconds              bytes  microseconds
        ------------------------  ------------------------  ------------------------  -----  ----------------
        distance  blocks  probes  10,000  100,000  million  10,000  100,000  million  ..     100,000  million
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======
        8         3       718     3       28       282      52      133      268      326    16       67
        8         4       188     29      287      2,869    18      56       229      68     4.3      11
        8         5       56      84      842      8,423    13      61       467      70     1.6      9.2
        10        3       3,378   16      155      1,550    233     453      1,223    327    72       258
        10        4       428     65      653      6,531    35      128      532      68     9.9      31
        10        5       135     261     2,612    26,123   28      171      1,454    70     3.7      19
        12        5       291     452     4,517    45,166   62      392      3,799    70     12       76
        ========  ======  ======  ======  =======  =======  ======  =======  =======  =====  =======  =======

        Bytes are for a million; with the kernel 38, or 54 in five blocks. In pure Python cells weigh more when few
        share one (four blocks: 17 bytes with fewer than 500, which are scanned; 500 bytes with 500 to 5,000; 400 with
        10,000), and three blocks or fewer keep their cells in dicts, which stop now and then to double: 40
        milliseconds at a million. The blocks cannot change later: make another index and add to it what this one
        yields.

        Raises ValueError unless *max_distance* is from 0 to 64 and *blocks* from 1 to 64, or if a search
        would take more than 50,000 probes.
        """
        self._set_up(ProbingPlan.even(max_distance, blocks))

    @classmethod
    def from_plan(cls, plan: ProbingPlan) -> ProbingIndex:
        """Return an empty index with the radii of *plan*, whatever they are.

        >>> from scrapy_simhash.index.plans import partition
        >>> len(ProbingIndex.from_plan(ProbingPlan(3, partition(3), (1, 0, 0))))
        0
        """
        index = cls.__new__(cls)
        index._set_up(plan)
        return index

    def _set_up(self, plan: ProbingPlan) -> None:
        self._plan = plan
        self._core = core_for(plan.max_distance, [(FOREVER, plan)])

    @property
    def plan(self) -> ProbingPlan:
        """The plan the tables follow."""
        return self._plan

    @property
    def max_distance(self) -> int:
        """The greatest distance of a match, in bits."""
        return self._plan.max_distance
