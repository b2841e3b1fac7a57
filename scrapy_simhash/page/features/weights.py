"""How much a feature counts: by its zone, by its size, and by how often it occurs.

A weight never depends on the place in the page: a paragraph put in at the top must not move every other
weight. Weights are integers, so that a fold is exact and the same on every platform.
"""

from __future__ import annotations

from functools import cache

#: The weight of a shingle that occurs once in the body. Large enough that rounding is below one per cent.
UNIT = 64

#: Constant factors of the zones of a page. Headings stay when a text is edited, and name what siblings of a
#: template differ in. An offer outweighs the description that variants of a product share. The title is no zone: it
#: names the site as much as the page.
ZONES = {"heading": 3.0, "body": 1.0, "offer": 4.0}

#: The factor of single words beside shingles. Words survive an edit that breaks the shingles around it, but
#: say less about what a page says: at full weight siblings of one template merge.
WORD = 0.7

#: Weight grows with this power of the count. Repeated features steady a fingerprint against edits; at a power of 1
#: a few words of a long and repetitive page would decide alone.
DAMPING = 0.9


@cache
def weight(zone: str, count: int, is_word: bool = False) -> int:
    """Return the weight of a feature that occurs *count* >= 1 times in *zone*.

    >>> weight("body", 1), weight("body", 10), weight("heading", 1), weight("body", 1, is_word=True)
    (64, 508, 192, 45)
    """
    damped: float = count**DAMPING
    return round(UNIT * ZONES[zone] * (WORD if is_word else 1.0) * damped)
