"""Groups of near fingerprints, in the two ways that are usual.

*Connected* groups hold whatever a chain of near pairs leads to. They do not depend on any order, and their ends can
be far apart. Groups around *representatives* are what a crawl makes: a fingerprint joins one that came before it and
is near, or stands for itself; members are near their representative, and it matters what came first::

    a --2-- b --3-- c        a and b are near, b and c are, a and c are not

    connected                {a, b, c}
    represented              {a, b} {c}  in the order a b c;  {b, a, c}  in the order b a c
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Literal, SupportsIndex

from scrapy_simhash.index.index import SimhashIndex
from scrapy_simhash.index.plans import Plan
from scrapy_simhash.index.values import Progress, paced, row_of

#: So many values are asked for at a time.
BATCH = 1 << 10


def connected(pairs: Iterable[tuple[int, int] | tuple[int, int, int]]) -> list[list[int]]:
    """Return the groups of values that *pairs* connect, directly or through others.

    A group is sorted, and groups are in the order of their first members; what has no pair is in none. A pair is
    (value, value) or, as from ``pairs``, (value, value, distance), and is forgotten once read: memory is for the
    values in them, some 230 bytes each, however many pairs there are. One to four microseconds a pair.

    Source: Galler, Fischer, "An improved equivalence algorithm", 1964.

    >>> from scrapy_simhash.index.pairs import pairs
    >>> connected(pairs([0b0000000, 0b0000111, 0b1111111, 0b0111111]))
    [[0, 7, 63, 127]]
    >>> connected([(8, 9), (1, 7), (7, 2)])
    [[1, 2, 7], [8, 9]]
    """
    places: dict[int, int] = {}
    # By place: one that is nearer to the root of its group, or the root itself.
    parents = array("I")
    for pair in pairs:
        first = places.setdefault(pair[0], len(parents))
        if first == len(parents):
            parents.append(first)
        second = places.setdefault(pair[1], len(parents))
        if second == len(parents):
            parents.append(second)
        first, second = _root(parents, first), _root(parents, second)
        parents[max(first, second)] = min(first, second)
    groups: dict[int, list[int]] = {}
    for place, value in enumerate(places):
        groups.setdefault(_root(parents, place), []).append(value)
    return sorted(map(sorted, groups.values()))


def _root(parents: array[int], place: int) -> int:
    # Each step lets a place skip one, so that the way is half as long the next time.
    while (parent := parents[place]) != place:
        parents[place] = place = parents[parent]
    return place


def representatives(
    values: Iterable[SupportsIndex],
    max_distance: SupportsIndex = 3,
    blocks: SupportsIndex | Plan | Literal["auto"] = "auto",
    progress: Progress | None = None,
) -> array[int]:
    """Return for each of *values* the place of its representative in *values*: its own place where it is one.

    In their order, a value within *max_distance* of representatives that came before it joins the nearest, the
    earliest of equally near ones; any other is one from now on. *blocks* is that of `SimhashIndex`, or a plan.
    *progress* is called with the share that is done, 0.0 to 1.0, at most four times a second.

    Takes 8 bytes a value for the answer and as many for a copy of what is no buffer, see `row_of`, and beside them
    the index, which has the representatives only. The time is that of ``find_or_add_many``.

    Raises TypeError or ValueError for values, distances and numbers of blocks that are none, and ValueError for a
    plan of another distance.

    >>> representatives([0b0000000, 0b0000111, 0b0111111, 0b0000001]).tolist()
    [0, 0, 2, 0]
    """
    row, tell = row_of(values), paced(progress)
    if not isinstance(blocks, Plan):
        index = SimhashIndex(max_distance, blocks, expected=len(row))
    elif blocks.max_distance == max_distance:
        index = SimhashIndex.from_plan(blocks)
    else:
        raise ValueError(
            f"blocks is a plan for distance {blocks.max_distance}, but max_distance is {max_distance}"
        )
    chosen = array("q")
    for start in range(0, len(row), BATCH):
        batch = row[start : start + BATCH]
        places = range(start, start + len(batch))
        nearest = index.find_or_add_many(batch, places)
        chosen.extend(place if near < 0 else near for near, place in zip(nearest, places, strict=True))
        tell(len(chosen) / len(row))
    if not chosen:
        tell(1.0)
    return chosen
