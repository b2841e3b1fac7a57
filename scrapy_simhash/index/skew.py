"""How selective the keys of a plan are for real fingerprints, which share bits where random ones do not.

A key of 16 bits splits random fingerprints into 65,536 equal parts, so that two of them agree in it once in 65,536
times. If those of a crawl agree four times as often, the key is worth 14 bits, its *effective bits*, and a search has
four times the candidates. Two of *n* fingerprints can be picked in n * n / 2 ways, so that a sample of 20,000 shows
what a key of 27 bits is worth.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log2

from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.plans.blocks import key_mask
from scrapy_simhash.index.plans.covers import plans_for
from scrapy_simhash.index.plans.plan import Plan
from scrapy_simhash.index.plans.probing_plan import ProbingPlan
from scrapy_simhash.index.pure.cells import flips

#: Of more fingerprints, so many are drawn: enough for the short keys that skew hurts.
SAMPLE = 20_000
SEED = 64
MOST_LOOKED_UP = 4_000_000


def sample_of(values: Sequence[int], max_distance: int) -> array[int]:
    """Return what an index would store of *values*, or of 20,000 of them drawn at random but always the same.

    Those within *max_distance* of an earlier one are left out: they are matches, which a search is for. The cost is
    one search for each.

    >>> sample_of([0b0001, 0b1000, 2**40 - 1], max_distance=3).tolist()
    [1, 1099511627775]
    """
    drawn = random.Random(SEED).sample(values, SAMPLE) if len(values) > SAMPLE else values
    # The longest keys, for the fewest candidates even here.
    *_, longest = sorted(plans_for(max_distance).values(), key=lambda plan: min(plan.key_bits))
    nearest = SimhashIndex.from_plan(longest).find_or_add_many(drawn)
    return array("Q", (value for value, key in zip(drawn, nearest, strict=True) if key == -1))


def probed_share(plan: ProbingPlan, values: Iterable[int]) -> float:
    """Return the part of *values*, distinct ones, that are candidates of one of them, as ``ProbingPlan.share`` does.

    That of random fingerprints for a block in which no two are near. At most some million keys are looked up: with
    large radii not every value is asked for.

    >>> plan = ProbingPlan.even(max_distance=1, blocks=1)
    >>> probed_share(plan, [0b00, 0b01, 0b11])  # of the two others: one, both, one
    0.6666666666666666
    """
    values = list(values)
    share = 0.0
    for block, radius in zip(plan.blocks, plan.radii, strict=True):
        if radius < 0:
            continue
        ball = flips(block.width, radius)
        asked = values[:: max(1, len(values) * len(ball) // MOST_LOOKED_UP)]
        counts = Counter(map(block.of, values))
        near = sum(counts[part ^ flip] for part in map(block.of, asked) for flip in ball) - len(asked)
        share += near / (len(asked) * (len(values) - 1)) if near else len(ball) / (1 << block.width)
    return share


def effective_bits(plan: Plan, values: Iterable[int]) -> tuple[float, ...]:
    """Return of every key of *plan* the bits it is worth for *values*, distinct ones.

    That is the bits of a key in which random fingerprints agree as often. It is what the key has where no two of
    *values* agree, or hardly any: the sample does not show more. O(tables * n).

    >>> effective_bits(Plan.classic(max_distance=1, blocks=2), [number << 32 for number in range(1024)])
    (32.0, 0.0)
    """
    values = list(values)
    pairs = len(values) * (len(values) - 1)
    worth = []
    for key, width in zip(plan.keys, plan.key_bits, strict=True):
        mask = key_mask(plan.blocks, key)
        alike = sum(count * (count - 1) for count in Counter(value & mask for value in values).values())
        worth.append(min(float(width), log2(pairs / alike)) if alike else float(width))
    return tuple(worth)
