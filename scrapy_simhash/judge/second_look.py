# cython: language_level=3, annotation_typing=False, cdivision=True, infer_types=True
"""Verification of candidates: decide from measurements whether two pages are near-duplicates.

This is the similarity rule. ``measured.py`` explains the measurements.
"""

# Cython also compiles this file, with the types in kernel/_second_look.pxd.
from __future__ import annotations

# In the compiled version, `Measured` is the structure in kernel/hamming/second_look.h.
from scrapy_simhash.judge.measured import (
    BY_BITS,
    BY_EQUAL_TEXT,
    BY_NAMES,
    BY_TEXT,
    BY_TITLE,
    BY_UNIQUE_TEXT,
    BY_WORDS,
    NOT_NEAR,
    Measured,
)
from scrapy_simhash.page.fingerprint.sketch import EQUAL_KEY, NO_KEY, OTHER_KEY
from scrapy_simhash.page.fingerprint.unique_text import DOUBTFUL, PART, UNKNOWN, WHOLE

#: Bits of a fingerprint, as a float, so that the compiled code divides like Python.
BITS = 64.0
#: Maximum distance of fingerprints without a sketch, the same as in the classic rule. Imported fingerprints may have
#: no sketch.
BARE_DISTANCE = 3

# All thresholds are factors of the leeway, which is 1 - SIMHASH_MIN_SIMILARITY: 0.2 by default. So at 1 no difference
# is allowed, and raising the setting never makes two pages near-duplicates. Similarities below are for the default.

#: Factor if each title has a word that the other lacks; the required similarity is then 0.95.
OTHER_TITLE = 0.25
#: On unknown sites, pages with different titles are not near-duplicates, since most sites repeat some text. If one
#: title has all words of the other, UNKNOWN_SITE is the factor, for a similarity of 0.98. Texts of LONG_TEXT tokens
#: or more are compared as on known sites.
LONG_TEXT = 1_000
UNKNOWN_SITE = 0.1
#: Factor for versions of one page, for a similarity of 0.7. Versions are two pages of a known site with the same
#: title, which is not generic. They also need at least MIN_VERSION unique tokens or the same words.
VERSION = 1.5
MIN_VERSION = 50
#: Min tokens of unique text whose similarity alone suffices. A shorter one can only confirm a decision by all text.
SHORT_UNIQUE_TEXT = 30
#: Factor for unique text that confirms a decision by all text, for a similarity of 0.6.
CONFIRMING = 2.0
#: If three clusters of a host have the title of a page, its required similarity is that for different titles, unless
#: one page has at least MIN_CONTAINED facts and the other contains all of them.
MIN_CONTAINED = 2
#: If a page has fewer than FEW_TOKENS unique tokens, at most the share FEW * leeway of them may differ.
FEW_TOKENS = 60
FEW = 0.5


#: Contradictions of two pages: none, in facts outside their sentences, in names.
AGREED, OTHER_FACTS, OTHER_NAMES = range(3)
# Bits for the kinds of words in page/fingerprint/facts.py: names on one host, names on two hosts, names in the URL of
# the page, all other facts, lines with or without a number, lines directly above the title, and signs of names.
NAMES, NAMES_ELSEWHERE, NAMES_IN_URL, OTHERS = 0x3F, 0x03, 0x2A, 0x1C0
LINES, ABOVE_TITLE, SIGNS = 0xC0, 0x400, 0x800


