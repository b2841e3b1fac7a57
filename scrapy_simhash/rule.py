"""Rule: when two fingerprints are near-duplicates. ``SIMHASH_RULE`` names one of two.

One place decides, for the detector, the stores and everyone else. A rule is made of its settings, and its fields are
named as they are: `SimilarityRule.min_similarity` is ``SIMHASH_MIN_SIMILARITY``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

from scrapy_simhash.config import Config
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.page.fingerprint import (
    DOUBTFUL,
    PART,
    UNKNOWN,
    WHOLE,
    Fingerprint,
    OwnPart,
    equal_subject,
    same_subject,
    similarity,
)

#: Bits within which fingerprints without a sketch are near-duplicates under the similarity rule: the distance of the
#: classic one. Pages get a sketch under this rule; fingerprints from elsewhere may have none.
BARE_DISTANCE = 3
#: Until something is known about a site, pages with different subjects are different, since most sites repeat some
#: text; where one subject has all words of the other, texts must be equal as far as sketches tell. Texts of so many
#: tokens and more are told apart by their own words all the same.
LONG_TEXT = 1_000
EQUAL_SIMILARITY = 0.98
#: Own parts with fewer tokens are too short to find a copy by: they only confirm one.
SHORT_OWN_PART = 30
#: Of versions of one page, with equal subjects on sites that are known, less must agree if they have so many tokens.
LEAST_VERSION = 50
_KNOWN = frozenset((WHOLE, PART))


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

    def compare(self, a: Fingerprint, b: Fingerprint) -> tuple[float | None, float | None]:
        """Return what similarity() returns, and what it would return without own parts, by all text of both pages."""
        found = self.similarity(a, b)
        return found, found

    @abstractmethod
    def __str__(self) -> str:
        """Return the rule as the log shows it."""


@dataclass(frozen=True, slots=True)
class SimilarityRule(Rule):
    """The default: candidates by simhash, then a second look at their sketches.

    Two pages are near-duplicates if their fingerprints differ in at most ``candidate_distance`` bits and their
    sketches estimate at least ``min_similarity`` of their shingles in common. Pages with different subjects must be
    more similar, 0.95 where 0.8 would do otherwise: pages of one template differ in a name and little else.

    Where the fingerprints have own parts (``SIMHASH_SITE_LEARNING``), these decide: see ``docs/concepts/site.rst``.
    On sites that are known, 0.7 is enough for pages with equal subjects: versions of one page.

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

        If one of the two has no sketch: 1 minus the share of differing bits, within `BARE_DISTANCE`. Where something
        was learned about both sites, the own parts of the two pages decide.
        """
        return self.compare(a, b)[0]

    def compare(self, a: Fingerprint, b: Fingerprint) -> tuple[float | None, float | None]:
        """Return what similarity() returns, and what it would return without own parts, by all text of both pages."""
        distance = hamming_distance(a.value, b.value)
        if not (a.sketch and b.sketch):
            bare = _by_bits(distance) if distance <= min(BARE_DISTANCE, self.candidate_distance) else None
            return bare, bare
        is_same = same_subject(a.sketch, b.sketch)
        least = self.min_similarity if is_same else 1 - (1 - self.min_similarity) / 4
        estimate = similarity(a.sketch, b.sketch) if distance <= self.candidate_distance else None
        by_text = _at_least(least, estimate)
        if not (a.own and b.own):
            return by_text, by_text
        is_equal = equal_subject(a.sketch, b.sketch)
        own_a, own_b = OwnPart.from_bytes(a.own), OwnPart.from_bytes(b.own)
        kinds = {own_a.kind, own_b.kind}
        if is_equal and kinds <= _KNOWN and min(own_a.tokens, own_b.tokens) >= LEAST_VERSION:
            least = 1 - 1.5 * (1 - self.min_similarity)
        whole = _at_least(least, estimate)
        # A known site repeats nothing of a WHOLE page: so text that it shares with an UNKNOWN one is no site's text.
        if not kinds.isdisjoint((UNKNOWN, DOUBTFUL)) and kinds != {UNKNOWN, WHOLE}:
            if not is_equal and min(own_a.tokens, own_b.tokens) < LONG_TEXT:
                whole = _at_least(EQUAL_SIMILARITY, estimate) if is_same else None
            if whole is not None:
                return whole, by_text
            # Under the template of a site that is known, it may be a copy all the same.
        if PART not in kinds:
            return whole, by_text
        return self._of_own_parts(_Own.of(a, own_a), _Own.of(b, own_b), is_equal, least, whole), by_text

    def _of_own_parts(
        self, a: _Own, b: _Own, is_equal: bool, least: float, whole: float | None
    ) -> float | None:
        """Return how similar two pages are by what is not their sites'; *whole* is what all their text says.

        Own parts that agree are enough, whatever surrounds them. Texts that agree are not, if that rests on what the
        site repeats. Where the subjects are equal, the smaller own part must be in the larger one: what was learned
        after the first of two pages had come is left out of the second one only.
        """
        estimate = similarity(a.minhash, b.minhash)
        fewer, more = sorted((a.tokens, b.tokens))
        if fewer >= SHORT_OWN_PART and estimate >= least:
            is_within = (
                bool(a.value and b.value) and hamming_distance(a.value, b.value) <= self.candidate_distance
            )
            if is_within:
                return estimate
        if is_equal:
            contained = estimate / (1 + estimate) * (fewer + more) / fewer if fewer else 1.0
            return whole if contained >= self.min_similarity else None
        return whole if fewer >= SHORT_OWN_PART and estimate >= 1 - 2 * (1 - least) else None

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


class _Own(NamedTuple):
    """What is compared of a page that is not its site's: all of it, where nothing is."""

    tokens: int
    value: int
    minhash: bytes

    @classmethod
    def of(cls, fingerprint: Fingerprint, own: OwnPart) -> _Own:
        if own.kind == PART:
            return cls(own.tokens, own.value, own.minhash)
        return cls(own.tokens, fingerprint.value, fingerprint.sketch)


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


def _at_least(least: float, estimate: float | None) -> float | None:
    return estimate if estimate is not None and estimate >= least else None


def _by_bits(distance: int) -> float:
    return 1 - distance / 64
