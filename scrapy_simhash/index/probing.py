"""The exact Hamming search for wide distances, where ``SimhashIndex`` would need too many tables."""

from __future__ import annotations

from typing import SupportsIndex

from scrapy_simhash.index.base import HammingIndex, core_for
from scrapy_simhash.index.plans.growth import FOREVER
from scrapy_simhash.index.plans.probing_plan import ProbingPlan


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

        >>> from scrapy_simhash.index.plans.blocks import partition
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