def decide(pair: Measured) -> None:
    """Set ``similarity`` of *pair*, and ``by_text``, the similarity computed from the whole text.

    Both similarities are `NOT_NEAR` for pages that are not near-duplicates. Also set ``basis``, the basis of the
    decision, ``least``, the required similarity, and ``contradiction``, which is 0 for pages that are not
    near-duplicates.
    """
    pair.contradiction = AGREED
    _decide_by_text(pair)
    if not pair.has_sketches or (pair.similarity < 0 and pair.by_text < 0):
        return
    pair.contradiction = contradiction(pair.facts, pair.other_facts)
    if pair.contradiction == OTHER_NAMES:
        pair.basis = BY_NAMES
        pair.similarity = pair.by_text = NOT_NEAR
    elif (
        pair.contradiction == AGREED
        and pair.keys == OTHER_KEY
        and _are_on_one_host(pair.facts, pair.other_facts)
    ):
        # A size of one letter, or the order of two names, is not a fact, but may be the only difference between two
        # pages.
        pair.contradiction = OTHER_FACTS


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
    if not pair.has_unique_texts:
        return
    one, other = pair.kind, pair.other_kind
    fewer = min(pair.tokens, pair.other_tokens)
    if _few_words_differ(pair, leeway, fewer):
        pair.basis = BY_WORDS
        pair.least = pair.min_similarity
        pair.similarity = NOT_NEAR
        return
    is_equal = pair.keys == EQUAL_KEY or pair.keys == NO_KEY
    is_doubtful = one in (UNKNOWN, DOUBTFUL) or other in (UNKNOWN, DOUBTFUL)
    has_version = is_equal and not is_doubtful and not pair.is_generic
    if has_version and (fewer >= MIN_VERSION or pair.has_same_words):
        pair.least = 1 - VERSION * leeway
    elif (
        pair.is_generic
        and pair.keys == EQUAL_KEY
        and not pair.has_same_words
        and _contained(pair.facts, pair.other_facts) < MIN_CONTAINED
        and _contained(pair.other_facts, pair.facts) < MIN_CONTAINED
    ):
        pair.least = 1 - OTHER_TITLE * leeway
    pair.similarity = pair.estimate if pair.estimate >= pair.least else NOT_NEAR
    # A WHOLE page contains no boilerplate of its known site, so the text that it shares with an UNKNOWN page is
    # unique.
    if is_doubtful and not ((one == UNKNOWN and other == WHOLE) or (one == WHOLE and other == UNKNOWN)):
        if not is_equal and fewer < LONG_TEXT:
            pair.basis = BY_TITLE
            pair.least = 1 - UNKNOWN_SITE * leeway
            is_near = pair.keys != OTHER_KEY and pair.estimate >= pair.least
            pair.similarity = pair.estimate if is_near else NOT_NEAR
        if pair.similarity >= 0:
            return
        # The two may still be copies that differ in the template of a known site.
    if pair.keys == EQUAL_KEY and pair.has_same_words and pair.estimate >= pair.min_similarity:
        # This is a copy with new numbers and dates, which may outweigh the words of a short text.
        pair.least = pair.min_similarity
        return
    if one == PART or other == PART:
        _decide_by_unique_texts(pair, is_equal, fewer)


def contradiction(one: bytes, other: bytes) -> int:
    """Return whether the facts of two pages, in the format of page/fingerprint/facts.py, contradict each other.

    Facts contradict each other if each page has a fact of the same kind with a word that the other lacks outside its
    sentences, or if rows with the same label have different values. Names also contradict each other if one has all
    words of the other, and additional words that are in its URL, or if only signs differ. Facts in rows, in the part
    of a title that is not in the heading, and in lines above the title count only if both pages are on one host,
    because sites put their names there and use different labels. Lines with and without a number are one kind on one
    host, two kinds otherwise. O(words).
    """
    if one[0] == 0 or other[0] == 0:
        return AGREED
    is_one_host = _are_on_one_host(one, other)
    only_one = _lacking(one, other)
    only_other = _lacking(other, one)
    names = NAMES if is_one_host else NAMES_ELSEWHERE
    rows = _compare_rows(one, other) if is_one_host else AGREED
    if (only_one & names and only_other & names) or rows == OTHER_NAMES:
        return OTHER_NAMES
    if is_one_host and (
        (only_one & NAMES_IN_URL and not only_other & NAMES)
        or (only_other & NAMES_IN_URL and not only_one & NAMES)
    ):
        return OTHER_NAMES
    if (only_one | only_other) & SIGNS and not (only_one | only_other) & NAMES:
        return OTHER_NAMES
    if rows or only_one & only_other & (OTHERS | ABOVE_TITLE if is_one_host else OTHERS):
        return OTHER_FACTS
    # An address has a number or not. Pages of two sites differ more often in such lines.
    if is_one_host and only_one & LINES and only_other & LINES:
        return OTHER_FACTS
    return AGREED


