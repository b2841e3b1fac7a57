"""What is read of a line of a report, whoever wrote it: numbers that are numbers, and URLs of limited length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

#: Characters of a URL that are kept; the same as Scrapy's URLLENGTH_LIMIT, beyond which it follows no link.
LONGEST_URL = 2083
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class Likeness(NamedTuple):
    """How alike two pages are, as far as is known."""

    distance: int | None
    similarity: float | None
    threshold: float | None
    """The greatest ``SIMHASH_MIN_SIMILARITY`` by which they are near-duplicates."""
    is_same_text: bool


def likeness(line: Mapping[str, Any]) -> Likeness:
    """Return how alike the page of *line* is to the page that it repeats, or what a near miss says."""
    distance = line.get("distance")
    # The distance of a revisit is that from its own former self.
    is_distance = type(distance) is int and 0 <= distance <= 64 and line.get("status") != "revisit"
    return Likeness(
        distance if is_distance else None,
        share(line.get("similarity")),
        share(line.get("threshold")),
        line.get("exact") is True,
    )


def share(value: object) -> float | None:
    """Return *value* if it is a number from 0 to 1, else None.

    >>> share(0.5), share(1), share(True), share(float("nan")), share("1")
    (0.5, 1.0, None, None, None)
    """
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[operator, arg-type]


def kept(url: str) -> str:
    """Return *url*, cut if it is longer than any that Scrapy follows."""
    return url if len(url) <= LONGEST_URL else url[:LONGEST_URL]


def is_time(value: object) -> bool:
    """Tell whether *value* is a time as reports have it."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None
