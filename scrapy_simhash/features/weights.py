"""How much a feature counts: by its zone, and by how often it occurs.

A weight never depends on the place in the page: a paragraph put in at the top must not move every other
weight. Weights are integers, so that a fold is exact and the same on every platform.
"""

from __future__ import annotations

from functools import cache
from math import log

#: The weight of a feature that occurs once in the body. Large enough that rounding is below one per cent.
UNIT = 64

#: Constant factors of the zones of a page. A title names the site as much as the page, and often differs between
#: copies of one text: it does not count. An offer outweighs the description that variants of a product share.
ZONES = {"title": 0.0, "heading": 1.0, "body": 1.0, "offer": 4.0}


@cache
def weight(zone: str, count: int) -> int:
    """Return the weight of a feature that occurs *count* >= 1 times in *zone*: zone factor x (1 + ln count).

    >>> weight("body", 1), weight("body", 10)
    (64, 211)
    """
    return round(UNIT * ZONES[zone] * (1 + log(count)))
