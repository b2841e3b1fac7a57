"""Claims: decide which original a page joins, and compute its new row. All stores use this code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.store.base import Claim, History, Original, Posting, Row
from scrapy_simhash.store.candidates import NO_PAGE, Chosen, Found, distance_of, near


class Decision(NamedTuple):
    """The result of a claim, and the new row of the page."""

    claim: Claim
    row: Row
    former: Row | None
    keeps_row: bool
    """Whether the page is an original that is still a near-duplicate of its row."""
    takes_number: bool
    """Whether the page takes the next number: it is new, becomes an original, or stops being one."""
    chosen: Original | None
    """The original in the claim; None if there is no original, or if the page is the original."""
    joined: Original | None
    """The original in *chosen*; None if the page contradicts it."""
    is_joining: bool
    """Whether the page joins a different cluster than before."""
    found: Found

    @property
    def is_replaced(self) -> bool:
        """Whether the former row of the page was an original and the new row is not."""
        return self.former is not None and self.former.is_original and not self.keeps_row


def find(
    posting: Posting,
    former: Row | None,
    equal: Original | None,
    index: SimhashIndex,
    rule: Rule,
    recent: Mapping[int, Original],
    read: Callable[[int], Original | None],
    titled_elsewhere: int = 0,
) -> Found:
    """Search for the original of *posting*, a page with the row *former*.

    *equal* is the original of the pages with the same text, if there are any; then no other original is compared. A
    short page has no other candidates. The other arguments are for ``near``.
    """
    if equal is not None:
        return _equal(rule, posting, equal)
    if posting.is_short:
        return Found()
    number = cluster = NO_PAGE
    if former is not None and former.posting.scope == posting.scope and not former.posting.is_short:
        number, cluster = former.number, former.cluster
    return near(index, rule, posting.fingerprint, recent, read, number, cluster, titled_elsewhere)


def _equal(rule: Rule, posting: Posting, original: Original) -> Found:
    """Return the result for a page whose text is in the cluster of *original*, with the similarity of the two."""
    chosen = Chosen(original.number, True, 0, 1.0, False)
    if not posting.is_short:
        for near_one in rule.compare_all(posting.fingerprint, [original.compared]):
            if near_one.similarity is not None:
                distance = distance_of(posting.fingerprint, original.compared)
                chosen = Chosen(original.number, True, distance, near_one.similarity, False)
    return Found(chosen=chosen)


def decide(
    posting: Posting,
    former: Row | None,
    found: Found,
    read: Callable[[int], Original | None],
    run: int,
    next_number: int,
) -> Decision:
    """Return the decision on *posting*, a page with the row *former*; *run* is the number of the run.

    *read* returns the row of an original. *next_number* is the number of the next new page.
    """
    best = found.chosen
    chosen_row = None if best is None else read(best.number)
    keeps_row = contradicts = False
    chosen = None
    if best is not None and best.is_near:
        keeps_row = former is not None and best.number == former.number
        contradicts = best.contradicts and not keeps_row
        chosen = None if keeps_row else chosen_row
    joined = None if contradicts else chosen
    stays_copy = former is not None and not former.is_original and joined is not None
    number = former.number if former is not None and (keeps_row or stays_copy) else next_number
    cluster, rank, is_joining = number, 0, False
    if joined is not None:
        cluster = joined.number
        is_joining = former is None or former.cluster != cluster
        rank = joined.joined + 1 if former is None or is_joining else former.rank or 0
    page_hash = posting.page_hash
    claim = Claim(
        former if former is None or former.delivered != run else former._replace(delivered=None),
        cluster,
        None if chosen is None else chosen.url,
        None if chosen is None or best is None else best.distance,
        None if chosen is None or best is None else best.similarity,
        chosen is not None
        and (posting.is_short or (page_hash is not None and page_hash == chosen.page_hash)),
        rank,
        None if chosen is None else chosen.key,
        found.is_by_learning,
        tuple(sorted({*found.near} - {cluster})) if found.near else (),
        contradicts,
        None if posting.is_short else chosen_row,
        found.is_generic,
    )
    takes_number = not (keeps_row or stays_copy)
    found_by = 0 if joined is not None or posting.is_short else found.found_by
    row = _row_after(posting, former, keeps_row, run, number, cluster, joined, rank, found_by)
    return Decision(claim, row, former, keeps_row, takes_number, chosen, joined, is_joining, found)


def _row_after(
    posting: Posting,
    former: Row | None,
    keeps_row: bool,
    run: int,
    number: int,
    cluster: int,
    original: Original | None,
    rank: int,
    found_by: int,
) -> Row:
    """Return the row of a page after the visit *posting*; the last five arguments are new values."""
    history = posting.history or History(posting.seen, posting.seen)
    delivered = run if posting.is_delivered else None
    fingerprint, joined = posting.fingerprint, 0
    if former is not None:
        if former.posting.history is not None:
            history = former.posting.history.joined(history)
        if former.is_unchanged(posting):
            delivered = delivered or former.delivered
        else:
            history = history._replace(changes=history.changes + 1)
        if keeps_row:
            fingerprint, joined, found_by = former.posting.fingerprint, former.joined, former.found_by
    # _replace() would take ten times as long.
    kept = Posting(
        posting.key,
        posting.url,
        posting.scope,
        fingerprint,
        posting.is_short,
        posting.own_page_hash,
        posting.seen,
        delivered is not None,
        posting.text_hash,
        history,
    )
    url = None if original is None else original.url
    return Row(number, kept, cluster, url, delivered, rank, joined, found_by)


def with_copies(
    claim: Claim, rule: Rule, posting: Posting, is_generic: bool, copies: Iterable[tuple[int, bytes]]
) -> Claim:
    """Return *claim* with the clusters of those *copies*, pairs of cluster and compared bytes, that the page is near.

    A page may be near a copy without being near the original of the copy.
    """
    fingerprint, first = posting.fingerprint, list(copies)
    if not (first and fingerprint.sketch and rule.compares_sketches):
        return claim
    near_ones = rule.compare_all(fingerprint, [compared for _, compared in first], is_generic)
    clusters = {first[one.place][0] for one in near_ones if one.similarity is not None}
    also_near = {*claim.also_near, *clusters} - {claim.cluster}
    return claim._replace(also_near=tuple(sorted(also_near)))
