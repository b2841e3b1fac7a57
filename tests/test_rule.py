from __future__ import annotations

import pytest

from scrapy_simhash.page.fingerprint import Fingerprint, sketch
from scrapy_simhash.rule import ClassicRule, Rule, SimilarityRule

SHINGLES = [hash_ * 0x9E3779B97F4A7C15 % 2**64 for hash_ in range(1, 1001)]


def fingerprint(value: int, shared: int = 1000, subject: str = "night pilots") -> Fingerprint:
    """Return a fingerprint of 1,000 shingles of which *shared* are those that all have."""
    own = [shingle ^ 0x5555 for shingle in SHINGLES[shared:]]
    scattered = [(shingle * 0xD1B54A32D192ED03 + 1) % 2**64 for shingle in own]
    return Fingerprint(value, 1000, sketch(SHINGLES[:shared] + scattered, subject.split()))


@pytest.mark.parametrize(
    ("distance", "shared", "subject", "near"),
    [
        (0, 1000, "night pilots", True),
        (10, 1000, "night pilots", True),
        (11, 1000, "night pilots", False),  # too far to be a candidate
        (3, 950, "night pilots", True),
        (3, 700, "night pilots", False),  # near by bits, but not by what they say
        (3, 930, "day pilots", False),  # as alike as siblings are, and of another name
        (3, 995, "day pilots", True),  # another headline over the same text
    ],
)
def test_the_second_look_decides_about_candidates(
    distance: int, shared: int, subject: str, near: bool
) -> None:
    a, b = fingerprint(0), fingerprint((1 << distance) - 1, shared, subject)
    rule = SimilarityRule()
    assert (rule.similarity(a, b) is not None) is near
    assert rule.similarity(a, b) == rule.similarity(b, a)


@pytest.mark.parametrize(("distance", "near"), [(0, True), (3, True), (4, False)])
def test_by_the_classic_rule_only_bits_count(distance: int, near: bool) -> None:
    classic = ClassicRule()
    a, b = fingerprint(0), fingerprint((1 << distance) - 1, shared=0)
    assert (classic.similarity(a, b) is not None) is near


def test_without_a_sketch_three_bits_decide() -> None:
    rule = SimilarityRule()
    assert rule.similarity(Fingerprint(0), Fingerprint(0b111)) == 1 - 3 / 64
    assert rule.similarity(Fingerprint(0), Fingerprint(0b1111)) is None
    assert rule.similarity(fingerprint(0), Fingerprint(0b1111)) is None
    assert SimilarityRule(candidate_distance=2).similarity(Fingerprint(0), Fingerprint(0b111)) is None


def test_candidates_are_looked_for_as_far_as_the_rule_may_accept_them() -> None:
    assert SimilarityRule().reach == 10
    assert ClassicRule().reach == 3


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (SimilarityRule(), "simhash distance <= 10, similarity >= 0.80"),
        (SimilarityRule(16, 0.95), "simhash distance <= 16, similarity >= 0.95"),
        (ClassicRule(2), "simhash distance <= 2"),
    ],
)
def test_a_rule_says_itself_in_a_few_words(rule: Rule, words: str) -> None:
    assert str(rule) == words


def test_a_page_is_a_near_duplicate_of_itself_under_the_strictest_rule() -> None:
    page = fingerprint(7)
    assert SimilarityRule(0, 1.0).similarity(page, page) == 1.0
    assert ClassicRule(0).similarity(page, page) == 1.0
