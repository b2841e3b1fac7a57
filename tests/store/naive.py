"""A store as the protocol words it: it remembers everything, and looks at all of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from scrapy_simhash.judge.rule import Rule
from scrapy_simhash.page.fingerprint import FACTS_AT, MINHASH_BYTES
from scrapy_simhash.store import Claim, Page, Posting, Visit
from scrapy_simhash.store.candidates import BY_OWN_PART, BY_TEXT, FIRST_COPIES, MOST_CLUSTERS, values_by


class Original(NamedTuple):
    """A content, and the page whose content it was first."""

    posting: Posting
    page: int


class Kin(NamedTuple):
    """A content that a page repeats; the least of them goes first."""

    contradicts: bool
    difference: float
    """Minus the similarity."""
    distance: int
    content: int
    page: int


class NaiveStore:
    """A store as the protocol words it: lists, and a look at every entry."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.ended: set[int] = set()
        #: Runs that give heartbeats and see those of others.
        self.live: set[int] = set()
        self.run = 1
        #: By page number. A page that was removed is None.
        self.pages: list[Posting | None] = []
        self.content: list[int] = []
        self.first_run: list[int] = []
        #: The rank that it took when it joined the cluster that it is in.
        self.ranks: list[int] = []
        #: The clusters that were joined, one after another; the one that a page founds is not joined.
        self.joins: list[int] = []
        #: By content number.
        self.originals: list[Original] = []

    def number(self, key: bytes) -> int | None:
        numbers = [number for number, page in enumerate(self.pages) if page is not None and page.key == key]
        return numbers[0] if numbers else None

    def visit(self, number: int) -> Visit | None:
        page = self.pages[number]
        if page is None:
            return None
        run = self.first_run[number]
        settled = run in self.ended
        is_live = {run, self.run} <= self.live and run != self.run and not settled
        return Visit(
            page.fingerprint.value,
            page.text_hash,
            page.seen,
            self.content[number],
            settled,
            page.is_short,
            is_live,
        )

    def look(self, posting: Posting) -> Claim:
        return self.answer(posting)._replace(is_by_learning=self.is_by_learning(posting))

    def answer(self, posting: Posting) -> Claim:
        number = self.number(posting.key)
        page = len(self.pages) if number is None else number
        former = None if number is None else self.visit(number)
        cluster = None if former is None else self.originals[former.content].page
        same_text = self.with_text(posting)
        kin = sorted(self.kin(posting))
        if same_text is not None:
            # Whatever else it is like, and whatever it was before.
            kin = [match._replace(contradicts=False) for match in kin if match.content == same_text]
            kin = kin or [Kin(False, -1.0, 0, same_text, self.originals[same_text].page)]
        near = {match.page for match in kin}
        if same_text is None:
            near |= self.near_copies(posting, near)
        # The page's own content first, then that of its cluster unless it contradicts that, then what it does not
        # contradict, then the most alike, then the nearest, then the oldest.
        of_itself = [match for match in kin if match.page == page]
        of_cluster = [match for match in kin if match.page == cluster and not match.contradicts]
        chosen = next(iter(of_itself or of_cluster or kin), None)
        if chosen is None:
            also_near = tuple(sorted(near - {page}))
            return Claim(former, len(self.originals), page, None, None, None, False, 0, also_near=also_near)
        contradicts, difference, distance, content, owner = chosen
        if owner == page:
            also_near = tuple(sorted(near - {page}))
            return Claim(former, content, page, None, None, None, False, 0, also_near=also_near)
        original = self.pages[owner]
        assert original is not None
        rank = self.ranks[page] if owner == cluster else self.joins.count(owner) + 1
        first = self.originals[content].posting
        same = posting.is_short or (posting.text_hash is not None and posting.text_hash == first.text_hash)
        if contradicts:
            # A content of its own, in a cluster of its own.
            content, owner, rank = len(self.originals), page, 0
        known = (former, content, owner, original.url, distance, -difference, same, rank, original.key)
        return Claim(*known, also_near=tuple(sorted(near - {owner})), contradicts=contradicts)

    def claim(self, posting: Posting) -> Claim:
        claim = self.look(posting)
        number = self.number(posting.key)
        page = len(self.pages) if number is None else number
        if claim.content == len(self.originals):
            self.originals.append(Original(posting, page))
        cluster = None if claim.former is None else self.originals[claim.former.content].page
        if claim.cluster not in (page, cluster):
            self.joins.append(claim.cluster)
        assert claim.rank is not None
        run = self.run if posting.is_delivered else 0
        if number is None:
            self.pages.append(posting)
            self.content.append(claim.content)
            self.ranks.append(claim.rank)
            self.first_run.append(run)
            return claim
        former = claim.former
        assert former is not None
        unchanged = (former.value, former.text_hash) == (posting.fingerprint.value, posting.text_hash)
        if not (unchanged and (former.is_settled or (former.is_live and posting.is_delivered))):
            self.first_run[page] = run
        self.pages[page], self.content[page], self.ranks[page] = posting, claim.content, claim.rank
        return claim

    def unsettle(self, keys: Collection[bytes]) -> None:
        for key in keys:
            number = self.number(key)
            if number is not None and self.first_run[number] == self.run:
                self.first_run[number] = 0

    def is_by_learning(self, posting: Posting) -> bool:
        agrees = not posting.is_short and any(
            near.by_text is not None
            for other, page in self.originals
            for near in self.rule.compare_all(
                posting.fingerprint, [other.fingerprint.compared_bytes()], self.has_generic_title(posting)
            )
            if self.pages[page] is not None and (other.scope, other.is_short) == (posting.scope, False)
        )
        is_decided = posting.is_short or self.with_text(posting) is not None
        return not is_decided and agrees != bool(self.kin(posting))

    def with_text(self, posting: Posting) -> int | None:
        """Return the content of the pages that have the text of *posting* now, and an original that is there."""
        found = {
            self.content[number]
            for number, page in enumerate(self.pages)
            if page is not None
            and (page.scope, page.is_short, page.text_hash) == (posting.scope, False, posting.text_hash)
            and self.pages[self.originals[self.content[number]].page] is not None
        }
        assert len(found) <= 1 or posting.text_hash is None, "equal text is one content"
        return None if posting.is_short or posting.text_hash is None or not found else found.pop()

    def kin(self, posting: Posting) -> list[Kin]:
        """Return every content that *posting* repeats."""
        found = []
        for number, distance, other, page in self.originals_of(posting):
            near = self.rule.compare_all(
                posting.fingerprint, [other.fingerprint.compared_bytes()], self.has_generic_title(posting)
            )
            alike, contradicts = (near[0].similarity, near[0].contradicts) if near else (None, False)
            if posting.is_short:
                alike, contradicts = None if distance else 1.0, False
            if alike is not None:
                found.append(Kin(contradicts, -alike, distance, number, page))
        return found

    def originals_of(self, posting: Posting) -> Iterator[tuple[int, int, Posting, int]]:
        """Yield number, distance, posting and page of every content that *posting* may be compared with."""
        for number, (other, page) in enumerate(self.originals):
            if self.pages[page] is None or (other.scope, other.is_short) != (posting.scope, posting.is_short):
                continue
            # Of a short page nothing but its value is compared.
            found_by = BY_TEXT if posting.is_short else BY_TEXT | BY_OWN_PART
            distance = min(
                (one ^ its).bit_count()
                for one in values_by(posting.fingerprint, found_by)
                for its in values_by(other.fingerprint, found_by)
            )
            yield number, distance, other, page

    def near_copies(self, posting: Posting, near: Collection[int]) -> set[int]:
        """Return the clusters of candidates that are not *near*, of which a first copy is near."""
        title = posting.fingerprint.sketch[MINHASH_BYTES:FACTS_AT]
        if posting.is_short or not posting.fingerprint.sketch or not self.rule.compares_sketches:
            return set()
        candidates = []
        for number, distance, other, page in self.originals_of(posting):
            has_title = any(title) and other.fingerprint.sketch[MINHASH_BYTES:FACTS_AT] == title
            if page not in near and (has_title or distance <= self.rule.reach):
                candidates.append((0 if has_title else 1, 0 if has_title else distance, number, page))
        clusters = list(dict.fromkeys(page for *_, page in sorted(candidates)))[:MOST_CLUSTERS]
        found = set()
        for number, copy in enumerate(self.pages):
            if copy is None or copy.key == posting.key or not 0 < self.ranks[number] <= FIRST_COPIES:
                continue
            cluster = self.originals[self.content[number]].page
            compared = self.latest(number).fingerprint.compared_bytes()
            if cluster in clusters and any(
                one.similarity is not None
                for one in self.rule.compare_all(
                    posting.fingerprint, [compared], self.has_generic_title(posting)
                )
            ):
                found.add(cluster)
        return found

    def has_generic_title(self, posting: Posting) -> bool:
        """Return whether three clusters or more of its scope have the title of *posting*."""
        title = posting.fingerprint.sketch[MINHASH_BYTES:FACTS_AT]
        titled = {
            page
            for other, page in self.originals
            if (other.scope, other.is_short) == (posting.scope, False) and self.pages[page] is not None
            if any(title) and other.fingerprint.sketch[MINHASH_BYTES:FACTS_AT] == title
        }
        return len(titled) >= 3

    def get(self, key: bytes) -> Page | None:
        number = self.number(key)
        if number is None:
            return None
        content = self.content[number]
        cluster = self.originals[content].page
        first = self.pages[cluster]
        original = None if cluster == number or first is None else first.url
        return Page(number, self.latest(number), content, cluster, original)

    def latest(self, number: int) -> Posting:
        """Return the posting of the last visit of a page, as stores keep it."""
        posting = self.pages[number]
        assert posting is not None
        first = self.originals[self.content[number]]
        fingerprint, its = posting.fingerprint, first.posting.fingerprint
        # All but the host, the last byte of its facts.
        is_as = (fingerprint.value, fingerprint.sketch[:-1]) == (its.value, its.sketch[:-1])
        if is_as and (first.page == number or fingerprint.own == its.own):
            # What was known about the site when its content came.
            fingerprint = replace(fingerprint, sketch=its.sketch, own=its.own)
        return _kept(posting._replace(fingerprint=fingerprint), self.first_run[number] in self.ended)

    def remove(self, key: bytes) -> bool:
        number = self.number(key)
        if number is not None:
            self.pages[number] = None
        return number is not None

    def postings(self) -> list[Posting]:
        found = []
        for number, latest in enumerate(self.pages):
            if latest is None:
                continue
            settled = self.first_run[number] in self.ended
            for content, (first, owner) in enumerate(self.originals):
                is_latest = content == self.content[number] and (
                    first.fingerprint.to_bytes() == latest.fingerprint.to_bytes()
                )
                if owner == number and not is_latest:
                    # Of an earlier content its URL is not kept, but the page's of today.
                    found.append(_kept(first, settled)._replace(url=latest.url))
            found.append(self.latest(number))
        return found

    def end_run(self, in_order: bool) -> None:
        if in_order:
            self.ended.add(self.run)
        self.run += 1

    @property
    def index_size(self) -> int:
        return sum(
            not entry.posting.is_short and self.pages[entry.page] is not None for entry in self.originals
        )

    def __len__(self) -> int:
        return sum(page is not None for page in self.pages)


def _kept(posting: Posting, is_settled: bool) -> Posting:
    return posting._replace(is_delivered=is_settled)
