"""LocalStore: claims over indexes in this process. Who keeps the pages only keeps them: all is decided here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from scrapy_simhash.index import HammingIndex, Match
from scrapy_simhash.judge.measured import BASES
from scrapy_simhash.page.fingerprint import Fingerprint, subject_number
from scrapy_simhash.recent import Recent
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Claim, Page, Posting, Store, Visit
from scrapy_simhash.store.candidates import (
    BLOCKS,
    BY_ALL,
    BY_TEXT,
    FINGERPRINTS,
    distance_of,
    index_for,
    search,
    tell_crowd,
    values_by,
    with_latest,
)
from scrapy_simhash.store.damage import ContentDamaged
from scrapy_simhash.store.header import Header
from scrapy_simhash.verdict import NearMiss

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import SecondLook


class Kin(NamedTuple):
    """A content that a page repeats."""

    content: int
    cluster: int
    distance: int
    similarity: float
    is_same_text: bool


class Found(NamedTuple):
    """What a search has found for a page."""

    kin: Kin | None
    found_by: int = BY_TEXT
    """See ``candidates``: by which of its values the page can be found, if it is new."""
    values: tuple[int, ...] = ()
    """These values."""
    is_by_learning: bool = False
    threshold: float | None = None
    near_miss: NearMiss | None = None
    decided_by: str | None = None
    required: float | None = None
    """The last five: see `Claim`."""


class Entry(NamedTuple):
    """What is to be written about a page: all that a claim changes."""

    number: int
    """Of the page: the next one if it is new."""
    posting: Posting
    former: Visit | None
    content: int
    is_new_content: bool
    has_own_sketch: bool
    """Whether value or sketch differ from the content's, or the own part from that of another page's content, so that
    they must be kept beside it."""
    keeps_run: bool
    """Whether the text was delivered in an earlier run already, which stays noted."""
    rank: int
    """In its cluster; 0 in its own."""
    joins: int | None
    """The cluster that it joins by this: from now on so many as *rank* says have joined it. None when it was in there
    before, or is its first."""
    found_by: int
    """See ``candidates``: by which values a new content is found."""


class LocalStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` whose indexes are here, one for each scope.

    A subclass is the *ledger*: it keeps pages and contents, and writes an entry as a whole or raises
    StoreUnavailable. Only then does the index learn of it. *blocks* is for `index_for`.
    """

    #: How many fingerprints can be found. Counted, since there may be as many indexes as sites.
    index_size = 0

    def __init__(self, header: Header, blocks: int = BLOCKS) -> None:
        super().__init__(header)
        self._rule = header.rule
        self._blocks = blocks
        self._indexes: dict[str, HammingIndex] = {}
        #: Scopes with a crowd, of which the log has told.
        self._crowded: set[str] = set()
        #: Contents that were found, and could not be read.
        self._damaged: set[int] = set()
        self._recent: Recent[int, bytes] = Recent(FINGERPRINTS)
        self._look = self._rule.native
        #: The numbers that the next new page and the next new content will have: the ledger counts on.
        self._page_end = self._content_end = 0

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One look-up and one insert."""
        number, claim, joins, found = self._decide(posting)
        content, former, fingerprint = claim.content, claim.former, posting.fingerprint
        is_new_content = content == self._content_end
        self._write(
            Entry(
                number,
                posting,
                former,
                content,
                is_new_content,
                not is_new_content and not self._is_as(content, number, fingerprint),
                former is not None
                and former.is_settled
                and (former.value, former.text_hash) == (fingerprint.value, posting.text_hash),
                claim.rank or 0,
                joins,
                found.found_by,
            )
        )
        if is_new_content and not posting.is_short:
            self._find_by(posting.scope, found, content)
        return claim

    def _find_by(self, scope: str, found: Found, content: int) -> None:
        """Let a content be found from now on by its values."""
        index = self._index(scope)
        for value in found.values:
            index.add(value, content)
        self._count(scope, found.found_by)

    def _count(self, scope: str, found_by: int) -> None:
        """Count a new content; the first that its text does not find is told."""
        self.index_size += bool(found_by)
        if not found_by & BY_TEXT:
            tell_crowd(scope, self._rule.reach, self._crowded)

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One look-up."""
        return self._decide(posting)[1]

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`."""
        page = self.get(key)
        if page is None:
            return False
        for content, posting in self._erase(page):
            # After a failure of memory there may be contents that can be found only when the store is opened again.
            if not posting.is_short:
                index, values = self._index(posting.scope), values_by(posting.fingerprint, BY_ALL)
                self.index_size -= sum([index.discard(value, content) for value in values]) > 0
        return True

    def _decide(self, posting: Posting) -> tuple[int, Claim, int | None, Found]:
        """Return the number of the page, the next one if it is new, the answer, and the cluster that it joins.

        And what was found for it, with the values by which it can be found, if it is new.
        """
        while True:
            try:
                return self._judge(posting)
            except ContentDamaged as damaged:
                # Once each: there are not more of them than candidates.
                if damaged.content in self._damaged:
                    raise
                self._damaged.add(damaged.content)

    def _judge(self, posting: Posting) -> tuple[int, Claim, int | None, Found]:
        known = self._visit(posting.key)
        number, former, rank = (self._page_end, None, 0) if known is None else known
        found = (
            Found(self._short_kin(posting)) if posting.is_short else self._near_kin(posting, number, former)
        )
        kin, _, _, is_by_learning, threshold, near_miss, decided_by, required = found
        # In the order of the fields: names take half a microsecond more.
        if kin is None or kin.cluster == number:
            content = self._content_end if kin is None else kin.content
            told = (False, 0, None, is_by_learning, threshold, near_miss)
            return number, Claim(former, content, number, None, None, None, *told), None, found
        original, original_key, joined = self._cluster(kin)
        is_there = former is not None and (
            former.content == kin.content or self._former_cluster(former) == kin.cluster
        )
        if not is_there:
            rank = joined + 1
        claim = Claim(
            *(former, kin.content, kin.cluster, original, kin.distance, kin.similarity, kin.is_same_text),
            rank,
            original_key,
            *(is_by_learning, threshold, None, decided_by, required),
        )
        return number, claim, None if is_there else kin.cluster, found

    def _near_kin(self, posting: Posting, number: int, former: Visit | None) -> Found:
        """Find the content that *posting* repeats: the page's own, else its cluster's, else the most alike."""
        fingerprint, index = posting.fingerprint, self._index(posting.scope)
        if former is None and self._look is not None and fingerprint.sketch and not self._damaged:
            return self._new_kin(posting, index, self._look)
        matches, found_by, values, is_cut = search(index, fingerprint)
        if former is not None and is_cut and former.content not in self._damaged:
            its = self._content(former.content)[1]
            matches = with_latest(matches, former.content, its, fingerprint, index)
        matches = self._sound(matches)
        if not matches:
            return Found(None, found_by, values)
        compared = self._compared(match.key for match in matches)
        near = self._rule.compare_all(fingerprint, compared)
        found = []
        for place, similarity, _ in near:
            if similarity is not None:
                content = matches[place].key
                cluster, text_hash = self._origin(content)
                is_same_text = text_hash is not None and text_hash == posting.text_hash
                distance = distance_of(fingerprint, compared[place])
                found.append(Kin(content, cluster, distance, similarity, is_same_text))
        is_by_learning = any(by_text is not None for _, _, by_text in near) != bool(found)
        if not found:
            miss = self._near_miss(fingerprint, matches, compared, number) if self.explains else None
            return Found(None, found_by, values, is_by_learning, near_miss=miss)
        own = (number, None if former is None else self._former_cluster(former))
        best = min(
            found,
            key=lambda kin: (
                *(kin.cluster != page for page in own),
                -kin.similarity,
                kin.distance,
                kin.content,
            ),
        )
        if self.explains and (nearest := self._rule.nearest(fingerprint, self._compared((best.content,)))):
            _, _, threshold, decided_by, required = nearest
            return Found(best, found_by, values, is_by_learning, threshold, None, decided_by, required)
        return Found(best, found_by, values, is_by_learning)

    def _new_kin(self, posting: Posting, index: HammingIndex, look: SecondLook) -> Found:
        """Return what _near_kin() does for a page that is new and has a sketch, by one call of the kernel."""
        fingerprint = posting.fingerprint
        found_by, values, is_by_learning, chosen = index.core.near(
            look,
            fingerprint.compared_bytes(),
            subject_number(fingerprint.sketch),
            *(candidates.MOST_COMPARED, candidates.MOST_NEARBY),
            *(self._recent, self._prepared, self.explains),
        )
        found = Found(None, found_by, values, is_by_learning)
        if chosen is None:
            return found
        content, is_near, distance, alike, explained = chosen
        if not (is_near or explained):
            return found
        cluster, text_hash = self._origin(content)
        is_same_text = text_hash is not None and text_hash == posting.text_hash
        kin = Kin(content, cluster, distance, alike, is_same_text)
        if not explained:
            return found._replace(kin=kin)
        threshold, basis, required = explained
        if is_near:
            return Found(kin, found_by, values, is_by_learning, threshold, None, BASES[basis], required)
        url = self._cluster(kin)[0]
        return found._replace(near_miss=NearMiss(url, distance, alike, threshold, BASES[basis], required))

    def _near_miss(
        self, fingerprint: Fingerprint, matches: list[Match], compared: list[bytes], number: int
    ) -> NearMiss | None:
        """Return the most alike of *matches*, None if page *number* itself had it."""
        nearest = self._rule.nearest(fingerprint, compared)
        if nearest is None:
            return None
        content = matches[nearest.place].key
        cluster, _ = self._origin(content)
        if cluster == number:
            return None
        distance = distance_of(fingerprint, compared[nearest.place])
        kin = Kin(content, cluster, distance, nearest.similarity, False)
        return NearMiss(self._cluster(kin)[0], kin.distance, *nearest[1:])

    def _compared(self, contents: Iterable[int]) -> list[bytes]:
        """Return what the rule compares of each content, see `Fingerprint.compared_bytes`."""
        recent = self._recent
        return [recent.get(content) or self._prepared(content) for content in contents]

    def _prepared(self, content: int) -> bytes:
        """Return what the rule compares of a content that is not among the recent ones."""
        # It never changes; and in a crowd it is the same ones again and again.
        data = self._recent[content] = self._content(content)[1].compared_bytes()
        return data

    def _short_kin(self, posting: Posting) -> Kin | None:
        content = self._short(posting.scope, posting.fingerprint.value)
        if content is None or content in self._damaged:
            return None
        return Kin(content, self._origin(content)[0], 0, 1.0, True)

    def _sound(self, matches: list[Match]) -> list[Match]:
        """Return *matches* without contents that are known to be damaged."""
        damaged = self._damaged
        return [match for match in matches if match.key not in damaged] if damaged else matches

    def _former_cluster(self, former: Visit) -> int | None:
        """Return the page that the content of a former visit came from, None if that cannot be read."""
        return None if former.content in self._damaged else self._origin(former.content)[0]

    def _is_as(self, content: int, number: int, fingerprint: Fingerprint) -> bool:
        """Return whether a content says all of the *fingerprint* of page *number* that must be kept.

        The own part of a page changes whenever more is known about its site; with its own content stays the first.
        """
        cluster, its, _ = self._content(content)
        is_own = cluster == number or its.own == fingerprint.own
        return is_own and (its.value, its.sketch) == (fingerprint.value, fingerprint.sketch)

    def _index(self, scope: str) -> HammingIndex:
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self._rule, self._blocks)
        return index

    # --- The ledger.

    @abstractmethod
    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`."""

    @abstractmethod
    def _visit(self, key: bytes) -> tuple[int, Visit, int] | None:
        """Return the number of a page, its last visit and its rank, None if it is not known."""

    @abstractmethod
    def _content(self, number: int) -> tuple[int, Fingerprint, int | None]:
        """Return the page that a content came from, also if it was removed since, its fingerprint, its text hash.

        Raises ContentDamaged if it cannot be read.
        """

    def _origin(self, number: int) -> tuple[int, int | None]:
        """Return of a content what _content() does, but for the fingerprint."""
        page, _, text_hash = self._content(number)
        return page, text_hash

    @abstractmethod
    def _short(self, scope: str, value: int) -> int | None:
        """Return the number of an exact content that can be found, None if there is none."""

    @abstractmethod
    def _cluster(self, kin: Kin) -> tuple[str, bytes, int]:
        """Return URL and key of the page that gives its number to the cluster of *kin*, and how many have joined it.

        Raises ContentDamaged if the page cannot be read.
        """

    @abstractmethod
    def _write(self, entry: Entry) -> None:
        """Keep *entry*, all of it or nothing. Raises StoreUnavailable when that is not possible now."""

    @abstractmethod
    def _erase(self, page: Page) -> list[tuple[int, Posting]]:
        """Forget *page*, and return the contents that came from it, which must not be found any more."""
