"""The two rules for near-duplicates; ``SIMHASH_RULE`` selects one.

Detector, stores and batch commands compare with the same rule. The fields of a rule are named after its settings:
`SimilarityRule.min_similarity` is ``SIMHASH_MIN_SIMILARITY``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from scrapy_simhash import kernel
from scrapy_simhash.config import DISTANCES, Config
from scrapy_simhash.index import hamming_distance
from scrapy_simhash.judge.measured import BASES, NOT_NEAR, Measured
from scrapy_simhash.judge.second_look import OTHER_TITLE, VERSION, decide, threshold
from scrapy_simhash.page.fingerprint import (
    PART,
    Fingerprint,
)

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import SecondLook

#: The compiled second_look.py.
_COMPILED = "scrapy_simhash.kernel._second_look"


class Near(NamedTuple):
    """A result of compare_all()."""

    place: int
    similarity: float | None
    """None if the two pages are not near-duplicates by the rule."""
    by_text: float | None
    """Similarity of all text of the two pages; None if they are not near-duplicates by all text."""
    contradicts: bool = False
    """Whether facts other than names contradict each other: such a copy is protected from dropping."""


class Nearest(NamedTuple):
    """The result of nearest()."""

    place: int
    similarity: float
    """Estimated share of shingles in common, 0-1: of all text or of unique text, whichever is greater. Also set for
    pages that are not near-duplicates."""
    threshold: float
    """The greatest ``SIMHASH_MIN_SIMILARITY`` at which the two are near-duplicates, in steps of 0.001; 0 if there is
    no such value."""
    decided_by: str
    """The basis of the decision, one of `BASES`."""
    required: float
    """The similarity that this basis requires, 0-1; it depends on ``SIMHASH_MIN_SIMILARITY``."""


class Rule(ABC):
    """Decides whether two fingerprints are near-duplicates."""

    __slots__ = ()

    name: ClassVar[str]
    """The value of ``SIMHASH_RULE``."""
    compares_sketches: ClassVar[bool]
    """Whether fingerprints need a MinHash sketch of 129 to 256 bytes, which takes time to make."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """Max Hamming distance, in bits, of candidates."""

    @abstractmethod
    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return the similarity of two near-duplicates, 0-1; None if they are not near-duplicates.

        The similarity is symmetric. Takes a few microseconds.
        """

    def compare_all(self, one: Fingerprint, others: Sequence[bytes], is_generic: bool = False) -> list[Near]:
        """Compare a fingerprint with others, given as results of ``Fingerprint.compared_bytes()``.

        *is_generic* means that other pages with the title of *one* are not near-duplicates of each other. Return the
        results for those that are near-duplicates by unique text, by all text, or by both. Raises ValueError for
        bytes that are not a fingerprint.
        """
        near = []
        for place, data in enumerate(others):
            found = self.similarity(one, Fingerprint.from_compared_bytes(data))
            if found is not None:
                near.append(Near(place, found, found))
        return near

    def nearest(self, one: Fingerprint, others: Sequence[bytes], is_generic: bool = False) -> Nearest | None:
        """Return the most similar of *others*, whether a near-duplicate or not; the first one on ties.

        None if *others* is empty, or if the rule compares only bits. Arguments as in compare_all().
        """
        return None

    @property
    def native(self) -> SecondLook | None:
        """The compiled rule of the C extension; None if pure Python compares."""
        return None

    @abstractmethod
    def __str__(self) -> str:
        """Return the rule as the log shows it."""


