# cython: language_level=3, annotation_typing=False, cdivision=True, infer_types=True
"""The second look: whether two pages are near-duplicates, by what was measured of their fingerprints.

The only place where the similarity rule decides. ``measured.py`` says what the numbers are, and measures them.
"""

# Cython compiles this file too, with the types in kernel/_second_look.pxd.
from __future__ import annotations

# What `Measured` names where this file is compiled is the structure in kernel/hamming/second_look.h.
from scrapy_simhash.judge.measured import (
    BY_BITS,
    BY_EQUAL_TEXT,
    BY_NAMES,
    BY_OWN_TEXT,
    BY_TEXT,
    BY_TITLE,
    BY_WORDS,
    NOT_NEAR,
    Measured,
)
from scrapy_simhash.page.fingerprint.own_part import DOUBTFUL, PART, UNKNOWN, WHOLE
from scrapy_simhash.page.fingerprint.sketch import EQUAL_KEY, NO_KEY, OTHER_KEY

#: In a fingerprint; not a whole number, so that what is compiled of this divides as Python does.
BITS = 64.0
#: Bits within which fingerprints without a sketch are near-duplicates under the similarity rule: the distance of the
#: classic one. Pages get a sketch under this rule; fingerprints from elsewhere may have none.
BARE_DISTANCE = 3

# All thresholds are relative to the setting: what may be missing at SIMHASH_MIN_SIMILARITY (a fifth by default),
# multiplied. At 1 nothing may be missing, and raising the setting never makes a pair a near-duplicate.

#: Where each title has a word that the other lacks, a quarter of it: 0.95 by default.
OTHER_TITLE = 0.25
#: Until something is known about a site, pages with different titles are different, since most sites repeat some
#: text; where one title has all words of the other, a tenth: 0.98. Texts of so many tokens and more are told apart by
#: their own words all the same.
LONG_TEXT = 1_000
UNKNOWN_SITE = 0.1
#: Of versions of one page, with equal titles on sites that are known, half as much again, 0.7, if they have so many
#: own tokens or the same words. Not where the title is generic.
VERSION = 1.5
LEAST_VERSION = 50
#: Own parts with fewer tokens are too short to find a copy by: they only confirm one.
SHORT_OWN_PART = 30
#: Own parts that confirm what all text says may miss twice as much.
CONFIRMING = 2.0
#: Under a title that three clusters of a host have, pages must be as similar as with different titles, unless one has
#: so many facts and the other says all of them.
LEAST_SAID = 2
#: With fewer own tokens it is these that must agree: of so many tokens as may be missing, half may differ.
FEW_TOKENS = 60
FEW = 0.5


#: Whether two pages contradict each other: not at all; in what stands beside their sentences; in their names.
AGREED, OTHER_FACTS, OTHER_NAMES = range(3)
# Bits for the kinds of words in page/fingerprint/facts.py: names, on one host and on two; those that are in the
# page's URL; all else that is a fact.
NAMES, NAMES_ELSEWHERE, NAMES_IN_URL, OTHERS = 0x3F, 0x03, 0x2A, 0x1C0


def decide(pair: Measured) -> None:
    """Set ``similarity`` of *pair*, and ``by_text``: what it would be without own parts, by all text of both pages.

    Both are `NOT_NEAR` where two pages are no near-duplicates. ``basis`` says what has decided, ``least`` is the
    threshold that it had to reach; ``contradiction`` is that of near-duplicates, 0 of others.
    """
    pair.contradiction = AGREED
    _decide_by_text(pair)
    if not pair.has_sketches or (pair.similarity < 0 and pair.by_text < 0):
        return
    pair.contradiction = contradiction(pair.facts, pair.its_facts)
    if pair.contradiction == OTHER_NAMES:
        pair.basis = BY_NAMES
        pair.similarity = pair.by_text = NOT_NEAR


