"""What a search returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from scrapy_simhash.display import html_of


class Match(NamedTuple):
    """A posting within the distance asked for.

    >>> Match(key=7, value=0b1011, distance=1)
    Match(key=7, value=11, distance=1)
    """

    #: The number the caller gave the document.
    key: int
    #: The fingerprint as stored, which is not always the one asked for.
    value: int
    #: The Hamming distance between the two, in bits.
    distance: int

    def to_dict(self) -> dict[str, Any]:
        """Return the match as a row of a table; ``fingerprint`` is its value as 16 hexadecimal digits."""
        return {"key": self.key, "fingerprint": f"{self.value:016x}", "distance": self.distance}

    def _repr_html_(self) -> str:
        return html_of(self)


def cut(matches: Iterable[Match], most: int) -> list[Match]:
    """Return the *most* nearest of *matches*, in the order of distance, key, value; of each key the nearest only.

    >>> cut([Match(8, 0b11, 2), Match(9, 0b01, 1), Match(9, 0b00, 0)], 2)
    [Match(key=9, value=0, distance=0)]
    """
    return nearest_first(sorted(matches, key=_order)[:most])


def nearest_first(matches: Iterable[Match]) -> list[Match]:
    """Return *matches* in the order of distance, then key, and of each key the nearest only.

    Of two values equally near under one key the smaller stays.

    >>> nearest_first([Match(8, 0b11, 2), Match(9, 0b01, 1), Match(7, 0b10, 1), Match(9, 0b00, 0)])
    [Match(key=9, value=0, distance=0), Match(key=7, value=2, distance=1), Match(key=8, value=3, distance=2)]
    """
    by_key: dict[int, Match] = {}
    for match in sorted(matches, key=_order):
        by_key.setdefault(match.key, match)
    return list(by_key.values())


def _order(match: Match) -> tuple[int, int, int]:
    return match.distance, match.key, match.value
