"""Rule: when two fingerprints are near-duplicates. ``SIMHASH_RULE`` names one of two.

One place decides, for the detector, the stores and everyone else. A rule is made of its settings, and its fields are
named as they are: `SimilarityRule.min_similarity` is ``SIMHASH_MIN_SIMILARITY``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from scrapy_simhash.config import Config
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.page.fingerprint import Fingerprint, same_subject, similarity

#: Bits within which fingerprints without a sketch are near-duplicates under the similarity rule: the distance of the
#: classic one. Pages get a sketch under this rule; fingerprints from elsewhere may have none.
BARE_DISTANCE = 3


class Rule(ABC):
    """When two fingerprints are near-duplicates."""

    __slots__ = ()

    name: ClassVar[str]
    """The value of ``SIMHASH_RULE``."""
    compares_sketches: ClassVar[bool]
    """Whether fingerprints need a sketch: 128 bytes more, and the time to make it."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """Bits within which candidates must be looked up."""

    @abstractmethod
    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return how similar two near-duplicates are, 0-1; None if they are not near-duplicates.

        Symmetric. A few microseconds.
        """

    @abstractmethod
    def __str__(self) -> str:
        """Return the rule as the log shows it."""


@dataclass(frozen=True, slots=True)
class SimilarityRule(Rule):
    """The default: candidates by simhash, then a second look at their sketches.

    Two pages are near-duplicates if their fingerprints differ in at most ``candidate_distance`` bits and their
    sketches estimate at least ``min_similarity`` of their shingles in common. Pages with different subjects must be
    more similar, 0.95 where 0.8 would do otherwise: pages of one template differ in a name and little else.

    >>> SimilarityRule().similarity(Fingerprint(0), Fingerprint(0b111))
    0.953125
    """

    name: ClassVar[str] = "similarity"
    compares_sketches: ClassVar[bool] = True

    candidate_distance: int = Config.candidate_distance
    """Bits, 0 to 20."""
    min_similarity: float = Config.min_similarity
    """Share of common shingles (Jaccard), above 0 and at most 1."""

    @property
    def reach(self) -> int:
        """Bits within which candidates must be looked up: ``candidate_distance``."""
        return self.candidate_distance

    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return the estimated share of common shingles; None if they are not near-duplicates.

        If one of the two has no sketch: 1 minus the share of differing bits, within `BARE_DISTANCE`.
        """
        distance = hamming_distance(a.value, b.value)
        if distance > self.candidate_distance:
            return None
        if not (a.sketch and b.sketch):
            return _by_bits(distance) if distance <= BARE_DISTANCE else None
        estimate = similarity(a.sketch, b.sketch)
        least = self.min_similarity
        if not same_subject(a.sketch, b.sketch):
            least = 1 - (1 - least) / 4
        return estimate if estimate >= least else None

    def __str__(self) -> str:
        """Return the rule as the log shows it."""
        least = f"{self.min_similarity:.2f}"
        if float(least) != self.min_similarity:
            least = f"{self.min_similarity:g}"
        return f"simhash distance <= {self.candidate_distance}, similarity >= {least}"


@dataclass(frozen=True, slots=True)
class ClassicRule(Rule):
    """The published method: at most ``max_distance`` differing bits, and nothing else.

    Source: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007: 64 bits, 3 of them.
    """

    name: ClassVar[str] = "classic"
    compares_sketches: ClassVar[bool] = False

    max_distance: int = Config.max_distance
    """Bits, 0 to 63."""

    @property
    def reach(self) -> int:
        """Bits within which candidates must be looked up: ``max_distance``."""
        return self.max_distance

    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return 1 minus the share of differing bits; None if they are not near-duplicates."""
        distance = hamming_distance(a.value, b.value)
        return _by_bits(distance) if distance <= self.max_distance else None

    def __str__(self) -> str:
        """Return the rule as the log shows it."""
        return f"simhash distance <= {self.max_distance}"


#: The default rule.
DEFAULT_RULE = SimilarityRule()
#: The rules by the value of ``SIMHASH_RULE``.
RULES: dict[str, type[Rule]] = {kind.name: kind for kind in (SimilarityRule, ClassicRule)}


def rule_of(config: Config) -> Rule:
    """Return the rule that *config* names, with its settings."""
    kind = RULES[config.rule]
    return kind(**{name: getattr(config, name) for name in rule_fields(kind)})


def rule_fields(kind: type[Rule]) -> tuple[str, ...]:
    """Return the names of the settings that a *kind* of rule compares by, as `Config` has them."""
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]  # each is a dataclass


def _by_bits(distance: int) -> float:
    return 1 - distance / 64
