"""Candidates: which stored contents are compared with a page, and by which values they are found."""

from __future__ import annotations

import logging
from typing import NamedTuple

from scrapy_simhash.index import HammingIndex, Match, hamming_distance
from scrapy_simhash.page.fingerprint import Fingerprint, has_subject, own_value, subject_number

logger = logging.getLogger(__name__)

# Where a site repeats most of its text, all of its pages are within reach of each other, and new all the same: they
# are a crowd. Fingerprints without a sketch make none: what is within reach of them is what they repeat.

#: Candidates that are compared with a page: its own content, then the nearest ones, of equally near ones the oldest.
MOST_COMPARED = 64
#: Contents within reach of one value from which on no further one is found by such a value: else the next pages would
#: find them all.
MOST_NEARBY = 256

#: Fingerprints that a store beside memory keeps there after they were compared: some 3 MB.
FINGERPRINTS = 10_000

#: By which of its values a content is found, added up; 0 for none.
BY_TEXT, BY_OWN_PART, BY_SUBJECT = 1, 2, 4
BY_ALL = BY_TEXT | BY_OWN_PART | BY_SUBJECT


class Search(NamedTuple):
    """What a search for a page has found."""

    matches: list[Match]
    """What is compared with it, nearest first."""
    found_by: int
    """By which of its values it can be found, if it is new."""


#: Of a page that is not searched for by its values.
NOTHING = Search([], BY_TEXT)


def values_by(fingerprint: Fingerprint, found_by: int) -> tuple[int, ...]:
    """Return the values by which a content is found, two at most: its text or its subject, and its own part.

    Nothing is compared of an own part without a sketch beside it.
    """
    own = own_value(fingerprint.own) if found_by & BY_OWN_PART and fingerprint.sketch else 0
    values = [fingerprint.value] if found_by & BY_TEXT else []
    if found_by & BY_SUBJECT:
        values.append(subject_number(fingerprint.sketch))
    return (*values, own) if own else tuple(values)


def search(index: HammingIndex, fingerprint: Fingerprint, has_crowd: bool) -> Search:
    """Search for a page by its text and its own part, and by its subject if there is a crowd in its scope.

    Its subject finds what the others cannot any more: pages of equal subjects, which a copy has as a rule. The values
    of different subjects are not within reach of each other. Of many candidates the nearest are returned; without a
    sketch, all.
    """
    if not fingerprint.sketch:
        return Search(index.find(fingerprint.value), BY_TEXT)
    own = own_value(fingerprint.own)
    values = [fingerprint.value, own] if own else [fingerprint.value]
    named = has_subject(fingerprint.sketch)
    if has_crowd and named:
        values.append(subject_number(fingerprint.sketch))
    matches, counts = index.nearest(values, MOST_COMPARED)
    found_by = BY_TEXT if counts[0] < MOST_NEARBY else 0
    if own and counts[1] < MOST_NEARBY:
        found_by |= BY_OWN_PART
    if not found_by & BY_TEXT and named and not (has_crowd and counts[-1] >= MOST_NEARBY):
        found_by |= BY_SUBJECT
    return Search(matches, found_by)


def distance_of(page: Fingerprint, content: Fingerprint) -> int:
    """Return the bits by which the nearest values of two fingerprints differ, of text or own part."""
    by = BY_TEXT | BY_OWN_PART
    return min(hamming_distance(a, b) for a in values_by(page, by) for b in values_by(content, by))


def is_cut(matches: list[Match]) -> bool:
    """Tell whether there may be more matches than *matches*."""
    return len(matches) >= MOST_COMPARED


def with_latest(
    matches: list[Match], latest: int, its: Fingerprint, page: Fingerprint, index: HammingIndex
) -> list[Match]:
    """Return *matches* with the page's *latest* content, with fingerprint *its*, if it can be found but was not."""
    if any(match.key == latest for match in matches):
        return matches
    distance = distance_of(page, its)
    is_there = any((value, latest) in index for value in values_by(its, BY_ALL))
    if distance > index.max_distance or not is_there:
        return matches
    return [Match(latest, its.value, distance), *matches[: MOST_COMPARED - 1]]


def tell_crowd(scope: str, reach: int) -> None:
    """Tell once that a scope has its first crowd."""
    logger.info(
        "%s pages%s are within %d bits of each other, and new. From now on such a page is looked for by its subject"
        " and by its own part only, in the nearest %d candidates; a smaller SIMHASH_CANDIDATE_DISTANCE finds fewer",
        *(f"{MOST_NEARBY:,}", f" of {scope}" if scope else "", reach, MOST_COMPARED),
    )
