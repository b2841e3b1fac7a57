"""Candidates: which stored contents are compared with a page, and by which values they are found."""

from __future__ import annotations

from scrapy_simhash.index import HammingIndex, Match
from scrapy_simhash.index.match import nearest_first
from scrapy_simhash.page.fingerprint import Fingerprint, own_value

# Only with learning are pages new that share most of their text, so that there may be as many candidates as pages.
# Without it, that is for fingerprints without an own part, neither of these bounds holds.

#: Candidates that are compared with a page: its own content, then the nearest ones, of equally near ones the oldest.
MOST_COMPARED = 64
#: Contents within reach of a new one from which on it can be found by its own part only, if it has one: else the
#: next pages would find them all, in a microsecond or two each.
MOST_NEARBY = 1_000


def values_of(fingerprint: Fingerprint) -> tuple[int, ...]:
    """Return the values by which a page is searched for and found: the text, and its own part."""
    own = own_value(fingerprint.own)
    return (fingerprint.value, own) if own else (fingerprint.value,)


def nearest(index: HammingIndex, values: tuple[int, ...]) -> list[Match]:
    """Return the contents within reach of any of *values*, nearest first, then by number; each once.

    The distance is that of the nearer value.
    """
    if len(values) == 1:
        return index.find(values[0])
    return nearest_first([match for value in values for match in index.find(value)])


def has_many(fingerprint: Fingerprint, matches: list[Match]) -> bool:
    """Tell whether there are more *matches* than are compared with a page."""
    return bool(fingerprint.own) and len(matches) > MOST_COMPARED


def compared(matches: list[Match], latest: int | None) -> list[Match]:
    """Return those of too many *matches* that are compared: the page's *latest* content, then the nearest ones."""
    of_page = [match for match in matches if match.key == latest]
    others = [match for match in matches[:MOST_COMPARED] if match.key != latest]
    return (of_page + others)[:MOST_COMPARED]


def is_crowded(fingerprint: Fingerprint, matches: list[Match]) -> bool:
    """Tell whether a page with so many *matches* can be found by its own part only, from now on."""
    return bool(fingerprint.own) and len(matches) >= MOST_NEARBY