@dataclass(frozen=True, slots=True)
class SimilarityRule(Rule):
    """The default rule: find candidates by simhash, then verify them by their sketches.

    Two pages are near-duplicates if their fingerprints differ in at most ``max_distance`` bits or their titles are
    equal, and if their sketches estimate at least ``min_similarity`` of their shingles in common. If each title has a
    word that the other lacks, the required similarity is 0.95 instead of 0.8, because pages of one template may
    differ only in a name.

    If the fingerprints have unique text (``SIMHASH_SITE_LEARNING``), the unique text decides, see the table in
    docs/concepts/how-it-works.rst. On known sites, a similarity of 0.7 is enough for pages with equal titles
    (versions of one page), unless three clusters have that title. Pages whose names contradict each other are not
    near-duplicates.

    All these thresholds are relative to ``min_similarity``: raising it never makes a pair near-duplicates, and at 1
    only equal texts are near-duplicates.

    >>> SimilarityRule().similarity(Fingerprint(0), Fingerprint(0b111))
    0.953125
    """

    name: ClassVar[str] = "similarity"
    compares_sketches: ClassVar[bool] = True

    max_distance: int = DISTANCES["similarity"]
    """Bits, 0 to 20."""
    min_similarity: float = Config.min_similarity
    """Share of common shingles (Jaccard), above 0 and at most 1."""

    @property
    def reach(self) -> int:
        """Max Hamming distance, in bits, of candidates: ``max_distance``."""
        return self.max_distance

    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return the estimated share of common shingles; None if they are not near-duplicates.

        If one of the two has no sketch, the result is 1 minus the share of differing bits, and None beyond
        `BARE_DISTANCE` bits. If both sites are known, the unique text of the two pages decides.
        """
        measured = self._decided(a, b)
        return None if measured.similarity == NOT_NEAR else measured.similarity

    def compare_all(self, one: Fingerprint, others: Sequence[bytes], is_generic: bool = False) -> list[Near]:
        """See `Rule.compare_all`. Takes 50 ns per fingerprint with the C extension, 10 to 20 µs in pure Python."""
        if (look := self.native) is not None:
            return [Near(*found) for found in look.compare(one.compared_bytes(), list(others), is_generic)]
        near = []
        for place, data in enumerate(others):
            measured = self._decided(one, Fingerprint.from_compared_bytes(data), is_generic)
            similarity, by_text = (
                None if value == NOT_NEAR else value for value in (measured.similarity, measured.by_text)
            )
            if similarity is not None or by_text is not None:
                near.append(Near(place, similarity, by_text, measured.contradiction > 0))
        return near

    def nearest(self, one: Fingerprint, others: Sequence[bytes], is_generic: bool = False) -> Nearest | None:
        """See `Rule.nearest`. Takes half a microsecond longer than compare_all()."""
        if (look := self.native) is not None:
            found = look.nearest(one.compared_bytes(), list(others), is_generic)
            return None if found is None else Nearest(*found[:3], BASES[found[3]], found[4])
        best = None
        for place, data in enumerate(others):
            other = Fingerprint.from_compared_bytes(data)
            pair = Measured(one, other, self.min_similarity, self.max_distance, is_generic)
            if pair.alike > (NOT_NEAR if best is None else best[0]):
                best = pair.alike, place, pair
        if best is None:
            return None
        alike, place, pair = best
        decide(pair)
        basis, required = BASES[pair.basis], pair.least
        return Nearest(place, alike, threshold(pair), basis, required)

    @property
    def native(self) -> SecondLook | None:
        """The compiled rule of the C extension; None if pure Python compares."""
        return _native_look(self.min_similarity, self.max_distance)

    def _decided(self, a: Fingerprint, b: Fingerprint, is_generic: bool = False) -> Measured:
        measured = Measured(a, b, self.min_similarity, self.max_distance, is_generic)
        decide(measured)
        return measured

    def __str__(self) -> str:
        """Return the rule as the log shows it."""
        found = f"simhash distance <= {self.max_distance} or equal titles"
        if self.min_similarity == 1:
            return f"{found}, equal text"
        least, version, other = (
            _shown(1 - share * (1 - self.min_similarity)) for share in (1, VERSION, OTHER_TITLE)
        )
        return (
            f"{found}, similarity >= {least} ({version}: equal titles, known site; {other}: different titles)"
        )


def _shown(similarity: float) -> str:
    return f"{similarity:.2f}" if round(similarity, 2) == round(similarity, 9) else f"{similarity:.6g}"


@dataclass(frozen=True, slots=True)
class ClassicRule(Rule):
    """The published method: near-duplicates differ in at most ``max_distance`` bits.

    Source: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, with 3 of 64 bits.
    """

    name: ClassVar[str] = "classic"
    compares_sketches: ClassVar[bool] = False

    max_distance: int = DISTANCES["classic"]
    """Bits, 0 to 63."""

    @property
    def reach(self) -> int:
        """Max Hamming distance, in bits, of candidates: ``max_distance``."""
        return self.max_distance

    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return 1 minus the share of differing bits; None if they are not near-duplicates."""
        distance = hamming_distance(a.value, b.value)
        return 1 - distance / a.width if distance <= self.max_distance else None

    def __str__(self) -> str:
        """Return the rule as the log shows it."""
        return f"simhash distance <= {self.max_distance}"


#: The default rule.
DEFAULT_RULE = SimilarityRule()
#: Rule classes by the values of ``SIMHASH_RULE``.
RULES: dict[str, type[Rule]] = {kind.name: kind for kind in (SimilarityRule, ClassicRule)}


def rule_of(config: Config) -> Rule:
    """Return the rule of *config*, with its settings."""
    if config.rule == ClassicRule.name:
        return ClassicRule(config.distance)
    return SimilarityRule(config.distance, config.min_similarity)


def rule_fields(kind: type[Rule]) -> tuple[str, ...]:
    """Return the names of the `Config` fields that a *kind* of rule uses."""
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]  # each is a dataclass


@cache
def _native_look(min_similarity: float, reach: int) -> SecondLook | None:
    """Return the compiled rule of the C extension; None if pure Python compares."""
    if kernel.hamming is None:
        return None
    try:
        functions = import_module(_COMPILED).__pyx_capi__
        look: SecondLook = kernel.hamming.SecondLook(
            functions["decide"], functions["threshold"], min_similarity, reach, PART
        )
    except (ImportError, ValueError):
        # A crawl must not fail if a part of the C extension is missing, or built by another version of Cython.
        return None
    return look
