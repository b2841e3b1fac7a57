"""Candidates: find the stored originals to be compared with a page, and choose the original."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from scrapy_simhash.index import Match, SimhashIndex
from scrapy_simhash.judge.rule import ClassicRule, Rule
from scrapy_simhash.page.fingerprint import (
    FACTS_AT,
    MINHASH_BYTES,
    Fingerprint,
    compared_values,
    is_sketch,
    is_unique_text,
    sketch_length,
    title_key_number,
    unique_value,
)
from scrapy_simhash.page.fingerprint.facts import are_one_host, host_of
from scrapy_simhash.store.base import Original

#: Blocks of a fingerprint in the tables of the classic rule.
BLOCKS = 6


def index_for(rule: Rule, blocks: int = BLOCKS) -> SimhashIndex:
    """Return an empty index that searches within the reach of *rule*.

    For the classic rule, the index has the classic plan with this number of *blocks*, or the best plan if these are
    too few for the distance; for other rules, it has the best plan.

    >>> from scrapy_simhash.judge.rule import SimilarityRule
    >>> index_for(SimilarityRule()), index_for(ClassicRule(9))
    (<SimhashIndex: 0 postings within 8 bits>, <SimhashIndex: 0 postings within 9 bits>)
    """
    if isinstance(rule, ClassicRule):
        return SimhashIndex(rule.reach, blocks if blocks > rule.reach else "auto")
    return SimhashIndex(rule.reach, "auto")


# If a site repeats most of its text, all its pages are within reach of each other although they are different: a
# dense region. Fingerprints without a sketch have no dense regions, because every match within reach is a
# near-duplicate.

#: Max candidates per page: its own row, then the nearest originals; among equally near ones, the oldest.
MAX_COMPARED = 64
#: Max originals within reach of a value. If more are within reach, a new original is not indexed by this value,
#: because otherwise each new page would find all of them.
MAX_NEARBY = 256

# A page may be near a copy but not near the copy's original. Copies are not indexed: they are compared if their
# original is a candidate. If the page is near a copy, only the cluster of the copy is added to the result.

#: Number of first copies per cluster that are compared with a page that is not near the original of the cluster.
FIRST_COPIES = 2
#: Max clusters per page whose copies are compared, from the first candidates that the page is not near.
MAX_CLUSTERS = 8

#: Max fingerprints that are cached in memory after a comparison; they take 3 to 6 MB.
FINGERPRINTS = 10_000

#: Position of the title key in the compared bytes.
_TITLE = slice(8 + MINHASH_BYTES, 8 + FACTS_AT)

#: Flags of the values by which an original is indexed; 0 for none.
BY_TEXT, BY_UNIQUE_TEXT, BY_TITLE_KEY = 1, 2, 4
BY_ALL = BY_TEXT | BY_UNIQUE_TEXT | BY_TITLE_KEY


#: A title is generic if this many candidate clusters of one host have it. Such a title is the name of a site or a
#: section, not of a page.
GENERIC = 3


def values_by(value: int, stored: bytes, found_by: int) -> tuple[int, ...]:
    """Return the values by which an original is indexed: of its text, unique text and title key, if it has them.

    *stored* is the sketch and the unique text; without a sketch only the bits of the text are compared. Raises
    ValueError or IndexError for damaged bytes.
    """
    values = [value] if found_by & BY_TEXT else []
    if not stored:
        return tuple(values)
    end = sketch_length(stored)
    own = stored[end:]
    if not is_sketch(stored[:end]) or (own and not is_unique_text(own)):
        raise ValueError(f"not a sketch and a unique text: {len(stored)} bytes")
    if found_by & BY_UNIQUE_TEXT and (unique := unique_value(own)):
        values.append(unique)
    if found_by & BY_TITLE_KEY and (title_key := title_key_number(stored)):
        values.append(title_key)
    return tuple(values)


def search(index: SimhashIndex, fingerprint: Fingerprint) -> tuple[list[Match], int, tuple[int, ...], bool]:
    """Search for a page by its text, its unique text and its title key.

    Returns the candidates to compare with the page, nearest first; the values by which the page is indexed if it is
    new, as flags and as numbers; and whether there are more candidates.

    Text and unique text match within reach. Title keys match only if they are equal: copies usually have equal title
    keys, and distances between different title keys have no meaning. If there are too many candidates, the nearest
    are returned, at least half of them by text or unique text; without a sketch, all candidates are returned.
    """
    value, sketch = fingerprint.value, fingerprint.sketch
    if not sketch:
        return index.find(value), BY_TEXT, (value,), False
    own, title_key = unique_value(fingerprint.own), title_key_number(sketch)
    matches, counts = index.nearest((value, own) if own else (value,), MAX_COMPARED)
    found_by, values, within_reach = 0, [], sum(counts)
    if counts[0] < MAX_NEARBY:
        found_by = BY_TEXT
        values.append(value)
    if own and counts[1] < MAX_NEARBY:
        found_by |= BY_UNIQUE_TEXT
        values.append(own)
    if title_key:
        same = index.keys_of(title_key)
        within_reach += len(same)
        if len(same) < MAX_NEARBY:
            found_by |= BY_TITLE_KEY
            values.append(title_key)
        if same:
            matches = _both(same, title_key, matches)
    return matches, found_by, tuple(values), within_reach > MAX_COMPARED


def _both(same: list[int], title_key: int, by_text: list[Match]) -> list[Match]:
    """Return the originals with the *same* title key and those found *by_text*, in total at most `MAX_COMPARED`."""
    half = MAX_COMPARED // 2
    some = by_text[: max(half, MAX_COMPARED - len(same))]
    others = [Match(key, title_key, 0) for key in same[: max(half, MAX_COMPARED - len(by_text))]]
    return list({match.key: match for match in (*others, *some)}.values())


def is_generic(page: Fingerprint, contents: Iterable[tuple[int, bytes]], titled_elsewhere: int = 0) -> bool:
    """Return whether the title of a page is generic.

    *contents* are the candidates, as pairs of number and `Fingerprint.compared_bytes`. *titled_elsewhere* is the
    number of clusters with that title in other stores.
    """
    title = page.sketch[MINHASH_BYTES:FACTS_AT]
    if not any(title):
        return False
    host = host_of(page.sketch[FACTS_AT:])
    titled = {
        cluster
        for cluster, compared in contents
        if compared[_TITLE] == title and are_one_host(host, host_of(compared[8 + FACTS_AT :]))
    }
    return len(titled) + titled_elsewhere >= GENERIC


def distance_of(page: Fingerprint, compared: bytes) -> int:
    """Return the distance in bits between a page and an original, by text or unique text, whichever is smaller.

    *compared* is `Fingerprint.compared_bytes` of the original.
    """
    values, other_values = compared_values(page.compared_bytes()), compared_values(compared)
    return min([(a ^ b).bit_count() for a in values for b in other_values])


class Chosen(NamedTuple):
    """The original of a page, or the most similar candidate."""

    number: int
    is_near: bool
    distance: int
    similarity: float
    contradicts: bool


class Found(NamedTuple):
    """The result of `near`."""

    found_by: int = 0
    """Flags of the values by which the page is indexed, if it is new."""
    values: tuple[int, ...] = ()
    """The values of these flags."""
    is_by_learning: bool = False
    """See ``Claim``."""
    chosen: Chosen | None = None
    near: tuple[int, ...] = ()
    """The originals of which the page is a near-duplicate."""
    others: tuple[int, ...] = ()
    """The first candidates, at most `MAX_CLUSTERS`, of which the page is not a near-duplicate."""
    is_generic: bool = False
    """Whether the title of the page is generic."""


#: A number that no page uses.
NO_PAGE = -1


def near(
    index: SimhashIndex,
    rule: Rule,
    page: Fingerprint,
    recent: Mapping[int, Original],
    read: Callable[[int], Original | None],
    number: int = NO_PAGE,
    cluster: int = NO_PAGE,
    titled_elsewhere: int = 0,
) -> Found:
    """Search for a page, compare it with at most `MAX_COMPARED` originals, and choose one.

    *read* returns the row of an original that is not in *recent*, or None to skip it. A known page has a *number*,
    and *cluster* is the number of its former original, or of the page itself. *titled_elsewhere* is the number of
    clusters with its title in other stores.

    The ranking is: the row of the page itself, then originals that the page does not contradict, then the original of
    its cluster, then the most similar, the nearest, and the oldest. Without a near-duplicate, the most similar
    candidate is chosen.
    """
    look = rule.native
    if look is not None and page.sketch:
        native: Any = index.core
        found_by, values, is_by_learning, chosen, nearby, others, has_generic_title = native.near(
            look,
            page.compared_bytes(),
            title_key_number(page.sketch),
            *(MAX_COMPARED, MAX_NEARBY, recent, read, GENERIC - titled_elsewhere, number, cluster),
        )
        best_one = Chosen(*chosen) if chosen is not None else None
        return Found(found_by, values, is_by_learning, best_one, nearby, others, has_generic_title)
    matches, found_by, values, is_cut = search(index, page)
    if is_cut and cluster != NO_PAGE and not any(match.key == cluster for match in matches):
        latest = read(cluster)
        # Originals that are not indexed by any value are not compared.
        if latest is not None and latest.found_by:
            matches = [Match(cluster, 0, 0), *matches[: MAX_COMPARED - 1]]
    rows = [row for match in matches if (row := recent.get(match.key) or read(match.key))]
    compared = [row.compared for row in rows]
    has_generic_title = is_generic(page, [(row.number, row.compared) for row in rows], titled_elsewhere)
    compared_all = rule.compare_all(page, compared, has_generic_title)
    alike = [
        Chosen(
            rows[place].number,
            True,
            distance_of(page, compared[place]),
            similarity,
            contradicts,
        )
        for place, similarity, _, contradicts in compared_all
        if similarity is not None
    ]
    best = min(
        alike,
        key=lambda one: (
            *(one.number != number, one.contradicts, not one.contradicts and one.number != cluster),
            *(-one.similarity, one.distance, one.number),
        ),
        default=None,
    )
    if best is None and (nearest := rule.nearest(page, compared, has_generic_title)):
        row = rows[nearest.place]
        best = Chosen(row.number, False, distance_of(page, row.compared), nearest.similarity, False)
    near_ones = tuple(dict.fromkeys(one.number for one in alike))
    others = tuple(islice((row.number for row in rows if row.number not in near_ones), MAX_CLUSTERS))
    is_by_learning = any(one.by_text is not None for one in compared_all) != bool(alike)
    return Found(found_by, values, is_by_learning, best, near_ones, others, has_generic_title)
