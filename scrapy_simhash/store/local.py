"""LocalStore: claims over indexes in this process. Who keeps the pages only keeps them: all is decided here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from scrapy_simhash.exceptions import RecordDamaged
from scrapy_simhash.index import SimhashIndex
from scrapy_simhash.judge.measured import BASES, BY_EQUAL_TEXT
from scrapy_simhash.page.fingerprint import Fingerprint, subject_number
from scrapy_simhash.recent import Recent
from scrapy_simhash.store import candidates
from scrapy_simhash.store.base import Claim, Page, Posting, Store, Visit
from scrapy_simhash.store.candidates import (
    BLOCKS,
    BY_ALL,
    BY_TEXT,
    FINGERPRINTS,
    FIRST_COPIES,
    MOST_CLUSTERS,
    distance_of,
    index_for,
    is_generic,
    search,
    tell_crowd,
    values_by,
    with_latest,
)
from scrapy_simhash.store.damage import Damage, shown
from scrapy_simhash.store.header import Header
from scrapy_simhash.verdict import NearMiss

if TYPE_CHECKING:
    from scrapy_simhash.kernel._hamming import SecondLook


class PageRow(NamedTuple):
    """What is kept of a page's latest visit."""

    key: bytes
    url: str
    compared: bytes
    """`Fingerprint.compared_bytes`: its content's, or its own where that says something else."""
    text_hash: int | None
    seen: int
    content: int
    rank: int
    joined: int
    """How many have joined its cluster."""
    is_settled: bool = False


class ContentRow(NamedTuple):
    """What is kept of a content: its page, which may have been removed since, and what it came with."""

    page: int
    scope: str
    is_short: bool
    compared: bytes
    text_hash: int | None
    seen: int


class Ledger(Protocol):
    """Pages and contents by number, from 0, and pages by key. What cannot be read raises RecordDamaged."""

    def find(self, key: bytes) -> int | None:
        """Return the number of a page, None if it is not known."""
        ...

    def page(self, number: int) -> PageRow | None:
        """Return what is kept of a page, None if it was removed."""
        ...

    def content(self, number: int) -> ContentRow:
        """Return what is kept of a content."""
        ...

    def contents_of(self, page: int) -> list[int]:
        """Return the contents that came from a page, oldest first."""
        ...

    def first_copies(self, cluster: int) -> list[int]:
        """Return the first pages, at most `FIRST_COPIES`, that joined a cluster; some may have left it since."""
        ...


class Text(NamedTuple):
    """A text that pages have now, all of them with one content."""

    scope: str
    text_hash: int
    content: int


#: What tells which contents came from a page.
ContentsOf: TypeAlias = Callable[[int], Iterable[int]]


class Kin(NamedTuple):
    """A content that a page repeats, or the one that it is most alike."""

    content: int
    row: ContentRow
    distance: int
    similarity: float
    contradicts: bool = False
    """Whether the facts of the two contradict each other."""


class Found(NamedTuple):
    """What a search has found for a page."""

    found_by: int
    """See ``candidates``: by which of its values the page can be found, if it is new."""
    values: tuple[int, ...]
    """These values."""
    kin: Kin | None
    is_near: bool
    """Whether the page repeats *kin*."""
    is_by_learning: bool = False
    """See `Claim`."""
    explained: tuple[float, str, float] | None = None
    """Threshold, what decided, and what that required, of *kin*; None where nobody asks."""
    near: Iterable[int] = ()
    """The clusters with a content that the page repeats, that of *kin* among them, or with a first copy that it is
    near."""


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
    leaves: Text | None
    """The text that the page had, if it has another one now; None of a short page."""
    takes: Text | None
    """That other one."""


#: What explains that a page has the text of one in the cluster of a page that it is not near: threshold, what
#: decided, what was required.
EQUAL_TEXT = 1.0, BASES[BY_EQUAL_TEXT], 1.0


