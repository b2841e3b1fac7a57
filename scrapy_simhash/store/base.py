"""Store: the interface of all stores.

A page has a key and takes one row. A page is either an *original*, with which other pages are compared, or a
near-duplicate of an original. The number of the original is the number of the *cluster*::

    page 0  /ferry          original 0
    page 1  /ferry?print=1  original 0
    page 2  /pilot          original 2

A small change of an original does not change its stored fingerprint, so clusters do not drift. If the new text is not
a near-duplicate of the stored one, the row is replaced and takes the next number. From then on copies of the former
text count as new, and near-duplicates of it are compared again on their next visit.

A *run* is a crawl or an import that wrote to the store, from opening to closing.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, cast

from scrapy_simhash.exceptions import StoreError, StoreUnavailable
from scrapy_simhash.notes import Name, Note
from scrapy_simhash.page.fingerprint import Fingerprint
from scrapy_simhash.scope import host_of
from scrapy_simhash.store.header import Header
from scrapy_simhash.waiting import MaybeAwaitable

logger = logging.getLogger(__name__)


class Touch(Enum):
    """How a page whose content was not read was visited. Determines which times `Store.touch` updates."""

    VISITED = "visited"
    """The server answered that the page is unchanged. This counts as a visit without a change."""
    SEEN = "seen"
    """The crawl found a link to the page and did not request it."""
    GONE = "gone"
    """The page was requested and does not exist, or a complete crawl found no link to it. This counts as a visit at
    which the page was missing. A page is gone if its last visit is later than the time at which it was last seen."""


class History(NamedTuple):
    """The visits of a page. ``Posting.seen``, the time at which the page was last seen, is stored separately."""

    first_seen: int
    """Time of the first visit, in seconds of Unix time."""
    last_visit: int
    """Time of the last visit, including visits on which the page was unchanged or gone."""
    visits: int = 1
    """Number of visits, including those on which the page was unchanged."""
    changes: int = 0
    """Number of visits with a different page hash from the visit before."""

    def joined(self, other: History) -> History:
        """Return the combination of this history and *other*."""
        return History(
            min(self.first_seen, other.first_seen),
            max(self.last_visit, other.last_visit),
            self.visits + other.visits,
            self.changes + other.changes,
        )


class Posting(NamedTuple):
    """A page to be stored."""

    key: bytes
    """Identifies the page: Scrapy's request fingerprint, not the URL."""
    url: str
    """The URL of the latest visit."""
    scope: str
    """Pages are compared only with pages of the same scope."""
    fingerprint: Fingerprint
    """The value, the sketch and the unique text of the fingerprint are stored; the number of features is not."""
    is_short: bool = False
    """Whether the page is too short for a fingerprint. Then the value is its page hash, and it matches only short
    pages with the same value."""
    page_hash: int | None = None
    """64-bit hash of title, main text, facts and the lines of the article, used to find unchanged pages and exact
    duplicates; None if unknown."""
    seen: int = 0
    """When the page was fetched, in whole seconds of Unix time."""
    is_delivered: bool = False
    """Whether an item of the page was delivered with this text before the claim, as in an import. To record a
    delivery after the claim, use :meth:`Store.deliver`."""
    text_hash: int | None = None
    """64-bit hash of title and main text alone; None if unknown. Pages with different facts may share it."""
    history: History | None = None
    """Visits in the store from which the page is imported, which are added to those in the row. None in a crawl,
    where *seen* counts as one visit."""

    @property
    def own_page_hash(self) -> int | None:
        """The page hash; for a short page, the value of its fingerprint."""
        return self.fingerprint.value if self.is_short else self.page_hash


class Row(NamedTuple):
    """The row of a page."""

    number: int
    """Counted from 0. A page takes the next number if it becomes an original, stops being one, or gets a new text
    that is not a near-duplicate of its row. Numbers are not reused."""
    posting: Posting
    """The stored values: the fingerprint with which other pages are compared, URL, hashes and time of the last visit,
    and ``history`` if the store keeps visits."""
    cluster: int
    """Number of the original, or of the page itself."""
    original: str | None = None
    """URL of the original; None if the page is an original, or if its original was removed or has a different text
    now. The URL may be missing in the former row of a ``Claim``."""
    delivered: int | None = None
    """Number of the run that last delivered an item of the page; None if no item was delivered with this text. In the
    former row of a ``Claim``, the run of the claim is also None: a page that is requested twice in one crawl is
    delivered twice, because the two requests may have different callbacks."""
    rank: int | None = None
    """See ``Claim``. None from a store that does not count copies."""
    joined: int = 0
    """Number of pages that have ever joined the cluster of this original."""
    found_by: int = 0
    """Flags of the values by which other pages find the page, see ``candidates``; 0 if the page is not indexed."""

    @property
    def is_original(self) -> bool:
        """Whether other pages are compared with this page."""
        return self.cluster == self.number

    @property
    def is_gone(self) -> bool:
        """Whether the page was gone at the last visit, see `Touch`."""
        history = self.posting.history
        return history is not None and history.last_visit > self.posting.seen

    def is_unchanged(self, posting: Posting) -> bool:
        """Return whether *posting* has the page hash of the last visit, or the same value if that hash is unknown."""
        page_hash = posting.own_page_hash
        return page_hash == self.posting.own_page_hash and (
            page_hash is not None or self.posting.fingerprint.value == posting.fingerprint.value
        )


