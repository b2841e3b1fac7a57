"""Random fingerprints, some of them planted near others: what ``hamming`` fills an index with and asks it for.

They are uniform, and the same in every run. One in ``PLANTED_EVERY`` was made of an earlier one by turning one to
``DISTANCE`` bits. Of the fresh ones, which come when the index is full, one in ``FRESH_PLANTED_EVERY`` was made of
one it has. What another is made of was not made of another itself, so that ``find_or_add`` has stored it. No two of
the planted are made of one, so that there are as many pairs as planted ones; but for chance, which makes one more in
one of eight times ten million.
"""

from __future__ import annotations

import random
from array import array
from typing import NamedTuple

SEED = 67
DISTANCE = 3
PLANTED_EVERY, FRESH_PLANTED_EVERY = 100, 20
#: Values made at a time: so small that what is drawn leaves no hole in memory for the index to grow in unseen.
STEP = 4_096


class Fingerprints(NamedTuple):
    """What an index is filled with, and what it is asked then."""

    values: array[int]
    #: By each ``PLANTED_EVERY``-th position in ``values``, in order, that of the one it was made of.
    originals: array[int]
    fresh: array[int]
    #: By position in ``fresh``, the position in ``values`` of the one it was made of.
    planted: dict[int, int]


def draw(size: int, fresh: int, seed: int = SEED) -> Fingerprints:
    """Return *size* fingerprints and *fresh* more. Less than a second and 9 megabytes for each million.

    >>> drawn = draw(size=1_000, fresh=40)
    >>> len(drawn.values), len(drawn.originals), sorted(drawn.planted)
    (1000, 10, [0, 20])
    >>> (drawn.values[99] ^ drawn.values[drawn.originals[0]]).bit_count() <= 3
    True
    """
    randoms = random.Random(seed)
    values, originals, used = array("Q"), array("Q"), bytearray(size)
    while len(values) < size:
        values.frombytes(randoms.randbytes(8 * min(STEP, size - len(values))))
    for position in range(PLANTED_EVERY - 1, size, PLANTED_EVERY):
        original = _not_planted(position, randoms)
        while used[original]:
            original = _not_planted(position, randoms)
        used[original] = True
        originals.append(original)
        values[position] = _near(values[original], randoms)
    added = array("Q", randoms.randbytes(8 * fresh))
    planted = {}
    for number in range(0, fresh, FRESH_PLANTED_EVERY):
        planted[number] = _not_planted(size, randoms)
        added[number] = _near(values[planted[number]], randoms)
    return Fingerprints(values, originals, added, planted)


def _not_planted(end: int, randoms: random.Random) -> int:
    """Return a position before *end* whose fingerprint was not made of another."""
    position = randoms.randrange(end)
    return position - (position % PLANTED_EVERY == PLANTED_EVERY - 1)


def _near(value: int, randoms: random.Random) -> int:
    """Return *value* with one to ``DISTANCE`` bits turned."""
    for bit in randoms.sample(range(64), randoms.randint(1, DISTANCE)):
        value ^= 1 << bit
    return value
