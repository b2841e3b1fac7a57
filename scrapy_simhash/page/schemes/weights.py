"""How much a feature counts by how often it occurs; a scheme multiplies it with the constant of its kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path

from scrapy_simhash.page.features.weights import DAMPING

#: A feature, and how often it occurs on the page, at least once; returns a weight of 0 or more.
Weighing = Callable[[str | int, int], float]


def uniform(feature: str | int, count: int) -> float:
    """Return 1: each distinct feature has one vote."""
    return 1.0


def term_frequency(feature: str | int, count: int) -> float:
    """Return *count*, as the Java class and the paper's examples do. Common words decide nearly alone."""
    return float(count)


def log_frequency(feature: str | int, count: int) -> float:
    """Return 1 + ln *count*: a word that occurs a hundred times has six votes, not a hundred."""
    return 1.0 + log(count)


def damped_frequency(feature: str | int, count: int) -> float:
    """Return *count* to the power of 0.9, as the default scheme does."""
    damped: float = count**DAMPING
    return damped


@dataclass(frozen=True)
class Capped:
    """Another weighing, and a weight above which no feature comes.

    >>> Capped(term_frequency, 5)("the", 100)
    5
    """

    weigh: Weighing
    most: float

    def __call__(self, feature: str | int, count: int) -> float:
        """Return the weight, at most ``most``."""
        return min(self.most, self.weigh(feature, count))


@dataclass(frozen=True)
class FrozenIdf:
    """Another weighing, times the inverse document frequency of the feature by a file that never changes.

    The file is one JSON object: ``{"documents": 1000, "frequencies": {"the": 990, "harbour": 3}}``. A feature that is
    not in it counts as one of a single document. A file that changes with the crawl would change the fingerprints of
    equal pages: with another file, give the scheme another version.
    """

    weigh: Weighing
    file: str

    def __call__(self, feature: str | int, count: int) -> float:
        """Return the weight; 0 for what is in every document."""
        documents, frequencies = self._counts
        return self.weigh(feature, count) * log(documents / frequencies.get(str(feature), 1))

    @cached_property
    def _counts(self) -> tuple[int, dict[str, int]]:
        held = json.loads(Path(self.file).read_text("utf-8"))
        return held["documents"], held["frequencies"]