class Original(NamedTuple):
    """The columns of an original that claims compare and return; the C extension reads two of them."""

    number: int
    key: bytes
    url: str
    compared: bytes
    """`Fingerprint.compared_bytes` of the row."""
    page_hash: int | None = None
    joined: int = 0
    """Number of pages that have ever joined the cluster."""
    found_by: int = 0
    """Flags of the values by which the original is indexed."""
    version: int = 0
    """Changes with every visit, in a store with several writers."""


class Claim(NamedTuple):
    """The result of a claim: the former row of the page, and the original."""

    former: Row | None
    """The row before the claim; None at the first visit of a page."""
    cluster: int
    """Number of the original, or of the page itself if it is an original."""
    original: str | None
    """URL of the original, None when it is the page itself."""
    distance: int | None
    """Number of bits in which the nearest values of page and original differ; None when it is the page itself."""
    similarity: float | None
    """Similarity of the two pages by the rule, 0-1; None when it is the page itself."""
    is_same_text: bool = False
    """Whether the original has the same text, character for character: the page hashes are known and equal. Always
    True for a copy of a short page; False when the page is the original itself."""
    rank: int | None = None
    """Number of pages that joined the cluster before this one: 0 for the original, then 1, 2, and so on. A page keeps
    its rank while it stays in the cluster and gets a new one if it returns; ranks are not reused. None from a store
    that counts no copies."""
    original_key: bytes | None = None
    """Key of the page in *original*; None when it is the page itself, or from a store that does not return it."""
    is_by_learning: bool = False
    """Whether comparing all text instead of the unique text would change the result: from near-duplicate to new, or
    from new to near-duplicate. False from a store that does not return it."""
    also_near: tuple[int, ...] = ()
    """Numbers of other clusters that the page is near: originals among the candidates, and originals with a first
    copy near the page (see ``candidates``). Empty if the text was known. These clusters and that of the page form one
    group. They affect neither the choice of the original nor the action."""
    contradicts: bool = False
    """Whether the facts of the page contradict those of the page in *original*. Such a page is an original, with its
    number in *cluster*, so that its copies are found. Always False if another page has the same text."""
    nearest: Original | None = None
    """The page that explains the result: the original, or for a new page the most similar candidate. None if nothing
    was compared, or from a store that does not return it."""
    is_generic: bool = False
    """Whether the title of the page is generic, see ``candidates``."""


class Run(NamedTuple):
    """A crawl or an import that wrote to the store."""

    number: int
    """Counted from 1."""
    started: int
    """Seconds of Unix time."""
    ended: int | None
    """None while the run is active, and permanently if it was killed."""
    reason: str | None
    """Scrapy's reason for the end of the run: ``finished``, ``shutdown``, ``closespider_pagecount``, ..."""


