# cython: language_level=3, annotation_typing=False, cdivision=True, infer_types=True
"""The second look: whether two pages are near-duplicates, by what was measured of their fingerprints.

The only place where the similarity rule decides. What the numbers are, and how they are measured, is in ``rule.py``.
"""

# Cython compiles this file too, with the types in kernel/_second_look.pxd.
from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_simhash.page.fingerprint.own_part import DOUBTFUL, PART, UNKNOWN, WHOLE
from scrapy_simhash.page.fingerprint.sketch import EQUAL_KEY, NO_KEY, OTHER_KEY

if TYPE_CHECKING:
    # Where this file is compiled, the structure of that name in kernel/hamming/second_look.h.
    from scrapy_simhash.rule import Measured

#: In a fingerprint; not a whole number, so that what is compiled of this divides as Python does.
BITS = 64.0
#: Less than any similarity: the pages are no near-duplicates.
NOT_NEAR = -1.0
#: Bits within which fingerprints without a sketch are near-duplicates under the similarity rule: the distance of the
#: classic one. Pages get a sketch under this rule; fingerprints from elsewhere may have none.
BARE_DISTANCE = 3
#: Until something is known about a site, pages with different subjects are different, since most sites repeat some
#: text; where one subject has all words of the other, texts must be equal as far as sketches tell. Texts of so many
#: tokens and more are told apart by their own words all the same.
LONG_TEXT = 1_000
OTHER_DIVISOR = 4.0
EQUAL_SIMILARITY = 0.98
#: Own parts with fewer tokens are too short to find a copy by: they only confirm one.
SHORT_OWN_PART = 30
#: Of versions of one page, with equal subjects on sites that are known, less must agree if they have so many tokens.
LEAST_VERSION = 50
FEW = 60
FEW_SHARE = 0.5


def decide(pair: Measured) -> None:
    """Set ``similarity`` of *pair*, and ``by_text``: what it would be without own parts, by all text of both pages.

    Both are `NOT_NEAR` where two pages are no near-duplicates.
    """
    if not pair.has_sketches:
        is_near = pair.distance <= BARE_DISTANCE and pair.distance <= pair.reach
        pair.by_text = 1 - pair.distance / BITS if is_near else NOT_NEAR
        pair.similarity = pair.by_text
        return
    least = pair.min_similarity if pair.keys != OTHER_KEY else 1 - (1 - pair.min_similarity) / OTHER_DIVISOR
    pair.by_text = pair.estimate if pair.estimate >= least else NOT_NEAR
    pair.similarity = pair.by_text
    if not pair.has_own_parts:
        return
    is_equal = pair.keys == EQUAL_KEY or pair.keys == NO_KEY
    if pair.is_other_thing:
        pair.similarity = NOT_NEAR
        return
    fewer = min(pair.tokens, pair.its_tokens)
    one, other = pair.kind, pair.its_kind
    is_partly_known = one == PART or other == PART or one == DOUBTFUL or other == DOUBTFUL
    if is_partly_known and fewer < FEW and not pair.has_same_words:
        differing = (pair.whole + pair.its_whole) / 2.0 * (1 - pair.estimate) / (1 + pair.estimate)
        if differing > FEW_SHARE * (1 - pair.min_similarity) * fewer:
            pair.similarity = NOT_NEAR
            return
    is_doubtful = one in (UNKNOWN, DOUBTFUL) or other in (UNKNOWN, DOUBTFUL)
    if is_equal and not is_doubtful and (fewer >= LEAST_VERSION or pair.has_same_words):
        least = 1 - 1.5 * (1 - pair.min_similarity)
    pair.similarity = pair.estimate if pair.estimate >= least else NOT_NEAR
    # A known site repeats nothing of a WHOLE page: so text that it shares with an UNKNOWN one is no site's text.
    if is_doubtful and not ((one == UNKNOWN and other == WHOLE) or (one == WHOLE and other == UNKNOWN)):
        if not is_equal and fewer < LONG_TEXT:
            is_near = pair.keys != OTHER_KEY and pair.estimate >= EQUAL_SIMILARITY
            pair.similarity = pair.estimate if is_near else NOT_NEAR
        if pair.similarity >= 0:
            return
        # Under the template of a site that is known, it may be a copy all the same.
    if one == PART or other == PART:
        pair.similarity = _of_own_parts(pair, least)


def threshold(pair: Measured) -> float:
    """Return the greatest ``min_similarity`` by which *pair* is near, in steps of 0.001; 0 if there is none.

    By every smaller one it is near too. Asks `decide` ten times, and leaves in *pair* what it said last.
    """
    near, most = 0, 1000
    while near < most:
        middle = (near + most + 1) // 2
        pair.min_similarity = middle / 1000.0
        decide(pair)
        if pair.similarity >= 0:
            near = middle
        else:
            most = middle - 1
    return near / 1000.0


def _of_own_parts(pair: Measured, least: float) -> float:
    """Return how similar two pages are by what is not their sites'; ``similarity`` is what all their text says.

    Own parts that agree are enough, whatever surrounds them. Texts that agree are not, if that rests on what the
    site repeats. Where the subjects are equal, the smaller own part must be in the larger one: what was learned
    after the first of two pages had come is left out of the second one only.
    """
    estimate = pair.own_estimate
    is_equal = pair.keys == EQUAL_KEY or pair.keys == NO_KEY
    fewer = min(pair.tokens, pair.its_tokens)
    is_found = pair.own_distance <= pair.reach or pair.keys == EQUAL_KEY
    if fewer >= SHORT_OWN_PART and estimate >= least and is_found:
        return estimate
    if is_equal:
        both = pair.tokens + pair.its_tokens
        contained = estimate / (1 + estimate) * both / fewer if fewer > 0 else 1.0
        return pair.similarity if contained >= pair.min_similarity else NOT_NEAR
    is_near = fewer >= SHORT_OWN_PART and estimate >= 1 - 2 * (1 - least)
    return pair.similarity if is_near else NOT_NEAR
