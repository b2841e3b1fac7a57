"""A naive implementation of the store protocol, by linear search."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scrapy_simhash import Fingerprint
from scrapy_simhash.judge.rule import Near, Rule
from scrapy_simhash.page.fingerprint import FACTS_AT, MINHASH_BYTES, unique_value
from scrapy_simhash.store import Claim, History, Posting, Row, Touch
from scrapy_simhash.store.candidates import FIRST_COPIES, MAX_CLUSTERS


@dataclass
class Entry:
    """A page."""

    number: int
    posting: Posting
    """The posting of the last visit."""
    fingerprint: Fingerprint
    """The fingerprint with which other pages are compared."""
    original: int
    rank: int
    delivered: int | None
    """The last run that has delivered it with its current text."""
    history: History

    @property
    def is_original(self) -> bool:
        return self.original == self.number


class Match(NamedTuple):
    """A match with an original; the least match is chosen."""

    contradicts: bool
    difference: float
    """Minus the similarity."""
    distance: int
    number: int


class NaiveStore:
    """A naive implementation of the store protocol: a dictionary and linear search."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.run = 1
        self.rows: dict[bytes, Entry] = {}
        #: The number of the next new page.
        self.next = 0
        #: The cluster of each join, in order; founding a cluster does not count.
        self.joins: list[int] = []

    def former(self, key: bytes) -> Row | None:
        row = self.get(key)
        return row if row is None or row.delivered != self.run else row._replace(delivered=None)

    def originals(self) -> dict[int, Entry]:
        return {row.number: row for row in self.rows.values() if row.is_original}

    def look(self, posting: Posting) -> Claim:
        return self.answer(posting)._replace(is_by_learning=self.is_by_learning(posting))

    def answer(self, posting: Posting) -> Claim:
        row, former = self.rows.get(posting.key), self.former(posting.key)
        same_text = self.with_text(posting)
        matches = sorted(self.matches(posting))
        if same_text is not None:
            # Equal text comes before any other match.
            matches = [match._replace(contradicts=False) for match in matches if match.number == same_text]
            matches = matches or [Match(False, -1.0, 0, same_text)]
        near = {match.number for match in matches}
        if same_text is None:
            near |= self.near_copies(posting, near)
        # Order of preference: the page's own row, the row of its cluster unless the facts contradict, a match
        # without a contradiction, the most similar, the nearest, the oldest.
        own = None if row is None else row.number
        cluster = None if row is None else row.original
        of_itself = [match for match in matches if match.number == own]
        of_cluster = [match for match in matches if match.number == cluster and not match.contradicts]
        chosen = next(iter(of_itself or of_cluster or matches), None)
        if chosen is not None and chosen.number == own:
            also_near = tuple(sorted(near - {chosen.number}))
            return Claim(former, chosen.number, None, None, None, rank=0, also_near=also_near)
        # A page that is or was an original gets the next number.
        is_copy = chosen is not None and not chosen.contradicts
        number = self.next if row is None or row.is_original or not is_copy else row.number
        if chosen is None:
            also_near = tuple(sorted(near - {number}))
            return Claim(former, number, None, None, None, rank=0, also_near=also_near)
        contradicts, difference, distance, owner = chosen
        original = self.originals()[owner].posting
        same = posting.is_short or (posting.page_hash is not None and posting.page_hash == original.page_hash)
        rank = row.rank if row is not None and row.original == owner else self.joins.count(owner) + 1
        joined = owner
        if contradicts:
            joined, rank = number, 0
        known = (former, joined, original.url, distance, -difference, same, rank, original.key)
        return Claim(*known, also_near=tuple(sorted(near - {joined})), contradicts=contradicts)

    def claim(self, posting: Posting) -> Claim:
        claim = self.look(posting)
        row, former = self.rows.get(posting.key), claim.former
        delivered = self.run if posting.is_delivered else None
        is_copy = claim.original is not None and not claim.contradicts
        if is_copy and not (row is not None and row.original == claim.cluster):
            self.joins.append(claim.cluster)
        assert claim.rank is not None
        visits = posting.history or History(posting.seen, posting.seen)
        if row is None or former is None:
            number = self.next
            self.next += 1
            original = claim.cluster if is_copy else number
            self.rows[posting.key] = Entry(
                number,
                posting,
                posting.fingerprint,
                original,
                claim.rank,
                delivered,
                visits,
            )
            return claim
        if delivered or not former.is_unchanged(posting):
            row.delivered = delivered
        row.history = row.history.joined(visits)
        if not former.is_unchanged(posting):
            row.history = row.history._replace(changes=row.history.changes + 1)
        row.posting, row.rank = posting, claim.rank
        if row.is_original and claim.cluster == row.number:
            return claim
        row.fingerprint = posting.fingerprint
        if row.is_original or not is_copy:
            row.number = self.next
            self.next += 1
        row.original = claim.cluster if is_copy else row.number
        return claim

    def deliver(self, pages: Mapping[bytes, int | None]) -> None:
        for key, page_hash in pages.items():
            row = self.rows.get(key)
            if row is not None and row.posting.own_page_hash == page_hash:
                row.delivered = self.run

    def touch(self, visits: Collection[tuple[bytes, int]], touch: Touch) -> None:
        for key, seen in visits:
            row = self.rows.get(key)
            if row is None:
                continue
            if touch is Touch.GONE:
                row.history = row.history._replace(last_visit=max(seen, row.posting.seen + 1))
                continue
            row.posting = row.posting._replace(seen=seen)
            if touch is Touch.VISITED:
                row.history = row.history._replace(last_visit=seen, visits=row.history.visits + 1)

    def is_by_learning(self, posting: Posting) -> bool:
        agrees = not posting.is_short and any(
            near.by_text is not None for row in self.findable(posting) for near in self.compared(posting, row)
        )
        is_decided = posting.is_short or self.with_text(posting) is not None
        return not is_decided and agrees != bool(self.matches(posting))

    def compared(self, posting: Posting, row: Entry) -> list[Near]:
        generic = self.has_generic_title(posting)
        return self.rule.compare_all(posting.fingerprint, [row.fingerprint.compared_bytes()], generic)

    def with_text(self, posting: Posting) -> int | None:
        """Return the original of the pages that currently have the text of *posting*; None if there is no such
        page.
        """
        asked = (posting.scope, posting.is_short, posting.page_hash)
        originals = self.originals()
        found = {
            row.original
            for row in self.rows.values()
            if (row.posting.scope, row.posting.is_short, row.posting.page_hash) == asked
            and row.original in originals
        }
        assert len(found) <= 1 or posting.page_hash is None, "equal text is one cluster"
        return None if posting.page_hash is None or not found else found.pop()

    def matches(self, posting: Posting) -> list[Match]:
        """Return every original that *posting* is a near-duplicate of."""
        found = []
        for row in [] if posting.is_short else self.findable(posting):
            for near in self.compared(posting, row):
                if near.similarity is not None:
                    distance = self.distance(posting, row)
                    found.append(Match(near.contradicts, -near.similarity, distance, row.number))
        return found

    def distance(self, posting: Posting, row: Entry) -> int:
        pages = posting.fingerprint, row.fingerprint
        values, its_values = (
            {page.value, (page.sketch and unique_value(page.own)) or page.value} for page in pages
        )
        return min((one ^ its).bit_count() for one in values for its in its_values)

    def findable(self, posting: Posting) -> Iterator[Entry]:
        """Yield the rows of all originals that *posting* may be compared with."""
        for _, row in sorted(self.originals().items()):
            if row.posting.scope == posting.scope and not row.posting.is_short:
                yield row

    def near_copies(self, posting: Posting, near: Collection[int]) -> set[int]:
        """Return the candidates that are not in *near* but have an early copy that is near."""
        title = posting.fingerprint.sketch[MINHASH_BYTES:FACTS_AT]
        if posting.is_short or not posting.fingerprint.sketch or not self.rule.compares_sketches:
            return set()
        candidates = []
        for row in self.findable(posting):
            distance = self.distance(posting, row)
            has_title = any(title) and row.fingerprint.sketch[MINHASH_BYTES:FACTS_AT] == title
            if row.number not in near and (has_title or distance <= self.rule.reach):
                candidates.append(
                    (0 if has_title else 1, 0 if has_title else distance, row.number, row.posting.key)
                )
        clusters = [number for _, _, number, key in sorted(candidates)][:MAX_CLUSTERS]
        own = self.rows.get(posting.key)
        if own is not None and own.number in clusters:
            clusters.remove(own.number)
        return {
            copy.original
            for copy in self.rows.values()
            if copy.posting.key != posting.key and 0 < copy.rank <= FIRST_COPIES and copy.original in clusters
            if any(near.similarity is not None for near in self.compared(posting, copy))
        }

    def has_generic_title(self, posting: Posting) -> bool:
        """Return whether at least three clusters of the scope have the title of *posting*."""
        title = posting.fingerprint.sketch[MINHASH_BYTES:FACTS_AT]
        return (
            any(title)
            and sum(row.fingerprint.sketch[MINHASH_BYTES:FACTS_AT] == title for row in self.findable(posting))
            >= 3
        )

    def get(self, key: bytes) -> Row | None:
        row = self.rows.get(key)
        if row is None:
            return None
        first = self.originals().get(row.original)
        original = None if first is None or first is row else first.posting.url
        return Row(row.number, self.kept(row), row.original, original, row.delivered, row.rank)

    def kept(self, row: Entry) -> Posting:
        """Return the posting of a page as stores keep it."""
        is_delivered = row.delivered is not None
        return row.posting._replace(
            fingerprint=row.fingerprint, is_delivered=is_delivered, history=row.history
        )

    def remove(self, key: bytes) -> bool:
        return self.rows.pop(key, None) is not None

    def postings(self) -> list[Posting]:
        return [self.kept(row) for row in sorted(self.rows.values(), key=lambda row: row.number)]

    @property
    def index_size(self) -> int:
        return sum(not row.posting.is_short for row in self.originals().values())

    def __len__(self) -> int:
        return len(self.rows)