class Store(ABC):
    """Stores pages, and finds the page of which a new page is a near-duplicate.

    Every method returns its result, or an awaitable if `is_remote` is true. On failure a method raises
    StoreUnavailable and stores nothing; the caller continues without a result and may retry later. RecordDamaged is
    raised if a retry is useless because a record cannot be read. Use a store from one thread at a time.

    A subclass is created with its header, and implements `claim`, `get`, `close`, ``__len__``, and ``__iter__``
    (``__aiter__`` if it is remote). Iteration yields the posting of every page in the order of their numbers;
    claiming them in this order recreates the store. The store must not change during iteration. Every other method
    has a default, which its docstring describes.
    """

    #: Whether the store is remote. Then methods may return awaitables, any number of claims may wait concurrently,
    #: and other crawlers may use the store at the same time. The server looks up and inserts in one step, so of two
    #: near-duplicates that are claimed concurrently, only one is new. Without a reply, StoreUnavailable is raised
    #: although the claim may have been stored; a retry may then return a revisit.
    is_remote = False
    #: Kinds of notes that outlive the crawl. For other kinds `note` returns no data and `replace_notes` stores
    #: nothing.
    note_kinds: Collection[str] = ()
    #: Whether the stored pages are lost when the process ends.
    is_memory = False

    def __init__(self, header: Header | None) -> None:
        self._header = header
        self._damaged: set[str] = set()

    @property
    def header(self) -> Header:
        """The settings with which fingerprints are made and compared. Raises StoreError while they are unknown."""
        if self._header is None:
            raise StoreError(f"{self} has no header before the first reply of the server")
        return self._header

    def __str__(self) -> str:
        """Return the location of the store for messages."""
        return f"the store of class {type(self).__name__}"

    @property
    def absence(self) -> StoreError | None:
        """The error of the last attempt to reach the store; None if it is available."""
        return None

    @property
    def index_size(self) -> int:
        """Number of searchable fingerprints (originals that are not short), or of pages if these are not counted."""
        return len(self)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of known pages; for a remote store, the number at the last reply."""

    @abstractmethod
    def claim(self, posting: Posting) -> MaybeAwaitable[Claim]:
        """Look up *posting* and store it, atomically.

        A near-duplicate of an original, by the rule of the header, joins its cluster and does not become an original.
        So clusters do not drift along chains A ~ B ~ C. An original with an equal text is preferred. Otherwise,
        originals are preferred in this order: the page itself, those that the page does not contradict, its former
        original, the most similar, the nearest in Hamming distance, and the oldest.
        """

    def look(self, posting: Posting) -> MaybeAwaitable[Claim]:
        """Return the result of ``claim`` without storing anything; a new page has the number of the next new page.

        Raises StoreUnavailable if the store does not support this; then commands such as ``scrapy shell`` compare
        nothing.
        """
        raise StoreUnavailable(f"{self} cannot compare a page without storing it")

    def deliver(self, pages: Mapping[bytes, int | None]) -> MaybeAwaitable[None]:
        """Record that items of *pages*, a mapping of keys to page hashes at that time, were delivered in this run.

        Atomic, so call it once for many pages. After a claim with a different text, the page no longer counts as
        delivered.

        Unknown pages, and pages whose text has changed since, are skipped. A store may ignore the call; then no page
        is dropped because of an earlier delivery.
        """
        return None

    def touch(
        self, visits: Collection[tuple[bytes, int]], touch: Touch = Touch.VISITED
    ) -> MaybeAwaitable[None]:
        """Store the times of *visits* to pages that were not read, pairs of key and seconds of Unix time. Atomic.

        Unknown pages are skipped. A Redis Cluster stores nothing.
        """
        return None

    @abstractmethod
    def get(self, key: bytes) -> MaybeAwaitable[Row | None]:
        """Return the row of a page; None if the page is unknown."""

    def remove(self, key: bytes) -> MaybeAwaitable[bool]:
        """Remove a page and its notes, and return whether it was known.

        Its near-duplicates stay in the store without an original, and are compared again on their next visit. Numbers
        are not reused.

        Raises StoreError from a store that cannot remove pages.
        """
        raise StoreError(f"{self} cannot remove pages")

    def remove_host(self, host: str) -> MaybeAwaitable[int]:
        """Remove the pages whose URL has this *host*, in lower case, as `remove` does; return their number.

        The boilerplate model of the host stays in the store. Not atomic: if a step fails, earlier pages stay removed.
        O(pages).

        Raises StoreError from a store that cannot remove pages.
        """
        pages = cast("Iterable[Posting]", self)
        keys = [posting.key for posting in pages if host_of(posting.url) == host]
        return sum(bool(self.remove(key)) for key in keys)

    def note_damage(self, record: str) -> None:
        """Count a damaged *record*, and log the first one. Text in brackets is not part of the name of a record."""
        if not self._damaged:
            logger.warning("%s", self.damage(record))
        self._damaged.add(record.partition(" (")[0])

    def damage(self, record: str) -> str:
        """Return the message about a damaged *record*."""
        return (
            f"{self} is damaged: {record}. Pages whose records cannot be read have the status unknown and are never"
            " dropped"
        )

    @property
    def damaged_records(self) -> list[str]:
        """Names of the damaged records that were found."""
        return sorted(self._damaged)

    def pages(self) -> Iterator[Row] | AsyncIterator[Row]:
        """Yield every page in the order of their numbers."""
        keys = dict.fromkeys(posting.key for posting in cast("Iterable[Posting]", self))
        return (page for page in map(self.get, keys) if isinstance(page, Row))

    def runs(self) -> MaybeAwaitable[list[Run]]:
        """Return the runs, oldest first, including the current one; empty if the store does not keep them."""
        return []

    def note(self, kind: str, name: Name) -> MaybeAwaitable[tuple[int, bytes | None]]:
        """See :meth:`Notes.note <scrapy_simhash.notes.Notes.note>`."""
        return 0, None

    def notes(self, kind: str) -> Iterator[tuple[Name, bytes]] | AsyncIterator[tuple[Name, bytes]]:
        """See :meth:`Notes.notes <scrapy_simhash.notes.Notes.notes>`."""
        return iter(())

    def replace_notes(self, kind: str, notes: Sequence[Note]) -> MaybeAwaitable[list[int | None]]:
        """See :meth:`Notes.replace_notes <scrapy_simhash.notes.Notes.replace_notes>`."""
        return [1] * len(notes)

    @abstractmethod
    def close(self, reason: str = "finished") -> MaybeAwaitable[None]:
        """End the run and release all resources. Closing again does nothing."""