def _are_on_one_host(one: bytes, other: bytes) -> bool:
    """Return whether two pages with facts are, or may be, on one host. False without facts."""
    if one[0] == 0 or other[0] == 0:
        return False
    host = one[one[0]]
    other_host = other[other[0]]
    return host == other_host or host == 0 or other_host == 0


def _lacking(one: bytes, other: bytes) -> int:
    """Return a bit for each kind of fact in which *one* has a word that *other* lacks."""
    found = 0
    at = 2
    end = at + 3 * one[1]
    place = 2
    other_end = place + 3 * other[1]
    while at < end:
        kind = one[at + 2] & 15
        word = one[at] << 12 | one[at + 1] << 4 | one[at + 2] >> 4
        other_word = -1
        # Both sequences are sorted by word.
        while place < other_end:
            other_word = other[place] << 12 | other[place + 1] << 4 | other[place + 2] >> 4
            if other_word >= word:
                break
            place += 3
        if other_word != word:
            found |= 1 << kind
        at += 3
    return found


def _contained(one: bytes, other: bytes) -> int:
    """Return the number of facts of *one*, except those of its name, if *other* contains all of them, else 0."""
    if one[0] == 0 or other[0] == 0 or _lacking(one, other) & OTHERS:
        return 0
    found = 0
    at = 2
    while at < 2 + 3 * one[1]:
        found += OTHERS >> (one[at + 2] & 15) & 1
        at += 3
    return found


def _compare_rows(one: bytes, other: bytes) -> int:
    """Return `OTHER_NAMES` if values of structured data differ, `OTHER_FACTS` if only values of other rows differ."""
    found = AGREED
    at = 2 + 3 * one[1]
    while at + 4 <= one[0]:
        place = 2 + 3 * other[1]
        while place + 4 <= other[0]:
            is_same_label = one[at] == other[place] and one[at + 1] == other[place + 1]
            if is_same_label and (one[at + 2] != other[place + 2] or one[at + 3] != other[place + 3]):
                if one[at] & 128:
                    return OTHER_NAMES
                found = OTHER_FACTS
            place += 4
        at += 4
    return found


def threshold(pair: Measured) -> float:
    """Return the greatest ``min_similarity`` at which *pair* are near-duplicates, in steps of 0.001; 0 for none.

    They are also near-duplicates at every smaller value. Calls `decide` ten times, which changes *pair*.
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
    """Return whether a page with few unique words differs in too many of them, ignoring numbers and dates.

    The number of different words is computed from the similarity of all text, since both pages contain the
    boilerplate. So the number is correct even if the site was unknown when one of the two pages was read.
    """
    is_partly_known = pair.kind in (PART, DOUBTFUL) or pair.other_kind in (PART, DOUBTFUL)
    if not is_partly_known or fewer >= FEW_TOKENS or pair.has_same_words or pair.estimate < 0:
        return False
    differing = (pair.whole + pair.other_whole) / 2.0 * (1 - pair.estimate) / (1 + pair.estimate)
    return differing > FEW * leeway * fewer


def _decide_by_unique_texts(pair: Measured, is_equal: bool, fewer: int) -> None:
    """Decide by unique text; ``similarity`` is the similarity of all text, and ``least`` its threshold.

    Similar unique text is sufficient. Similar text is not, because the similarity may be due to boilerplate. If the
    titles are equal, the smaller unique text must be contained in the larger one, because boilerplate that was
    learned between the two pages is removed from the second page only.
    """
    estimate = pair.unique_estimate
    least = pair.least
    is_found = pair.unique_distance <= pair.reach or pair.keys == EQUAL_KEY
    pair.basis = BY_UNIQUE_TEXT
    if fewer >= SHORT_UNIQUE_TEXT and estimate >= least and is_found:
        pair.similarity = estimate
        return
    if is_equal:
        both = pair.tokens + pair.other_tokens
        contained = estimate / (1 + estimate) * both / fewer if fewer > 0 else 1.0
        pair.least = pair.min_similarity
        is_near = contained >= pair.least
    else:
        pair.least = 1 - CONFIRMING * (1 - least)
        is_near = fewer >= SHORT_UNIQUE_TEXT and estimate >= pair.least
    if not is_near:
        pair.similarity = NOT_NEAR
    elif pair.similarity < 0:
        pair.basis = BY_TEXT
        pair.least = least