def _decide_by_text(pair: Measured) -> None:
    leeway = 1 - pair.min_similarity
    pair.least = pair.min_similarity
    if not pair.has_sketches:
        pair.basis = BY_BITS
        pair.least = max(1 - min(BARE_DISTANCE, pair.reach) / BITS, pair.min_similarity)
        alike = 1 - pair.distance / BITS
        pair.by_text = alike if alike >= pair.least else NOT_NEAR
        pair.similarity = pair.by_text
        return
    pair.basis = BY_TEXT
    if leeway <= 0:
        pair.basis = BY_EQUAL_TEXT
        pair.by_text = 1.0 if pair.has_same_text else NOT_NEAR
        pair.similarity = pair.by_text
        return
    if pair.keys == OTHER_KEY:
        pair.basis = BY_TITLE
        pair.least = 1 - OTHER_TITLE * leeway
    pair.by_text = pair.estimate if pair.estimate >= pair.least else NOT_NEAR
    pair.similarity = pair.by_text
    if not pair.has_own_parts:
        return
    one, other = pair.kind, pair.its_kind
    fewer = min(pair.tokens, pair.its_tokens)
    if _few_words_differ(pair, leeway, fewer):
        pair.basis = BY_WORDS
        pair.least = pair.min_similarity
        pair.similarity = NOT_NEAR
        return
    is_equal = pair.keys == EQUAL_KEY or pair.keys == NO_KEY
    is_doubtful = one in (UNKNOWN, DOUBTFUL) or other in (UNKNOWN, DOUBTFUL)
    has_version = is_equal and not is_doubtful and not pair.is_generic
    if has_version and (fewer >= LEAST_VERSION or pair.has_same_words):
        pair.least = 1 - VERSION * leeway
    elif (
        pair.is_generic
        and pair.keys == EQUAL_KEY
        and not pair.has_same_words
        and _said(pair.facts, pair.its_facts) < LEAST_SAID
        and _said(pair.its_facts, pair.facts) < LEAST_SAID
    ):
        pair.least = 1 - OTHER_TITLE * leeway
    pair.similarity = pair.estimate if pair.estimate >= pair.least else NOT_NEAR
    # A known site repeats nothing of a WHOLE page: so text that it shares with an UNKNOWN one is no site's text.
    if is_doubtful and not ((one == UNKNOWN and other == WHOLE) or (one == WHOLE and other == UNKNOWN)):
        if not is_equal and fewer < LONG_TEXT:
            pair.basis = BY_TITLE
            pair.least = 1 - UNKNOWN_SITE * leeway
            is_near = pair.keys != OTHER_KEY and pair.estimate >= pair.least
            pair.similarity = pair.estimate if is_near else NOT_NEAR
        if pair.similarity >= 0:
            return
        # Under the template of a site that is known, it may be a copy all the same.
    if pair.keys == EQUAL_KEY and pair.has_same_words and pair.estimate >= pair.min_similarity:
        # Posted again with other numbers and dates: in a short text they may outweigh the words.
        pair.least = pair.min_similarity
        return
    if one == PART or other == PART:
        _decide_by_own_parts(pair, is_equal, fewer)


def contradiction(one: bytes, other: bytes) -> int:
    """Return whether two pages contradict each other, by their facts as page/fingerprint/facts.py writes them.

    They do if each has a fact of one kind with a word that the other does not say beside its sentences, or if a row
    has the same label and another value. Their names do, too, if the one has all words of the other, and more that
    its URL has as well. What stands in a title beside the heading, and in rows, tells pages of one host apart only:
    sites name themselves there, and label rows in their own ways. O(words).
    """
    if one[0] == 0 or other[0] == 0:
        return AGREED
    host = one[one[0]]
    its_host = other[other[0]]
    is_one_host = host == its_host or host == 0 or its_host == 0
    mine = _unsaid(one, other)
    its = _unsaid(other, one)
    names = NAMES if is_one_host else NAMES_ELSEWHERE
    rows = _compare_rows(one, other) if is_one_host else AGREED
    if (mine & names and its & names) or rows == OTHER_NAMES:
        return OTHER_NAMES
    if is_one_host and (
        (mine & NAMES_IN_URL and not its & NAMES) or (its & NAMES_IN_URL and not mine & NAMES)
    ):
        return OTHER_NAMES
    if rows or mine & its & OTHERS:
        return OTHER_FACTS
    return AGREED


