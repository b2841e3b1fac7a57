"""Measured: the distances and similarities of two fingerprints, and the decision."""

from __future__ import annotations

from scrapy_simhash.index import hamming_distance
from scrapy_simhash.page.fingerprint import (
    EQUAL_KEY,
    FACTS_AT,
    PART,
    Fingerprint,
    UniqueText,
    compare_keys,
    is_part,
    similarity,
)

#: Similarity of pages that are not near-duplicates, less than any real similarity.
NOT_NEAR = -1.0
#: Basis of a decision: index into `BASES`.
BY_BITS, BY_TEXT, BY_UNIQUE_TEXT, BY_TITLE, BY_WORDS, BY_NAMES, BY_EQUAL_TEXT = range(7)
#: Bases of decisions: the bits of fingerprints without a sketch; all text; unique text; different titles; few unique
#: words; contradicting names; at a similarity of 1, equal text and facts.
BASES = ("bits", "all text", "unique text", "title", "few words", "names", "equal text")


class Measured:
    """Measurements of two fingerprints, *a* and *b*, for the similarity rule.

    The C version is ``pair_measure`` in ``scrapy_simhash/kernel/hamming/second_look.c``.
    """

    __slots__ = (
        *("min_similarity", "reach", "is_generic", "has_sketches", "has_unique_texts"),
        *("keys", "has_same_words", "has_same_text"),
        *("distance", "unique_distance", "estimate", "unique_estimate", "facts", "other_facts"),
        *("kind", "other_kind", "tokens", "other_tokens", "whole", "other_whole"),
        *("similarity", "by_text", "least", "basis", "contradiction"),
    )

    def __init__(
        self, a: Fingerprint, b: Fingerprint, min_similarity: float, reach: int, is_generic: bool = False
    ) -> None:
        """Measure two fingerprints for a rule with *min_similarity* and a reach of *reach* bits."""
        self.min_similarity = min_similarity
        self.reach = reach
        #: Whether pages that are not near-duplicates share the title of *a*, so that an equal title is weak evidence;
        #: see ``store/candidates.py``.
        self.is_generic = is_generic
        #: Set by `decide`.
        self.similarity = self.by_text = NOT_NEAR
        self.least, self.basis, self.contradiction = min_similarity, BY_TEXT, 0
        #: Hamming distance of the values.
        self.distance = hamming_distance(a.value, b.value)
        self.has_sketches = bool(a.sketch and b.sketch)
        self.has_unique_texts = False
        if not self.has_sketches:
            return
        #: Result of ``sketch.compare_keys()`` for the title keys.
        self.keys = compare_keys(a.sketch, b.sketch)
        is_found = self.distance <= reach or self.keys == EQUAL_KEY
        #: Share of shingles in common, computed only for candidates.
        self.estimate = similarity(a.sketch, b.sketch) if is_found else NOT_NEAR
        #: See ``page/fingerprint/facts.py``.
        self.facts, self.other_facts = a.sketch[FACTS_AT:], b.sketch[FACTS_AT:]
        #: Whether texts and facts are equal, judging by the fingerprints.
        self.has_same_text = self.distance == 0 and a.sketch[:-1] == b.sketch[:-1]
        self.has_unique_texts = bool(a.own and b.own)
        if not self.has_unique_texts:
            return
        has_part = is_part(a.own) or is_part(b.own)
        one, other = UniqueText.from_bytes(a.own), UniqueText.from_bytes(b.own)
        #: Whether the main texts have the same words, ignoring numbers and dates.
        self.has_same_words = one.words == other.words
        self.has_same_text = self.has_same_text and one.text == other.text
        self.kind, self.other_kind = one.kind, other.kind
        self.tokens, self.other_tokens = one.tokens, other.tokens
        self.whole, self.other_whole = one.whole, other.whole
        #: Distance and similarity of the unique texts; for a page without boilerplate, of all its text.
        self.unique_distance, self.unique_estimate = 65, NOT_NEAR
        if has_part:
            value, minhash = one[2:4] if one.kind == PART else (a.value, a.sketch)
            other_value, other_minhash = other[2:4] if other.kind == PART else (b.value, b.sketch)
            if value and other_value:
                self.unique_distance = hamming_distance(value, other_value)
            self.unique_estimate = similarity(minhash, other_minhash)

    @property
    def alike(self) -> float:
        """Share of shingles in common, of all text or of unique text; `NOT_NEAR` if the two are not candidates."""
        if not self.has_sketches:
            return NOT_NEAR
        is_found = self.estimate >= 0 or (self.has_unique_texts and self.unique_distance <= self.reach)
        has_both = is_found and self.has_unique_texts
        return max(self.estimate, self.unique_estimate) if has_both else self.estimate
