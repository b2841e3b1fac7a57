"""Rule: when two fingerprints are near-duplicates. One place decides, for the detector and for everyone else."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_simhash.fingerprint import Fingerprint, same_subject, similarity
from scrapy_simhash.index import hamming_distance


@dataclass(frozen=True, slots=True)
class Rule:
    """The near-duplicate rule of one configuration.

    With a second look (``min_similarity`` above 0): within ``candidate_distance`` bits, and by their sketches at
    least ``min_similarity`` alike. Two pages that name different subjects must be closer, 0.95 where 0.8 would do:
    siblings of one template differ in a name and little else. Without: within ``max_distance`` bits, the
    classic rule.
    """

    max_distance: int = 3
    candidate_distance: int = 10
    min_similarity: float = 0.8

    @property
    def reach(self) -> int:
        """Bits within which candidates must be looked for."""
        return self.candidate_distance if self.min_similarity else self.max_distance

    def __str__(self) -> str:
        """Say the rule in a few words, for the log."""
        if self.min_similarity:
            return f"distance {self.candidate_distance} and similarity {self.min_similarity}"
        return f"distance {self.max_distance}"

    def similarity(self, a: Fingerprint, b: Fingerprint) -> float | None:
        """Return how alike two near-duplicates are, 0-1; None when they are none.

        The estimated share of common shingles, or without a second look 1 minus the share of differing bits.
        Fingerprints without a sketch are told by the classic rule. A few microseconds.
        """
        distance = hamming_distance(a.value, b.value)
        if not (self.min_similarity and a.sketch and b.sketch):
            return 1 - distance / 64 if distance <= self.max_distance else None
        if distance > self.candidate_distance:
            return None
        alike = similarity(a.sketch, b.sketch)
        least = self.min_similarity
        if not same_subject(a.sketch, b.sketch):
            least = 1 - (1 - least) / 4
        return alike if alike >= least else None