def _unsaid(one: bytes, other: bytes) -> int:
    """Return a bit for each kind of fact of which *one* has a word that *other* does not say."""
    found = 0
    at = 2
    end = at + 3 * one[1]
    its = 2
    its_end = its + 3 * other[1]
    while at < end:
        kind = one[at + 2] & 15
        word = one[at] << 12 | one[at + 1] << 4 | one[at + 2] >> 4
        its_word = -1
        # Both are in the order of their words.
        while its < its_end:
            its_word = other[its] << 12 | other[its + 1] << 4 | other[its + 2] >> 4
            if its_word >= word:
                break
            its += 3
        if its_word != word:
            found |= 1 << kind
        at += 3
    return found


def _said(one: bytes, other: bytes) -> int:
    """Return how many facts beside its name *one* has, all of which *other* says; 0 if it does not say all."""
    if one[0] == 0 or other[0] == 0 or _unsaid(one, other) & OTHERS:
        return 0
    found = 0
    at = 2
    while at < 2 + 3 * one[1]:
        found += OTHERS >> (one[at + 2] & 15) & 1
        at += 3
    return found


def _compare_rows(one: bytes, other: bytes) -> int:
    """Return `OTHER_NAMES` where structured data, `OTHER_FACTS` where another row has another value."""
    found = AGREED
    at = 2 + 3 * one[1]
    while at + 4 <= one[0]:
        its = 2 + 3 * other[1]
        while its + 4 <= other[0]:
            has_its_label = one[at] == other[its] and one[at + 1] == other[its + 1]
            if has_its_label and (one[at + 2] != other[its + 2] or one[at + 3] != other[its + 3]):
                if one[at] & 128:
                    return OTHER_NAMES
                found = OTHER_FACTS
            its += 4
        at += 4
    return found


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


def _few_words_differ(pair: Measured, leeway: float, fewer: int) -> bool:
    """Tell whether a page of few own words differs in more of them than it may; numbers and dates do not count.

    How many differ follows from the share of all text that does: what the pages' site repeats is in both. So it holds
    where only one of the two was read when the site was known.
    """
    is_partly_known = pair.kind in (PART, DOUBTFUL) or pair.its_kind in (PART, DOUBTFUL)
    if not is_partly_known or fewer >= FEW_TOKENS or pair.has_same_words or pair.estimate < 0:
        return False
    differing = (pair.whole + pair.its_whole) / 2.0 * (1 - pair.estimate) / (1 + pair.estimate)
    return differing > FEW * leeway * fewer


def _decide_by_own_parts(pair: Measured, is_equal: bool, fewer: int) -> None:
    """Decide by what is not the sites' text; ``similarity`` is what all text says, ``least`` its threshold.

    Own parts that agree are enough, whatever surrounds them. Texts that agree are not, if that rests on what the
    site repeats. Where the titles are equal, the smaller own part must be in the larger one: what was learned
    after the first of two pages had come is left out of the second one only.
    """
    estimate = pair.own_estimate
    least = pair.least
    is_found = pair.own_distance <= pair.reach or pair.keys == EQUAL_KEY
    pair.basis = BY_OWN_TEXT
    if fewer >= SHORT_OWN_PART and estimate >= least and is_found:
        pair.similarity = estimate
        return
    if is_equal:
        both = pair.tokens + pair.its_tokens
        contained = estimate / (1 + estimate) * both / fewer if fewer > 0 else 1.0
        pair.least = pair.min_similarity
        is_near = contained >= pair.least
    else:
        pair.least = 1 - CONFIRMING * (1 - least)
        is_near = fewer >= SHORT_OWN_PART and estimate >= pair.least
    if not is_near:
        pair.similarity = NOT_NEAR
    elif pair.similarity < 0:
        pair.basis = BY_TEXT
        pair.least = least