class LocalStore(Store):
    """A :class:`~scrapy_simhash.store.base.Store` whose indexes are here, one for each scope.

    A subclass has the *ledger* of pages and contents, and writes an entry as a whole or raises StoreUnavailable. Only
    then does the index learn of it. *blocks* is for `index_for`.
    """

    damage: Damage
    #: How many fingerprints can be found. Counted, since there may be as many indexes as sites.
    index_size = 0
    #: How many clusters in other stores have the title of the page that is claimed next. Is set by who has several
    #: stores for the pages of one scope.
    titled_elsewhere = 0

    def __init__(self, header: Header, ledger: Ledger, damage: Damage, blocks: int = BLOCKS) -> None:
        super().__init__(header)
        self.damage = damage
        self._rule = header.rule
        self._rows = ledger
        self._blocks = blocks
        self._indexes: dict[str, SimhashIndex] = {}
        #: Scopes with a crowd, of which the log has told.
        self._crowded: set[str] = set()
        #: Contents that were found, and cannot be read, or their pages cannot: nobody repeats them.
        self._damaged: set[int] = set()
        #: They never change; and in a crowd it is the same ones again and again.
        self._recent: Recent[int, ContentRow] = Recent(FINGERPRINTS)
        self._look = self._rule.native
        #: How many pages are known; the numbers that the next new page and the next new content will have.
        self._size = self._page_end = self._content_end = 0

    def __len__(self) -> int:
        """Return how many pages are known. O(1)."""
        return self._size

    def claim(self, posting: Posting) -> Claim:
        """See :meth:`Store.claim <scrapy_simhash.store.base.Store.claim>`. One look-up and one insert."""
        claim, entry, values = self._decide(posting)
        self._write(entry)
        self._size += entry.former is None
        self._page_end += entry.former is None
        if entry.is_new_content:
            self._content_end += 1
            if not posting.is_short:
                index = self._index(posting.scope)
                for value in values:
                    index.add(value, entry.content)
                self._count(posting.scope, entry.found_by)
        return claim

    def _count(self, scope: str, found_by: int) -> None:
        """Count a new content; the first that its text does not find is told."""
        self.index_size += bool(found_by)
        if not found_by & BY_TEXT:
            tell_crowd(scope, self._rule.reach, self._crowded)

    def look(self, posting: Posting) -> Claim:
        """See :meth:`Store.look <scrapy_simhash.store.base.Store.look>`. One look-up."""
        return self._decide(posting)[0]

    def remove(self, key: bytes) -> bool:
        """See :meth:`Store.remove <scrapy_simhash.store.base.Store.remove>`."""
        number = self._rows.find(key)
        page = None if number is None else self._rows.page(number)
        if number is None or page is None:
            return False
        latest = self._content(page.content)
        text = None
        if page.text_hash is not None and latest is not None and not latest.is_short:
            text = Text(latest.scope, page.text_hash, page.content)
        contents = [(one, row) for one in self._rows.contents_of(number) if (row := self._content(one))]
        self._erase(number, key, [row for _, row in contents], text)
        self._size -= 1
        for content, row in contents:
            # After a failure of memory there may be contents that can be found only when the store is opened again.
            if not row.is_short:
                index = self._index(row.scope)
                values = values_by(Fingerprint.from_compared_bytes(row.compared), BY_ALL)
                self.index_size -= sum([index.discard(value, content) for value in values]) > 0
        return True

    def get(self, key: bytes) -> Page | None:
        """See :meth:`Store.get <scrapy_simhash.store.base.Store.get>`."""
        number = self._rows.find(key)
        return None if number is None else self._page(self._rows, number)

    def pages(self) -> Iterator[Page]:
        """See :meth:`Store.pages <scrapy_simhash.store.base.Store.pages>`. Read as they are asked for."""
        return (page for page, _ in self._all())

    def __iter__(self) -> Iterator[Posting]:
        """See :meth:`Store.__iter__ <scrapy_simhash.store.base.Store.__iter__>`. Read as they are asked for."""
        for page, contents_of in self._all():
            with suppress(RecordDamaged):
                yield from self._earlier(page, contents_of(page.number))
            yield page.posting

    def _all(self) -> Iterator[tuple[Page, ContentsOf]]:
        """Yield every page that is not damaged, and what tells which contents came from it."""
        with self._reading() as (rows, numbers, contents_of):
            for number in numbers:
                with suppress(RecordDamaged):
                    if page := self._page(rows, number):
                        yield page, contents_of

    def _page(self, rows: Ledger, number: int) -> Page | None:
        """Return a page, None if it was removed. Raises RecordDamaged, also for its content."""
        row = rows.page(number)
        if row is None:
            return None
        key, url, compared, text_hash, seen, content, _, _, is_settled = row
        its = self._content(content)
        if its is None:
            raise self.damage.found(f"page {number} ({shown(url)})")
        fingerprint = Fingerprint.from_compared_bytes(compared)
        posting = Posting(key, url, its.scope, fingerprint, its.is_short, text_hash, seen, is_settled)
        original = None
        if its.page != number:
            with suppress(RecordDamaged):
                first = rows.page(its.page)
                original = first and first.url
        return Page(number, posting, content, its.page, original)

    def _earlier(self, page: Page, contents: Iterable[int]) -> Iterator[Posting]:
        """Yield what *contents* of a page came with; its present one only if the page says something else now."""
        key, url, _, latest, *_, is_delivered = page.posting
        for content in contents:
            row = self._content(content)
            if row and not (content == page.content and _says_all(row, page.number, latest)):
                first = Fingerprint.from_compared_bytes(row.compared)
                yield Posting(key, url, row.scope, first, row.is_short, row.text_hash, row.seen, is_delivered)

    def _decide(self, posting: Posting) -> tuple[Claim, Entry, tuple[int, ...]]:
        """Return the answer, what is to be written, and the values by which the content is found if it is new."""
        number, former, latest, rank = self._page_end, None, None, 0
        known = self._rows.find(posting.key)
        row = None if known is None else self._rows.page(known)
        if known is not None and row is not None:
            number, rank, latest = known, row.rank, self._content(row.content)
            value = int.from_bytes(row.compared[:8], "big")
            is_short = latest is not None and latest.is_short
            former = Visit(value, row.text_hash, row.seen, row.content, row.is_settled, is_short)
        while True:
            found = self._find_equal(posting) or self._find(posting, number, former, latest)
            found_by, values, kin, is_near, is_by_learning, explained, near = found
            original = None if kin is None or kin.row.page == number else self._origin(kin)
            near_miss = None
            if not is_near:
                if original and kin and explained:
                    near_miss = NearMiss(original.url, kin.distance, kin.similarity, *explained)
                kin = original = explained = None
            if kin is None or kin.row.page == number:
                rank, joins = 0, None
                break
            if original is not None:
                is_there = former is not None and (
                    former.content == kin.content or (latest is not None and latest.page == kin.row.page)
                )
                if not is_there:
                    rank = original.joined + 1
                joins = None if is_there else kin.row.page
                break
        repeated = kin
        if kin is not None and kin.contradicts and original is not None:
            # A content of its own, so that its copies are found.
            kin, rank, joins = None, 0, None
        content = self._content_end if kin is None else kin.content
        cluster = number if kin is None else kin.row.page
        threshold, decided_by, required = explained or (None, None, None)
        # In the order of the fields: names take half a microsecond more.
        if repeated is None or original is None:
            told = (False, 0, None, is_by_learning, threshold, near_miss)
            claim = Claim(former, content, number, None, None, None, *told)
        else:
            its_hash = repeated.row.text_hash
            is_same_text = posting.is_short or (its_hash is not None and its_hash == posting.text_hash)
            claim = Claim(
                *(
                    former,
                    content,
                    cluster,
                    original.url,
                    repeated.distance,
                    repeated.similarity,
                    is_same_text,
                ),
                *(rank, original.key, is_by_learning, threshold, None, decided_by, required),
                contradicts=kin is None,
            )
        if near and (also_near := set(near).difference([claim.cluster])):
            claim = claim._replace(also_near=tuple(sorted(also_near)))
        entry = Entry(
            *(number, posting, former, content, kin is None),
            kin is not None and not _says_all(kin.row, number, posting.fingerprint),
            former is not None
            and former.is_settled
            and (former.value, former.text_hash) == (posting.fingerprint.value, posting.text_hash),
            *(rank, joins, found_by),
            *_exchanged(posting, content, former, latest),
        )
        return claim, entry, values

    def _find(self, posting: Posting, number: int, former: Visit | None, latest: ContentRow | None) -> Found:
        """Find the content that *posting* repeats: the page's own, else its cluster's, else the most alike.

        *latest* is the content that page *number* had at its *former* visit.
        """
        fingerprint, index = posting.fingerprint, self._index(posting.scope)
        if former is None and self._look is not None and fingerprint.sketch:
            return self._find_new(fingerprint, number, index, self._look)
        matches, found_by, values, is_cut = search(index, fingerprint)
        if former is not None and latest is not None and is_cut:
            its = Fingerprint.from_compared_bytes(latest.compared)
            matches = with_latest(matches, former.content, its, fingerprint, index)
        rows = [(match.key, row) for match in matches if (row := self._content(match.key))]
        clusters = [(row.page, row.compared) for _, row in rows]
        has_generic_title = is_generic(fingerprint, clusters, self.titled_elsewhere)
        near = self._rule.compare_all(fingerprint, [row.compared for _, row in rows], has_generic_title)
        kin = [
            Kin(*rows[place], distance_of(fingerprint, rows[place][1].compared), similarity, contradicts)
            for place, similarity, _, contradicts in near
            if similarity is not None
        ]
        is_by_learning = any(one.by_text is not None for one in near) != bool(kin)
        cluster = None if latest is None else latest.page
        best = min(
            kin,
            key=lambda one: (
                *(one.row.page != number, one.contradicts, not one.contradicts and one.row.page != cluster),
                *(-one.similarity, one.distance, one.content),
            ),
            default=None,
        )
        explained = None
        if self.explains:
            rows = rows if best is None else [(best.content, best.row)]
            nearest = self._rule.nearest(fingerprint, [row.compared for _, row in rows], has_generic_title)
            if nearest is not None:
                place, alike, *_ = nearest
                explained = nearest[2:]
                best = best or Kin(*rows[place], distance_of(fingerprint, rows[place][1].compared), alike)
        near_clusters = {one.row.page for one in kin}
        others = (page for page, _ in clusters if page not in near_clusters)
        first_others = list(islice(dict.fromkeys(others), MOST_CLUSTERS))
        near_clusters |= self._near_copies(fingerprint, number, first_others, has_generic_title)
        return Found(found_by, values, best, bool(kin), is_by_learning, explained, near_clusters)

    def _near_copies(
        self, fingerprint: Fingerprint, number: int, clusters: Iterable[int], has_generic_title: bool
    ) -> set[int]:
        """Return those of *clusters* with a first copy that page *number* is near."""
        if not (fingerprint.sketch and self._rule.compares_sketches):
            return set()
        copies: list[tuple[int, bytes]] = []
        for cluster in clusters:
            with suppress(RecordDamaged):
                others = [copy for copy in self._rows.first_copies(cluster) if copy != number]
                copies += [(cluster, page.compared) for copy in others if (page := self._copy(cluster, copy))]
        near = self._rule.compare_all(fingerprint, [compared for _, compared in copies], has_generic_title)
        return {copies[place][0] for place, similarity, *_ in near if similarity is not None}

    def _copy(self, cluster: int, number: int) -> PageRow | None:
        """Return a page that joined a cluster as one of the first, None if it has left it since, or is damaged."""
        with suppress(RecordDamaged):
            page = self._rows.page(number)
            if page and 0 < page.rank <= FIRST_COPIES:
                content = self._content(page.content)
                return page if content and content.page == cluster else None
        return None

    def _find_new(
        self, fingerprint: Fingerprint, number: int, index: SimhashIndex, look: SecondLook
    ) -> Found:
        """Do what _find() does for a page that is new and has a sketch, by one call of the kernel."""
        native: Any = index.core
        found_by, values, is_by_learning, chosen, others, has_generic_title = native.near(
            look,
            fingerprint.compared_bytes(),
            subject_number(fingerprint.sketch),
            *(candidates.MOST_COMPARED, candidates.MOST_NEARBY),
            *(self._recent, self._content, candidates.GENERIC - self.titled_elsewhere, self.explains),
        )
        copied = self._near_copies(fingerprint, number, others, has_generic_title) if others else set()
        if chosen is not None and (chosen[1] or chosen[4]):
            content, is_near, distance, alike, explained, near, contradicts = chosen
            if row := self._content(content):
                if explained is not None:
                    threshold, basis, required = explained
                    explained = threshold, BASES[basis], required
                kin = Kin(content, row, distance, alike, contradicts)
                return Found(found_by, values, kin, is_near, is_by_learning, explained, copied.union(near))
        return Found(found_by, values, None, False, is_by_learning, near=copied)

    def _find_equal(self, posting: Posting) -> Found | None:
        """Find the content of the pages that have the same text now; None if there is none, and others may do."""
        scope, text_hash = posting.scope, posting.text_hash
        if posting.is_short:
            content = self._short(scope, posting.fingerprint.value)
        else:
            content = None if text_hash is None else self._with_text(scope, text_hash)
        row = None if content is None else self._content(content)
        is_kin = row is not None and (row.scope, row.is_short) == (scope, posting.is_short)
        if content is None or row is None or not is_kin or not self._is_there(content, row):
            return Found(BY_TEXT, (), None, False) if posting.is_short else None
        kin, explained = Kin(content, row, 0, 1.0), EQUAL_TEXT if self.explains else None
        if posting.is_short:
            return Found(BY_TEXT, (), kin, True)
        for _, similarity, *_ in self._rule.compare_all(posting.fingerprint, [row.compared]):
            if similarity is not None:
                kin = Kin(content, row, distance_of(posting.fingerprint, row.compared), similarity)
                nearest = self._rule.nearest(posting.fingerprint, [row.compared]) if self.explains else None
                explained = nearest and nearest[2:]
        return Found(BY_TEXT, (), kin, True, explained=explained)

    def _is_there(self, content: int, row: ContentRow) -> bool:
        """Return whether the page of a content was not removed; one that cannot be read is as good as that."""
        try:
            return self._rows.page(row.page) is not None
        except RecordDamaged:
            self._damaged.add(content)
            return False

    def _content(self, number: int) -> ContentRow | None:
        """Return what is kept of a content, None if it is damaged."""
        row = self._recent.get(number)
        if row is None and number not in self._damaged:
            try:
                row = self._recent[number] = self._rows.content(number)
            except RecordDamaged:
                self._damaged.add(number)
        return row

    def _origin(self, kin: Kin) -> PageRow | None:
        """Return the page that gives its number to the cluster of *kin*; None if it is damaged, as is its content."""
        with suppress(RecordDamaged):
            if row := self._rows.page(kin.row.page):
                return row
            self.damage.note(f"page {kin.row.page} (of content {kin.content})")
        self._damaged.add(kin.content)
        self._recent.pop(kin.content, None)
        return None

    def _index(self, scope: str) -> SimhashIndex:
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = index_for(self._rule, self._blocks)
        return index

    @abstractmethod
    def _reading(self) -> AbstractContextManager[tuple[Ledger, Iterable[int], ContentsOf]]:
        """Give the ledger as it is now, the numbers of its pages, and `Ledger.contents_of`, fast for all of them."""

    @abstractmethod
    def _short(self, scope: str, value: int) -> int | None:
        """Return the number of an exact content that can be found, None if there is none."""

    @abstractmethod
    def _with_text(self, scope: str, text_hash: int) -> int | None:
        """Return the content of the pages that have a text now, None if there are none. Its page may be removed."""

    @abstractmethod
    def _write(self, entry: Entry) -> None:
        """Keep *entry*, all of it or nothing. Raises StoreUnavailable when that is not possible now."""

    @abstractmethod
    def _erase(self, number: int, key: bytes, contents: Iterable[ContentRow], text: Text | None) -> None:
        """Forget a page, which leaves *text*. The *contents* that came from it stay, and are not found any more."""


def _exchanged(
    posting: Posting, content: int, former: Visit | None, latest: ContentRow | None
) -> tuple[Text | None, Text | None]:
    """Return the text that a page leaves for that of *posting*, and this one; None for both if they are the same."""
    leaves = takes = None
    if posting.text_hash is not None and not posting.is_short:
        takes = Text(posting.scope, posting.text_hash, content)
    if former is not None and former.text_hash is not None and latest is not None and not latest.is_short:
        leaves = Text(latest.scope, former.text_hash, former.content)
    return (None, None) if leaves == takes else (leaves, takes)


def _says_all(content: ContentRow, number: int, fingerprint: Fingerprint) -> bool:
    """Return whether a content says all of the *fingerprint* of page *number* that must be kept.

    The own part of a page changes whenever more is known about its site; with its own content stays the first.
    """
    its = Fingerprint.from_compared_bytes(content.compared)
    # All but the host, their last byte.
    if (its.value, its.sketch[:-1]) != (fingerprint.value, fingerprint.sketch[:-1]):
        return False
    return content.page == number or its.own == fingerprint.own
