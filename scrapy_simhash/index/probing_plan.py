"""How far from the query each block is probed, and why no near fingerprint escapes.

Give every block a *radius*: its table is probed at all keys within so many bits of the query's own. A
fingerprint escapes only if it differs in more than the radius in **every** block, that is in at least the sum
of radius + 1 over the blocks. So *k* + 1 *units*, shared out among the blocks, are exact, if a block with *u*
of them has the radius *u* - 1 and one with none needs no table::

    k = 10, eleven units     |    A    |    B    |    C    |    D    |
    units                         2         3         3         3
    radius                        1         2         2         2
    escapes from                  2    +    3    +    3    +    3         bits on, which is 11

Source: Norouzi, Punjani, Fleet, "Fast search in Hamming space with multi-index hashing", CVPR 2012, which has
one radius for all blocks; the sum is the pigeonhole principle in its general form (Qin et al., "GPH:
similarity search in Hamming space", ICDE 2018).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import SupportsIndex

from scrapy_simhash.index.plans import Block, check_apart, partition
from scrapy_simhash.index.values import checked_distance, checked_integer

#: A search that probes more takes milliseconds whatever the size.
MAX_PROBES = 50_000


@dataclass(frozen=True, slots=True)
class ProbingPlan:
    """An exact radius for every block. A plan that can be made is exact.

    A radius of -1 means no table. Raises ValueError if blocks overlap, if there is not one radius a block, if the
    plan would miss pairs, or if a search would take more than 50,000 probes.

    >>> ProbingPlan(max_distance=3, blocks=partition(2), radii=(1, 1)).probes
    66
    >>> ProbingPlan(max_distance=3, blocks=partition(2), radii=(1, 0))
    Traceback (most recent call last):
        ...
    ValueError: radii (1, 0) miss pairs that differ in 3 bits: with one added to each the sum must exceed that
    """

    max_distance: int
    blocks: tuple[Block, ...]
    radii: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse a plan that is malformed, would miss a match, or takes too long."""
        check_apart(self.blocks)
        if len(self.radii) != len(self.blocks) or min(self.radii, default=-1) < -1:
            raise ValueError(
                f"there must be a radius, -1 or more, for each of {len(self.blocks)} blocks, got {self.radii}"
            )
        if sum(radius + 1 for radius in self.radii) <= self.max_distance:
            raise ValueError(
                f"radii {self.radii} miss pairs that differ in {self.max_distance} bits: "
                "with one added to each the sum must exceed that"
            )
        if self.probes > MAX_PROBES:
            raise ValueError(
                f"max_distance {self.max_distance} with {len(self.blocks)} blocks: {self.probes:,} probes a "
                f"search are too many, the limit is {MAX_PROBES:,}"
            )

    @classmethod
    def even(cls, max_distance: SupportsIndex = 8, blocks: SupportsIndex = 5) -> ProbingPlan:
        """Return the plan that shares *max_distance* + 1 units out evenly among *blocks* blocks.

        Where the units do not come out even, or are fewer than the blocks, the blocks that get one more are
        those that make the fewest probes, and then the fewest candidates.

        Raises ValueError unless *max_distance* is from 0 to 64 and *blocks* from 1 to 64, or if a search
        would take more than 50,000 probes.

        >>> ProbingPlan.even(max_distance=10, blocks=4).radii
        (1, 2, 2, 2)
        >>> ProbingPlan.even(max_distance=1, blocks=3).radii
        (0, 0, -1)
        """
        k = checked_distance(max_distance)
        cut = partition(checked_integer("blocks", blocks))
        units, left = divmod(k + 1, len(cut))
        # Blocks have one width or two, the wider leading. The sums change by the same for each unit moved
        # from the one sort to the other, so that an end of the row is as good as any choice.
        leading = (units,) * left + (units - 1,) * (len(cut) - left)
        return cls(k, cut, min(leading[::-1], leading, key=lambda radii: _work(cut, radii)))

    @property
    def name(self) -> str:
        """What the plan is called: ``probing 4`` has four blocks that are probed."""
        return f"probing {sum(radius >= 0 for radius in self.radii)}"

    @property
    def probes(self) -> int:
        """How many keys a search looks up."""
        return _work(self.blocks, self.radii)[0]

    @property
    def widths(self) -> tuple[int, ...]:
        """The bits of the key of each table."""
        return tuple(
            block.width for block, radius in zip(self.blocks, self.radii, strict=True) if radius >= 0
        )

    @property
    def share(self) -> float:
        """The part of random fingerprints that are candidates of a search, one in two tables counted twice."""
        return _work(self.blocks, self.radii)[1]


def _work(blocks: Iterable[Block], radii: Iterable[int]) -> tuple[int, float]:
    """Return the number of probes, and the share of random fingerprints that are candidates."""
    probes, share = 0, 0.0
    for block, radius in zip(blocks, radii, strict=True):
        ball = _ball(block, radius)
        probes += ball
        share += ball / (1 << block.width)
    return probes, share


def _ball(block: Block, radius: int) -> int:
    """Return how many keys of *block* lie within *radius* bits of one of them."""
    return sum(comb(block.width, bits) for bits in range(radius + 1))
